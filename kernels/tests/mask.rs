//! Masks, with every instruction set, against sets of booleans.

mod common;

use common::{Random, some, with_each_isa};
use lancet_kernels::mask::{self, kleene};

/// Rows with long runs and short ones, few ones and many.
fn rows(random: &mut Random, len: usize) -> Vec<bool> {
    let density = random.below(5);
    let mut run = 0;
    let mut value = false;
    (0..len)
        .map(|_| {
            if run == 0 {
                run = 1 + random.below([1, 2, 10, 70, 300][density]);
                value = random.below(3) == 0;
            }
            run -= 1;
            value
        })
        .collect()
}

fn words(rows: &[bool]) -> Vec<u64> {
    rows.chunks(64)
        .map(|rows| rows.iter().enumerate().fold(0, |word, (i, &bit)| word | u64::from(bit) << i))
        .collect()
}

fn each_length(test: impl Fn(&mut Random, usize)) {
    with_each_isa(|_| {
        let mut random = Random(1);
        for len in some((0..=200).chain([511, 512, 513, 1000, 5000])) {
            test(&mut random, len);
        }
    });
}

#[test]
fn combinations() {
    each_length(|random, len| {
        let (a, b) = (rows(random, len), rows(random, len));
        let of = |op: &dyn Fn(bool, bool) -> bool| {
            words(&a.iter().zip(&b).map(|(&a, &b)| op(a, b)).collect::<Vec<_>>())
        };
        let after = |change: &dyn Fn(&mut [u64], &[u64])| {
            let mut got = words(&a);
            change(&mut got, &words(&b));
            got
        };
        assert_eq!(after(&mask::and), of(&|a, b| a && b));
        assert_eq!(after(&mask::or), of(&|a, b| a || b));
        assert_eq!(after(&mask::and_not), of(&|a, b| a && !b));
        assert_eq!(after(&mask::xor), of(&|a, b| a != b));
        assert_eq!(after(&|mask, _| mask::not(mask, len)), of(&|a, _| !a));
        assert_eq!(after(&|mask, _| mask::fill(mask, len, true)), of(&|_, _| true));
        assert_eq!(after(&|mask, _| mask::fill(mask, len, false)), of(&|_, _| false));
    });
}

#[test]
fn counts_and_rows() {
    each_length(|random, len| {
        let rows = rows(random, len);
        let words = words(&rows);
        let set: Vec<usize> = (0..len).filter(|&i| rows[i]).collect();
        assert_eq!(mask::count(&words), set.len());
        assert_eq!(mask::any(&words), !set.is_empty());
        assert_eq!(mask::all(&words, len), set.len() == len);
        assert!(mask::ones(&words).eq(set.iter().copied()));
        assert!(mask::runs(&words).flatten().eq(set.iter().copied()));
        let starts = (0..len).filter(|&i| rows[i] && (i == 0 || !rows[i - 1]));
        assert!(mask::runs(&words).map(|run| run.start).eq(starts));

        let mut positions = vec![7];
        mask::positions(&words, 1000, &mut positions);
        assert_eq!(positions[0], 7);
        assert!(positions[1..].iter().map(|&at| at as usize).eq(set.iter().map(|&row| row + 1000)));
    });
}

#[test]
fn positions_up_to_the_last_number() {
    with_each_isa(|_| {
        let mut out = Vec::new();
        mask::positions(&[1 << 63, 1, 0], u32::MAX - 64, &mut out);
        assert_eq!(out, [u32::MAX - 1, u32::MAX]);
    });
}

#[test]
#[should_panic(expected = "rows beyond 32 bits")]
fn positions_beyond_32_bits() {
    mask::positions(&[0b11], u32::MAX, &mut Vec::new());
}

/// Inputs that are drawn, and made plainer where they fail; too many for Miri.
#[cfg(not(miri))]
mod drawn {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    proptest! {
        #[test]
        fn any_words(words in vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], 0..50)) {
            let rows: Vec<usize> = (0..words.len() * 64).filter(|&i| words[i / 64] >> (i % 64) & 1 == 1).collect();
            with_each_isa(|_| {
                let mut positions = Vec::new();
                mask::positions(&words, 0, &mut positions);
                assert!(positions.iter().map(|&row| row as usize).eq(rows.iter().copied()));
                assert_eq!(mask::count(&words), rows.len());
                assert!(mask::runs(&words).flatten().eq(rows.iter().copied()));
            });
        }
    }
}

#[test]
fn all_ones() {
    each_length(|_, len| {
        let mut words = vec![0; len.div_ceil(64)];
        mask::fill(&mut words, len, true);
        assert!(mask::all(&words, len) && mask::any(&words) == (len > 0) && mask::count(&words) == len);
        assert!(mask::runs(&words).eq((len > 0).then_some(0..len)));
        if let Some(word) = words.last_mut() {
            *word &= *word - 1;
            assert!(!mask::all(&words, len));
        }
    });
}

#[test]
fn bit_sets_in_and_out() {
    each_length(|random, len| {
        let rows = rows(random, len);
        let start = random.below(20);
        let bytes: Vec<u8> = (0..(start + len).div_ceil(8) + 1).map(|_| random.word() as u8).collect();
        let bit = |bytes: &[u8], i: usize| bytes[i / 8] >> (i % 8) & 1 == 1;

        let mut stored = bytes.clone();
        mask::store(&words(&rows), len, &mut stored, start);
        for i in 0..bytes.len() * 8 {
            let inside = (start..start + len).contains(&i);
            assert_eq!(bit(&stored, i), if inside { rows[i - start] } else { bit(&bytes, i) });
        }
        let mut loaded = vec![!0; len.div_ceil(64)];
        mask::load(&mut loaded, len, &stored, start);
        assert_eq!(loaded, words(&rows));
    });
}

#[test]
fn three_values() {
    const ALL: [Option<bool>; 3] = [Some(true), Some(false), None];
    let pairs: Vec<_> = ALL.into_iter().flat_map(|a| ALL.map(|b| (a, b))).collect();
    let value = |pick: &dyn Fn(usize) -> Option<bool>| {
        words(&(0..9).map(|i| pick(i).unwrap_or(false)).collect::<Vec<_>>())
    };
    let known =
        |pick: &dyn Fn(usize) -> Option<bool>| words(&(0..9).map(|i| pick(i).is_some()).collect::<Vec<_>>());
    let (a, b) = (|i: usize| pairs[i].0, |i: usize| pairs[i].1);

    let and = |i: usize| match pairs[i] {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    };
    let or = |i: usize| match pairs[i] {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    };
    let (mut got, mut got_known) = (value(&a), known(&a));
    kleene::and(&mut got, &mut got_known, &value(&b), &known(&b));
    assert_eq!((got, got_known), (value(&and), known(&and)));

    let (mut got, mut got_known) = (value(&a), known(&a));
    kleene::or(&mut got, &mut got_known, &value(&b), &known(&b));
    assert_eq!((got, got_known), (value(&or), known(&or)));

    let mut got = value(&a);
    kleene::not(&mut got, &known(&a));
    assert_eq!(got, value(&|i| a(i).map(|a| !a)));

    let mut got = vec![0b1_1111_1111];
    kleene::hide_unknown(&mut got, &known(&a));
    assert_eq!(got, known(&a));
}

#[test]
#[should_panic(expected = "words of two masks")]
fn masks_of_two_lengths() {
    mask::and(&mut [0, 0], &[0]);
}

#[test]
fn bits_by_their_positions() {
    each_length(|random, len| {
        let bits = rows(random, len);
        for count in [0usize, 1, 7, 8, 9, 63, 64, 65, 200] {
            let end = words(&bits).len() * 64 + 10;
            let positions: Vec<u64> = (0..count)
                .map(|_| match random.below(20) {
                    0 => random.pick(&[u64::MAX, 1 << 63, 1 << 38, (1 << 38) - 1]),
                    _ => random.below(end) as u64,
                })
                .collect();
            let bit = |&position: &u64| position < len as u64 && bits[position as usize];
            let mut out = vec![!0; count.div_ceil(64)];
            mask::gather(&words(&bits), &positions, &mut out);
            assert_eq!(out, words(&positions.iter().map(bit).collect::<Vec<_>>()), "{positions:?} of {len}");
        }
    });
}
