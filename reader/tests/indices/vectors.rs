//! Vector indices: the distances that quantized vectors give, by the formulas, from what the files hold.

use crate::{datasets, folder};
use lancet::Dataset;
use lancet_format::index::{IvfIndex, Metric, Storage, SubIndex, Tensor};
use lancet_index::{
    ivf::{Ivf, Scratch},
    nearest::Collector,
    vector::Vector,
};
use std::collections::HashMap;

/// Keeps everything.
#[derive(Default)]
struct All(HashMap<u64, f32>);

impl Collector for All {
    fn offer(&mut self, distances: &[f32], row_ids: &[u64], mask: Option<&[u64]>) {
        assert!(mask.is_none());
        self.0.extend(row_ids.iter().copied().zip(distances.iter().copied()));
    }
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    match tensor.values::<f32>() {
        Some(values) => values.iter().map(|&value| value.into()).collect(),
        None => tensor.values::<f64>().expect("f32 or f64").to_vec(),
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn l2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The distance of each row of a partition from `query`, a unit vector under cosine.
fn expected(file: &IvfIndex, partition: usize, query: &[f64]) -> Vec<f64> {
    let pieces = file.codes(partition).expect("codes");
    let codes: Vec<u8> = pieces.iter().flat_map(|piece| piece.as_slice()).copied().collect();
    let rows = (file.partitions()[partition].end - file.partitions()[partition].start) as usize;
    let dimension = file.dimension();
    // Squared distances of unit vectors are twice 1 − cosine.
    let scale = if file.metric() == Metric::Cosine { 0.5 } else { 1.0 };
    match *file.storage() {
        Storage::Product { bits, parts, transposed } => {
            let (words, width) = (1 << bits, dimension / parts);
            let codebook = numbers(file.codebook().expect("codewords"));
            let centroids = numbers(file.centroids());
            let residual = query.iter().zip(&centroids[partition * dimension..]).map(|(q, c)| q - c);
            let residual: Vec<f64> = residual.collect();
            let bytes = parts * bits as usize / 8;
            let code = |row: usize, part: usize| {
                let byte = part * bits as usize / 8;
                let byte = codes[if transposed { byte * rows + row } else { row * bytes + byte }];
                usize::from(if bits == 8 { byte } else { byte >> (part % 2 * 4) & 15 })
            };
            let word = |row, part| &codebook[(part * words + code(row, part)) * width..][..width];
            let of_row = |row| match file.metric() {
                Metric::Dot => {
                    1.0 - (0..parts).map(|m| dot(&query[m * width..][..width], word(row, m))).sum::<f64>()
                }
                _ => {
                    scale * (0..parts).map(|m| l2(&residual[m * width..][..width], word(row, m))).sum::<f64>()
                }
            };
            (0..rows).map(of_row).collect()
        }
        Storage::Scalar { start, end } => {
            let step = (end - start) / 255.0;
            let code = |x: &f64| ((x - start) / step).trunc().clamp(0.0, 255.0);
            let coded: Vec<f64> = query.iter().map(code).collect();
            let of_row = |row: &[u8]| {
                let row: Vec<f64> = row.iter().map(|&code| code.into()).collect();
                match file.metric() {
                    Metric::Dot => 1.0 - (start * query.iter().sum::<f64>() + step * dot(&row, query)),
                    _ => scale * step * step * l2(&row, &coded),
                }
            };
            codes.chunks_exact(dimension).map(of_row).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn distances_of_codes_follow_the_formulas() {
    let mut kinds = HashMap::<String, usize>::new();
    for path in datasets("") {
        let dataset = Dataset::open(path.to_str().expect("Unicode")).expect("a dataset");
        for entry in dataset.manifest().indices().expect("entries") {
            let files = folder(&path, &entry);
            if !entry.details.as_ref().is_some_and(|details| details.is("VectorIndexDetails")) {
                continue;
            }
            let file = IvfIndex::open(&files).expect("a segment");
            let quantized = matches!(file.storage(), Storage::Product { .. } | Storage::Scalar { .. });
            if file.sub_index() != SubIndex::Flat || !quantized {
                continue;
            }
            *kinds.entry(format!("{} {}", file.kind(), file.metric())).or_default() += 1;
            let ivf = Ivf::open(&files).expect("a segment that is searched");
            let query: Vec<f64> = numbers(file.centroids())[..file.dimension()]
                .iter()
                .enumerate()
                .map(|(i, x)| f64::from(*x as f32 + (i % 7) as f32 / 64.0))
                .collect();
            let vector = Vector::new(&query, file.centroids().item()).expect("a vector");
            let (mut scratch, mut found) = (Scratch::default(), All::default());
            let prepared = ivf.query(&vector).expect("a query");
            ivf.rank(&prepared, ivf.partitions(), &mut scratch);
            assert_eq!(scratch.ranked().len(), ivf.partitions());
            for rank in 0..ivf.partitions() {
                let number = scratch.ranked()[rank].1 as usize;
                let partition = ivf.read(number).expect("a partition");
                ivf.probe(&prepared, number, &partition, None, &mut scratch, &mut found).expect("codes");
            }
            let length = dot(&query, &query).sqrt();
            let unit: Vec<f64> = match file.metric() {
                Metric::Cosine => query.iter().map(|x| x / length).collect(),
                _ => query,
            };
            let mut rows = 0;
            for partition in 0..ivf.partitions() {
                let ids = file.row_ids(partition).expect("row ids");
                let ids = ids.primitive::<u64>().expect("numbers");
                // The unit query in f32 may fall just below a number that codes are cut at.
                let tolerance = match (file.storage(), file.metric()) {
                    (Storage::Scalar { .. }, Metric::Cosine) => 1e-2,
                    // The difference of large sums, in f32.
                    (Storage::Scalar { .. }, Metric::Dot) => 1e-4,
                    _ => 1e-5,
                };
                for (id, expected) in ids.iter().zip(expected(&file, partition, &unit)) {
                    let found = f64::from(found.0[id]);
                    let near = (found - expected).abs() <= tolerance * expected.abs().max(1.0);
                    assert!(near, "{}, row {id}: {found}, expected {expected}", path.display());
                    rows += 1;
                }
            }
            assert_eq!((rows, found.0.len()), (file.rows() as usize, file.rows() as usize));
        }
    }
    assert!(kinds.len() >= 6, "{kinds:?}");
}
