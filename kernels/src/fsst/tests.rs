//! Against the definition, with every way to decode that this machine has.

use super::*;
use crate::random::{Random, rounds};
use std::{vec, vec::Vec};

fn table(symbols: &[&[u8]]) -> Vec<u8> {
    let mut table = vec![symbols.len() as u8, 0, 0, 1];
    table.extend(MAGIC);
    for symbol in symbols {
        table.extend(*symbol);
        table.resize(table.len() + 8 - symbol.len(), 0);
    }
    table.extend(symbols.iter().map(|symbol| symbol.len() as u8));
    table.resize(TABLE_LEN, 0);
    table
}

fn decode(symbols: &Symbols, codes: &[u8]) -> Option<Vec<u8>> {
    let mut out = vec![0; symbols.decoded_len(codes)?];
    assert_eq!(symbols.decode_into(codes, &mut out), Some(out.len()));
    let escapes = codes.contains(&ESCAPE);
    assert!(symbols.most_decoded(codes) >= out.len());
    assert!(escapes || symbols.most_decoded(codes) == out.len());
    let (mut ends, middle) = (vec![], codes.len() / 2);
    let middle = middle + usize::from(symbols.decoded_len(&codes[..middle]).is_none());
    let mut texts = vec![0; out.len()];
    let code_ends = [middle, middle, codes.len()];
    let total = symbols.decode_texts(codes, code_ends.into_iter(), &mut texts, |end| ends.push(end));
    assert_eq!((total, &texts), (Some(out.len()), &out));
    let first = symbols.decoded_len(&codes[..middle]).unwrap();
    assert_eq!(ends, [first, first, out.len()]);
    Some(out)
}

#[test]
fn symbols_and_literals() {
    let symbols = Symbols::parse(&table(&[b"http://", b"a", b"8 bytes."])).unwrap();
    assert!(symbols.is_compressed());
    assert_eq!(decode(&symbols, &[]).unwrap(), b"");
    assert_eq!(decode(&symbols, &[0, 1, 255, b'x', 255, 255, 2, 1]).unwrap(), b"http://ax\xff8 bytes.a");
}

#[test]
fn invalid_codes() {
    let symbols = Symbols::parse(&table(&[b"a", b"bc"])).unwrap();
    for codes in [&[2u8][..], &[0, 254], &[255], &[0, 255], &[255, 255, 255]] {
        assert_eq!(symbols.decoded_len(codes), None, "{codes:?}");
        assert_eq!(symbols.decode_into(codes, &mut [0; 32]), None, "{codes:?}");
    }
}

#[test]
fn strings_that_end_in_an_escape() {
    let symbols = Symbols::parse(&table(&[b"a", b"bc"])).unwrap();
    let codes = [0, 255, b'x', 1, 0, 0];
    let texts = |ends: &[usize]| symbols.decode_texts(&codes, ends.iter().copied(), &mut [0; 64], |_| ());
    assert_eq!(texts(&[1, 3, 6]), Some(6));
    assert_eq!(texts(&[0, 2, 6]), None);
}

#[test]
fn strings_that_do_not_fit() {
    let symbols = Symbols::parse(&table(&[b"a", b"seven b"])).unwrap();
    let codes = [1, 0, 255, b'x', 1];
    for room in 0..16 {
        assert_eq!(symbols.decode_into(&codes, &mut vec![0; room]), None);
    }
    for room in 16..32 {
        let mut out = vec![0; room];
        assert_eq!(symbols.decode_into(&codes, &mut out), Some(16));
        assert_eq!(&out[..16], b"seven baxseven b");
    }
}

#[test]
fn uncoded_strings_pass_through() {
    let mut off = table(&[b"ab"]);
    off[3] = 0;
    let symbols = Symbols::parse(&off).unwrap();
    assert!(!symbols.is_compressed());
    assert_eq!(decode(&symbols, &[0, 7, 255]).unwrap(), [0, 7, 255]);
    assert_eq!(symbols.decode_into(&[1, 2], &mut [0]), None);
}

/// A table of `n` symbols of at most `longest` bytes, and what they stand for.
fn drawn_table(random: &mut Random, n: usize, longest: usize) -> (Symbols, Vec<Vec<u8>>) {
    let mut symbol = || {
        let len = 1 + random.below(longest);
        random.bytes(len)
    };
    let texts: Vec<Vec<u8>> = (0..n).map(|_| symbol()).collect();
    let all: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    (Symbols::parse(&table(&all)).unwrap(), texts)
}

#[test]
fn full_tables_against_the_definition() {
    let mut random = Random(6);
    for (n, longest) in [(0, 8), (1, 8), (17, 2), (17, 8), (254, 2), (254, 3), (255, 1), (255, 2), (255, 8)] {
        let (symbols, texts) = drawn_table(&mut random, n, longest);
        for round in 0..rounds(200) {
            let (mut codes, mut text, mut code_ends, mut ends) = (vec![], vec![], vec![], vec![]);
            for _ in 0..random.below(if round % 8 == 0 { 4000 } else { 50 }) {
                let code = random.below(n + 1);
                if code < n {
                    codes.push(code as u8);
                    text.extend(&texts[code]);
                } else {
                    let byte = [random.word() as u8, ESCAPE][random.below(2)];
                    codes.extend([ESCAPE, byte]);
                    text.push(byte);
                }
                // Some texts are empty.
                for _ in 0..random.below(9).saturating_sub(6) {
                    code_ends.push(codes.len());
                    ends.push(text.len());
                }
            }
            code_ends.push(codes.len());
            ends.push(text.len());
            assert_eq!(decode(&symbols, &codes).unwrap(), text);
            let (mut out, mut found) = (vec![0; text.len() + random.below(100)], vec![]);
            let total = symbols.decode_texts(&codes, code_ends.into_iter(), &mut out, |end| found.push(end));
            assert_eq!((total, &out[..text.len()]), (Some(text.len()), &text[..]));
            assert_eq!(found, ends);
        }
    }
}

/// Blocks of any codes, also invalid ones and without room, with and without AVX-512, which has two ways for short
/// symbols.
#[test]
#[cfg(target_arch = "x86_64")]
fn every_way_is_the_same() {
    let mut random = Random(8);
    for (n, longest) in [(0, 8), (1, 2), (100, 2), (100, 8), (254, 2), (254, 3), (255, 1), (255, 2), (255, 8)]
    {
        let (symbols, _) = drawn_table(&mut random, n, longest);
        assert_eq!(symbols.pairs.is_some(), symbols.squeeze.is_some() && (n == 0 || longest < 3));
        let without_pairs = Symbols { pairs: None, ..symbols.clone() };
        let portably = Symbols { squeeze: None, ..symbols.clone() };
        for round in 0..rounds(600) {
            let count = 1 + random.below(Block::CODES);
            let mut codes = random.bytes(count);
            if n > 0 && round % 3 > 0 {
                codes.iter_mut().for_each(|code| *code %= n as u8);
                (0..round % 5).for_each(|_| codes[random.below(count)] = ESCAPE);
            }
            let room = random.below(codes.len() * (longest + 1));
            let inside = random.below(2) == 1;
            let run = |symbols: &Symbols| {
                let (mut block, mut out) = (Block::new(), vec![0; room]);
                block.inside = inside;
                let len = block.decode(symbols, &codes, &mut out)?;
                out.truncate(len);
                let (starts, places) = (&block.starts[..=codes.len()], &block.places[..=codes.len() / 8]);
                Some((out, starts.to_vec(), places.to_vec(), block.inside))
            };
            let expected = run(&portably);
            assert_eq!(run(&symbols), expected);
            assert_eq!(run(&without_pairs), expected);
        }
    }
}

#[test]
fn invalid_tables() {
    let valid = table(&[b"a", b"bc"]);
    assert!(Symbols::parse(&valid).is_ok());
    assert!(Symbols::parse(&valid[1..]).is_err());
    assert!(Symbols::parse(&[&valid[..], &[0]].concat()).is_err());
    // The magic, then the length of the second symbol.
    for (at, byte) in [(4, 0), (7, 0x54), (8 + 16 + 1, 0), (8 + 16 + 1, 9), (0, 3)] {
        let mut table = valid.clone();
        table[at] = byte;
        assert!(Symbols::parse(&table).is_err(), "byte {at} = {byte}");
    }
}
