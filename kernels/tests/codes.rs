//! Scans of product codes: against the plain sums, with every instruction set, and without a read outside.

mod common;

use common::{Random, rounds, some, with_each_isa};
use lancet_kernels::codes::{
    Candidates,
    product::{Codewords, Layout, Lookup},
};

/// The kinds of numbers that tables are made of.
#[derive(Debug, Clone, Copy)]
enum Numbers {
    /// Of about the same size, as distances are.
    Distances,
    /// Few whole numbers: many ties.
    Ties,
    /// Of both signs.
    Signed,
    /// One large number beside small ones, so that sums are rounded a lot.
    Uneven,
    Denormal,
    Constant,
    /// Some sums are infinite.
    Huge,
    /// All sums of signed infinities.
    HugeSigned,
    Infinite,
}

const NUMBERS: [Numbers; 9] = [
    Numbers::Distances,
    Numbers::Ties,
    Numbers::Signed,
    Numbers::Uneven,
    Numbers::Denormal,
    Numbers::Constant,
    Numbers::Huge,
    Numbers::HugeSigned,
    Numbers::Infinite,
];

impl Numbers {
    fn draw(self, random: &mut Random) -> f32 {
        let unit = random.below(1 << 24) as f32 / (1 << 24) as f32;
        match self {
            Numbers::Distances => unit * unit,
            Numbers::Ties => random.below(4) as f32,
            Numbers::Signed => 1.0 - unit * 3.0,
            Numbers::Uneven if random.below(50) == 0 => 1e6 * unit,
            Numbers::Uneven => 1e-3 * unit - 1e-4,
            Numbers::Denormal => f32::from_bits(random.below(3000) as u32),
            Numbers::Constant => 0.25,
            Numbers::Huge => f32::MAX * unit * unit,
            Numbers::HugeSigned => f32::MAX * (unit - 0.5),
            Numbers::Infinite if random.below(100) == 0 => f32::INFINITY,
            Numbers::Infinite => unit,
        }
    }
}

/// A partition of random codes, and a table for it.
struct Partition {
    layout: Layout,
    table: Vec<f32>,
    codes: Vec<u8>,
    /// The distance of each row, by the definition.
    distances: Vec<f32>,
}

impl Partition {
    fn new(random: &mut Random, numbers: Numbers, bits: u32, transposed: bool, rows: usize) -> Self {
        let parts = if bits == 4 { 2 * (1 + random.below(20)) } else { 1 + random.below(30) };
        let layout = Layout { parts, bits, transposed };
        let words = layout.codewords();
        let table: Vec<f32> = (0..parts * words).map(|_| numbers.draw(random)).collect();
        let bytes = layout.row_bytes();
        let (mut codes, mut distances) = (vec![0; rows * bytes], vec![0.0; rows]);
        for (row, distance) in distances.iter_mut().enumerate() {
            for byte in 0..bytes {
                let code = random.below(256) as u8;
                codes[if transposed { byte * rows + row } else { row * bytes + byte }] = code;
                let code = usize::from(code);
                match bits {
                    8 => *distance += table[byte * 256 + code],
                    _ => {
                        *distance += table[byte * 32 + code % 16];
                        *distance += table[byte * 32 + 16 + code / 16];
                    }
                }
            }
        }
        Partition { layout, table, codes, distances }
    }

    /// A threshold that some, none, or all rows are below, or that is a distance.
    fn threshold(&self, random: &mut Random) -> f32 {
        let mut sorted = self.distances.clone();
        sorted.sort_by(f32::total_cmp);
        match (random.below(8), sorted.len()) {
            (_, 0) | (0, _) => f32::INFINITY,
            (1, _) => random.pick(&[f32::NEG_INFINITY, f32::NAN, f32::MAX, -0.0, 0.0, -1e30]),
            (2, _) => sorted[0].next_down(),
            (3 | 4, rows) => sorted[random.below(rows)],
            (_, rows) => sorted[random.below(rows.div_ceil(30))],
        }
    }

    /// Rows of a block that are kept and near enough.
    fn expected(&self, start: usize, end: usize, kept: Option<&[u64]>, threshold: f32) -> Vec<(u32, u32)> {
        (start..end)
            .filter(|row| kept.is_none_or(|kept| kept[(row - start) / 64] >> ((row - start) % 64) & 1 == 1))
            .filter(|&row| self.distances[row] <= threshold)
            .map(|row| (row as u32, self.distances[row].to_bits()))
            .collect()
    }
}

fn mask(random: &mut Random, rows: usize) -> Option<Vec<u64>> {
    let density = random.below(5);
    let word = |random: &mut Random| match density {
        0 => random.word() & random.word() & random.word() & random.word() & random.word(),
        1 => random.word() & random.pick(&[0, u64::MAX]),
        _ => random.word() | random.word(),
    };
    // Bits behind the last row are set, too: they mean nothing.
    (density < 4).then(|| (0..rows.div_ceil(64)).map(|_| word(random)).collect())
}

fn found(candidates: &Candidates) -> Vec<(u32, u32)> {
    let distances = candidates.distances().iter().map(|distance| distance.to_bits());
    candidates.positions().iter().copied().zip(distances).collect()
}

/// Scans of all kinds yield what the definition does, bit for bit.
#[test]
fn scans_are_the_plain_ones() {
    with_each_isa(|isa| {
        let mut random = Random(7);
        let (mut lookup, mut candidates) = (Lookup::default(), Candidates::default());
        for round in 0..rounds(1200) {
            let numbers = NUMBERS[round % NUMBERS.len()];
            let (bits, transposed) = (random.pick(&[4, 8]), random.below(3) > 0);
            let rows = if round % 9 == 0 { random.below(2500) } else { random.below(300) };
            let partition = Partition::new(&mut random, numbers, bits, transposed, rows);
            let Partition { layout, ref table, ref codes, ref distances } = partition;

            let start = random.below(rows + 1);
            let mut out = vec![f32::NAN; random.below(rows - start + 1)];
            lancet_kernels::codes::product::distances(layout, table, codes, rows, start, &mut out);
            let same =
                out.iter().zip(&distances[start..]).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan());
            assert!(same, "{isa} {numbers:?} {layout:?}");

            lookup.start(layout, |out| out.copy_from_slice(table));
            // Several thresholds on one table, rising and falling.
            for _ in 0..4 {
                let start = if random.below(2) == 0 { 0 } else { random.below(rows + 1) };
                let end = start + random.below(rows - start + 1);
                let kept = mask(&mut random, end - start);
                let threshold = partition.threshold(&mut random);
                candidates.clear();
                lookup.scan(codes, rows, start..end, kept.as_deref(), threshold, &mut candidates);
                let expected = partition.expected(start, end, kept.as_deref(), threshold);
                let case = format!("{isa} {numbers:?} {layout:?} {start}..{end} of {rows} at {threshold}");
                assert_eq!(found(&candidates), expected, "{case}");
            }
        }
    });
}

/// Every number of rows, where blocks of 64 and their ends meet.
#[test]
fn every_number_of_rows() {
    with_each_isa(|isa| {
        let mut random = Random(8);
        let (mut lookup, mut candidates) = (Lookup::default(), Candidates::default());
        for rows in some((0..200).chain([511, 512, 513, 1023, 1024, 1025, 1100])) {
            for bits in [4, 8] {
                let partition = Partition::new(&mut random, Numbers::Distances, bits, rows % 5 > 0, rows);
                let mut sorted = partition.distances.clone();
                sorted.sort_by(f32::total_cmp);
                let threshold = sorted.get(rows / 8).copied().unwrap_or(1.0);
                lookup.start(partition.layout, |out| out.copy_from_slice(&partition.table));
                candidates.clear();
                lookup.scan(&partition.codes, rows, 0..rows, None, threshold, &mut candidates);
                let expected = partition.expected(0, rows, None, threshold);
                assert_eq!(found(&candidates), expected, "{isa} {:?} {rows}", partition.layout);
            }
        }
    });
}

/// Tables are the same, bit for bit, with every instruction set: each number is summed in one order.
#[test]
fn tables_are_the_definition() {
    with_each_isa(|isa| {
        let mut random = Random(9);
        for _ in 0..rounds(100) {
            let bits = random.pick(&[4, 8]);
            let layout = Layout { parts: 2 * (1 + random.below(6)), bits, transposed: true };
            let (words, width) = (layout.codewords(), random.below(17));
            let number = |random: &mut Random| random.below(2001) as f32 / 500.0 - 2.0;
            let codebook: Vec<f32> = (0..layout.parts * words * width).map(|_| number(&mut random)).collect();
            let vector: Vec<f32> = (0..layout.parts * width).map(|_| number(&mut random)).collect();
            let (mut squared, mut products) =
                (vec![f32::NAN; layout.parts * words], vec![f32::NAN; layout.parts * words]);
            let codewords = Codewords::new(layout, &codebook);
            codewords.squared_distances(&vector, &mut squared);
            codewords.products(&vector, &mut products);
            for part in 0..layout.parts {
                let vector = &vector[part * width..][..width];
                for word in 0..words {
                    let at = part * words + word;
                    let word = &codebook[at * width..][..width];
                    let of = |term: fn(f32, f32) -> f32| {
                        vector.iter().zip(word).fold(0.0, |sum, (&x, &w)| sum + term(x, w))
                    };
                    assert_eq!(
                        squared[at].to_bits(),
                        of(|x, w| (x - w) * (x - w)).to_bits(),
                        "{isa} {layout:?}"
                    );
                    assert_eq!(
                        products[at].to_bits(),
                        (1.0 - of(|x, w| x * w)).to_bits(),
                        "{isa} {layout:?}"
                    );
                }
            }
            // In f64 the sum is another, rounded once.
            let wide = |numbers: &[f32]| numbers.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
            let mut out = vec![f32::NAN; squared.len()];
            Codewords::new(layout, &wide(&codebook)).squared_distances(&wide(&vector), &mut out);
            assert!(out.iter().zip(&squared).all(|(a, b)| (a - b).abs() <= 1e-5 * a.abs()));
        }
    });
}

/// Rows picked by distance, mask and threshold.
#[test]
fn picked_rows() {
    with_each_isa(|isa| {
        let mut random = Random(10);
        let mut candidates = Candidates::default();
        for round in 0..rounds(1000) {
            let rows = random.below(200);
            let draw =
                |random: &mut Random| random.pick(&[1.0, 2.0, -0.0, 0.0, f32::INFINITY, f32::NAN, 1e-40]);
            let distances: Vec<f32> = (0..rows).map(|_| draw(&mut random)).collect();
            let (kept, threshold, first) =
                (mask(&mut random, rows), draw(&mut random), random.below(5000) as u32);
            if round % 3 == 0 {
                candidates.clear();
            }
            let before = candidates.len();
            candidates.pick(first, &distances, kept.as_deref(), threshold);
            let expected: Vec<(u32, u32)> = (0..rows)
                .filter(|&row| kept.as_ref().is_none_or(|kept| kept[row / 64] >> (row % 64) & 1 == 1))
                .filter(|&row| distances[row] <= threshold)
                .map(|row| (first + row as u32, distances[row].to_bits()))
                .collect();
            assert_eq!(found(&candidates)[before..], expected, "{isa}");
        }
    });
}

/// Codes that end before a page that no one may read, and begin after one.
#[test]
#[cfg(all(unix, not(miri)))]
fn nothing_outside_is_read() {
    use common::guarded::Pages;
    with_each_isa(|_| {
        let mut random = Random(11);
        let mut pages = Pages::new(1 << 16);
        let mut candidates = Candidates::default();
        for rows in (1..200).chain([600]) {
            for bits in [4, 8] {
                for transposed in [false, true] {
                    let partition = Partition::new(&mut random, Numbers::Distances, bits, transposed, rows);
                    let mut lookup = Lookup::default();
                    lookup.start(partition.layout, |out| out.copy_from_slice(&partition.table));
                    let threshold = partition.distances[0];
                    for at_end in [false, true] {
                        let codes = match at_end {
                            false => pages.at_start(&partition.codes),
                            true => pages.at_end(&partition.codes),
                        };
                        let mut last = vec![0; rows.div_ceil(64)];
                        last[(rows - 1) / 64] = 1 << ((rows - 1) % 64);
                        for (threshold, kept) in
                            [(threshold, None), (f32::INFINITY, None), (f32::INFINITY, Some(&last[..]))]
                        {
                            candidates.clear();
                            lookup.scan(codes, rows, 0..rows, kept, threshold, &mut candidates);
                            assert_eq!(found(&candidates), partition.expected(0, rows, kept, threshold));
                        }
                    }
                }
            }
        }
    });
}
