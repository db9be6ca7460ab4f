//! FSST: every instruction set decodes as the definition says, and touches nothing beyond its slices.

mod common;

use common::{Random, rounds, with_each_isa};
use lancet_kernels::fsst::Symbols;

/// A table of `n` symbols of 1 to `longest` bytes, as it is stored.
fn table(random: &mut Random, n: usize, longest: usize) -> Vec<u8> {
    let mut table = vec![n as u8, 0, 0, 1, 0x54, 0x53, 0x53, 0x46];
    table.extend((0..n).flat_map(|_| random.word().to_le_bytes()));
    table.extend((0..n).map(|_| 1 + random.below(longest) as u8));
    table.resize(2312, 0);
    table
}

/// The definition: one code after the other.
fn decoded(table: &[u8], codes: &[u8]) -> Option<Vec<u8>> {
    let n = table[0] as usize;
    let (mut text, mut codes) = (Vec::new(), codes.iter());
    while let Some(&code) = codes.next() {
        match code as usize {
            255 => text.push(*codes.next()?),
            code if code < n => {
                let length = table[8 + 8 * n + code] as usize;
                text.extend(&table[8 + 8 * code..][..length]);
            }
            _ => return None,
        }
    }
    Some(text)
}

/// Codes, most of which have a symbol and a few of which are escapes.
fn codes(random: &mut Random, n: usize, count: usize, escapes: usize) -> Vec<u8> {
    (0..count)
        .map(|_| match random.below(100) {
            draw if draw < escapes || n == 0 => 255,
            _ => random.below(n) as u8,
        })
        .collect()
}

#[test]
fn as_the_definition() {
    with_each_isa(|isa| {
        let mut random = Random(41);
        for (n, longest) in [(0, 1), (1, 1), (30, 2), (255, 2), (200, 3), (255, 8)] {
            let table = table(&mut random, n, longest);
            let symbols = Symbols::parse(&table).unwrap();
            for round in 0..rounds(300) {
                let count = random.below(if round % 10 == 0 { 3000 } else { 200 });
                let codes = codes(&mut random, n, count, [0, 3, 60][round % 3]);
                let expected = decoded(&table, &codes);
                let room = expected.as_ref().map_or(8 * count, Vec::len) + random.below(100);
                let mut out = vec![0; room];
                let found = symbols.decode_into(&codes, &mut out).map(|len| &out[..len]);
                assert_eq!(found, expected.as_deref(), "{isa:?}, {n} symbols up to {longest}, {codes:?}");
                if let Some(expected) = expected {
                    assert!(symbols.most_decoded(&codes) >= expected.len());
                }
            }
        }
    });
}

/// Nothing beyond either end of the codes is read, nothing beyond either end of the room is written.
#[cfg(all(unix, not(miri)))]
#[test]
fn guarded() {
    use common::guarded::Pages;
    with_each_isa(|isa| {
        let mut random = Random(42);
        let [mut code_pages, mut out_pages] = [(); 2].map(|()| Pages::new(1 << 15));
        for (n, longest) in [(255, 2), (255, 8)] {
            let table = table(&mut random, n, longest);
            let symbols = Symbols::parse(&table).unwrap();
            for count in (0..200).chain([511, 512, 513, 1300]) {
                let codes = codes(&mut random, n, count, 3);
                let Some(expected) = decoded(&table, &codes) else { continue };
                for at_end in [false, true] {
                    let zeros = vec![0; expected.len()];
                    let (codes, out) = match at_end {
                        true => (code_pages.at_end(&codes), out_pages.at_end(&zeros)),
                        false => (code_pages.at_start(&codes), out_pages.at_start(&zeros)),
                    };
                    assert!(symbols.most_decoded(codes) >= expected.len());
                    assert_eq!(symbols.decode_into(codes, out), Some(expected.len()), "{isa:?}, {count}");
                    assert_eq!(out, expected);
                }
            }
        }
    });
}
