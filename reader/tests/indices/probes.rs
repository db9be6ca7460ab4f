//! Searches of partitions: with a threshold that falls they find what the distances of all rows say, and once they are
//! warm they allocate nothing.

use crate::{allocations::measure, datasets, folder};
use lancet::Dataset;
use lancet_index::{
    ivf::{Ivf, Partition, Query, RowFilter, Scratch},
    nearest::{Arrivals, Collector, Neighbour, Range},
    vector::Vector,
};

/// Keeps about one row in so many, or leaves it out.
struct OneIn {
    every: u64,
    left: bool,
}

impl RowFilter for OneIn {
    fn keep(&self, row_ids: &[u64], mask: &mut [u64]) {
        for (i, id) in row_ids.iter().enumerate() {
            let drawn = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            let keep = drawn.is_multiple_of(self.every) != self.left;
            mask[i / 64] = mask[i / 64] & !(1 << (i % 64)) | u64::from(keep) << (i % 64);
        }
    }
}

/// Has no threshold, and passes everything on in the order in which it comes.
struct Plain(Arrivals);

impl Collector for Plain {
    fn offer(&mut self, distances: &[f32], row_ids: &[u64], mask: Option<&[u64]>) {
        self.0.offer(distances, row_ids, mask);
    }
}

/// All indices over vectors that are searched, with the path of the dataset and a query.
fn each_index(mut action: impl FnMut(&str, &Ivf, &[Partition], &Query)) {
    let mut count = 0;
    for path in datasets("") {
        let dataset = Dataset::open(path.to_str().expect("Unicode")).expect("a dataset");
        for entry in dataset.manifest().indices().expect("entries") {
            if !entry.details.as_ref().is_some_and(|details| details.is("VectorIndexDetails")) {
                continue;
            }
            let Ok(ivf) = Ivf::open(&folder(&path, &entry)) else { continue };
            let numbers: Vec<f64> =
                (0..ivf.file().dimension()).map(|i| f64::from(i as u32 * 7 % 5)).collect();
            let vector = Vector::new(&numbers, ivf.file().centroids().item()).expect("a vector");
            let query = ivf.query(&vector).expect("a query");
            let partitions = (0..ivf.partitions()).map(|number| ivf.read(number).expect("a partition"));
            action(&path.display().to_string(), &ivf, &partitions.collect::<Vec<_>>(), &query);
            count += 1;
        }
    }
    assert!(count > 10, "{count} indices");
}

const FILTERS: [Option<OneIn>; 4] = [
    None,
    Some(OneIn { every: 3, left: true }),
    Some(OneIn { every: 3, left: false }),
    Some(OneIn { every: 40, left: false }),
];

fn probe_all(
    ivf: &Ivf,
    partitions: &[Partition],
    query: &Query,
    filter: &Option<OneIn>,
    scratch: &mut Scratch,
    found: &mut dyn Collector,
) {
    ivf.rank(query, ivf.partitions(), scratch);
    for rank in 0..ivf.partitions() {
        let number = scratch.ranked()[rank].1 as usize;
        let filter = filter.as_ref().map(|filter| filter as &dyn RowFilter);
        ivf.probe(query, number, &partitions[number], filter, scratch, found).expect("codes");
    }
}

fn sorted(found: &mut Arrivals) -> Vec<Neighbour> {
    let mut rows = found.finish().to_vec();
    rows.sort_by(Neighbour::order);
    rows
}

#[test]
fn a_falling_threshold_changes_nothing() {
    each_index(|path, ivf, partitions, query| {
        let (mut scratch, mut found, mut plain) =
            (Scratch::default(), Arrivals::default(), Plain(Arrivals::default()));
        for k in [1, 10, 100] {
            for filter in &FILTERS {
                for high in [f32::INFINITY, 1.0] {
                    let range = Range { high, ..Range::default() };
                    found.start(k, range);
                    plain.0.start(k, range);
                    probe_all(ivf, partitions, query, filter, &mut scratch, &mut found);
                    probe_all(ivf, partitions, query, filter, &mut scratch, &mut plain);
                    assert_eq!(sorted(&mut found), sorted(&mut plain.0), "{path}, {k} nearest");
                }
            }
        }
    });
}

#[test]
fn warm_probes_do_not_allocate() {
    each_index(|path, ivf, partitions, query| {
        let (mut scratch, mut found) = (Scratch::default(), Arrivals::default());
        for filter in &FILTERS {
            let mut search = || {
                found.start(10, Range::default());
                probe_all(ivf, partitions, query, filter, &mut scratch, &mut found);
            };
            search();
            let ((), taken) = measure([0; 3], search);
            assert_eq!(taken.number, 0, "{path}: {taken:?}");
        }
    });
}
