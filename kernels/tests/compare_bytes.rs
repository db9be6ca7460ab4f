//! Comparisons of texts and binaries into masks, with every instruction set, against slices' own order.

mod common;

use common::{Random, some, with_each_isa};
use lancet_kernels::compare::{
    Op,
    bytes::{self, Fixed, Rows, Variable},
};

const LITERALS: [&[u8]; 9] =
    [b"", b"a", b"ab", b"abcdefg", b"abcdefgh", b"abcdefghi", b"abcdefghijklmnopq", b"abcdefgh\xff", b"\0"];

/// Texts of which many are a literal, its start, more than it, or differ from it in one byte.
fn texts(random: &mut Random, rows: usize) -> Vec<Vec<u8>> {
    (0..rows)
        .map(|_| {
            let mut text = random.pick(&LITERALS).to_vec();
            match random.below(4) {
                0 => text.truncate(random.below(text.len() + 1)),
                1 => text.extend((0..random.below(20)).map(|_| random_byte(random))),
                2 if !text.is_empty() => {
                    let at = random.below(text.len());
                    text[at] = random_byte(random);
                }
                _ => {}
            }
            text
        })
        .collect()
}

fn random_byte(random: &mut Random) -> u8 {
    random.pick(&[0, b'a', b'b', b'z', 0x80, 0xff])
}

/// Offsets and bytes; there are bytes before the first row and after the last one.
fn columns<O: TryFrom<usize, Error: std::fmt::Debug>>(rows: &[Vec<u8>]) -> (Vec<O>, Vec<u8>) {
    let mut bytes = b"before".to_vec();
    let mut offsets = vec![O::try_from(bytes.len()).unwrap()];
    for row in rows {
        bytes.extend(row);
        offsets.push(O::try_from(bytes.len()).unwrap());
    }
    bytes.extend(b"z");
    (offsets, bytes)
}

fn check(rows: impl Rows, right: impl Rows, plain: &[Vec<u8>], plain_right: &[Vec<u8>], literal: &[u8]) {
    let expected = |holds: &dyn Fn(usize) -> bool| {
        let mut mask = vec![0u64; plain.len().div_ceil(64)];
        (0..plain.len()).filter(|&i| holds(i)).for_each(|i| mask[i / 64] |= 1 << (i % 64));
        mask
    };
    assert_eq!(rows.rows(), plain.len());
    let mut got = vec![!0; plain.len().div_ceil(64)];
    for op in Op::ALL {
        bytes::literal(op, rows, literal, &mut got);
        assert_eq!(got, expected(&|i| op.holds(plain[i].as_slice().cmp(literal))), "{op:?} {literal:?}");
        bytes::columns(op, rows, right, &mut got);
        assert_eq!(got, expected(&|i| op.holds(plain[i].cmp(&plain_right[i]))), "{op:?}");
    }
    bytes::starts_with(rows, literal, &mut got);
    assert_eq!(got, expected(&|i| plain[i].starts_with(literal)), "{literal:?}");
    rows.of_length(2..=8, &mut got);
    assert_eq!(got, expected(&|i| (2..=8).contains(&plain[i].len())));
}

#[test]
fn rows_of_any_length() {
    with_each_isa(|_| {
        let mut random = Random(1);
        for rows in some((0..=130).chain([511, 512, 513, 1200])) {
            let (left, right) = (texts(&mut random, rows), texts(&mut random, rows));
            let (offsets, bytes) = columns::<i32>(&left);
            let (large_offsets, large_bytes) = columns::<i64>(&right);
            let literal = random.pick(&LITERALS);
            let small = Variable { offsets: &offsets, bytes: &bytes };
            let large = Variable { offsets: &large_offsets, bytes: &large_bytes };
            check(small, large, &left, &right, literal);
            check(large, small, &right, &left, literal);
        }
    });
}

#[test]
fn rows_of_one_length() {
    with_each_isa(|_| {
        let mut random = Random(2);
        for width in [1, 2, 7, 8, 9, 16, 17, 40] {
            for rows in some([0, 1, 63, 64, 65, 200]) {
                let mut draw = || -> Vec<Vec<u8>> {
                    let mut rows = texts(&mut random, rows);
                    rows.iter_mut().for_each(|row| row.resize(width, b'a'));
                    rows
                };
                let (left, right) = (draw(), draw());
                let (left_bytes, right_bytes) = (left.concat(), right.concat());
                let rows = Fixed { width, bytes: &left_bytes };
                for literal in LITERALS.into_iter().step_by(if cfg!(miri) { 4 } else { 1 }) {
                    check(rows, Fixed { width, bytes: &right_bytes }, &left, &right, literal);
                }
                if let Some(row) = left.last() {
                    check(rows, Fixed { width, bytes: &right_bytes }, &left, &right, row);
                }
            }
        }
    });
}

/// Nothing beyond either end of the offsets or the bytes is read.
#[cfg(all(unix, not(miri)))]
#[test]
fn guarded() {
    use common::guarded::Pages;
    with_each_isa(|_| {
        let mut random = Random(3);
        let [mut offset_pages, mut byte_pages] = [(); 2].map(|()| Pages::new(1 << 13));
        for rows in 0..=130 {
            let texts = texts(&mut random, rows);
            let bytes = texts.concat();
            let ends = texts.iter().scan(0, |end, text| {
                *end += text.len() as i32;
                Some(*end)
            });
            let offsets: Vec<i32> = [0].into_iter().chain(ends).collect();
            for at_end in [false, true] {
                let (offsets, bytes) = if at_end {
                    (offset_pages.at_end(&offsets), byte_pages.at_end(&bytes))
                } else {
                    (offset_pages.at_start(&offsets), byte_pages.at_start(&bytes))
                };
                let rows = Variable { offsets, bytes };
                for literal in LITERALS {
                    check(rows, rows, &texts, &texts, literal);
                }
            }
        }
    });
}

#[test]
fn no_offsets_are_no_rows() {
    let rows: Variable<i32> = Variable { offsets: &[], bytes: b"abc" };
    bytes::literal(Op::Eq, rows, b"", &mut []);
    assert_eq!(rows.rows(), 0);
}

#[test]
#[should_panic]
fn offsets_past_the_bytes() {
    bytes::literal(Op::Eq, Variable { offsets: &[0, 4], bytes: b"abc" }, b"abcd", &mut [0]);
}

#[test]
#[should_panic]
fn falling_offsets() {
    bytes::literal(Op::Lt, Variable { offsets: &[0i64, 3, 2], bytes: b"abc" }, b"abcd", &mut [0]);
}
