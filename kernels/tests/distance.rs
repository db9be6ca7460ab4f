//! Every distance kernel of every instruction set that the machine has, against its definition in f64, within the
//! error that the documentation of `lancet_kernels::distance` derives.

mod definition;

use definition::{Number, Random, definition, dims, vector};
use lancet_kernels::{
    distance::{DistanceTable, Metric},
    isa::Isa,
};

const METRICS: [Metric; 4] = [Metric::L2, Metric::Cosine, Metric::Dot, Metric::Hamming];

/// All forms of one metric, for rows that begin anywhere.
fn check<T: Number>(table: &DistanceTable<T>, metric: Metric, query: &[T], rows: &[T], pitch: usize) {
    let dim = query.len();
    let row = |i: usize| &rows[i * pitch..][..dim];
    let count = (rows.len() - dim) / pitch.max(1) + 1;
    let mut out = vec![f32::NAN; count];
    let agree = |form: &str, i: usize, got: f32| {
        let (expected, bound) = definition(metric, query, row(i));
        assert!(
            (f64::from(got) - expected).abs() <= bound || expected.is_nan() && got.is_nan(),
            "{} {metric:?} {} {form}, dim {dim}, row {i}: {got}, not {expected} ± {bound}",
            T::NAME,
            table.isa()
        );
    };
    table.distances(metric, query, rows, pitch, &mut out);
    for (i, &got) in out.iter().enumerate() {
        agree("contiguous", i, got);
        agree("single", i, table.distance(metric, query, row(i)));
    }
    let ids: Vec<u32> = (0..count as u32).rev().collect();
    table.distances_of(metric, query, rows, pitch, &ids, &mut out);
    for (&id, &got) in ids.iter().zip(&out) {
        agree("picked", id as usize, got);
    }
}

fn check_all<T: Number>() {
    let mut random = Random(7);
    let starts = 64 / size_of::<T>();
    let buffer: Vec<T> = vector(&mut random, 64 + 16 * 1600);
    let aligned = buffer.as_ptr().align_offset(64);
    for isa in Isa::available() {
        let table = DistanceTable::<T>::of(isa).expect("an available set");
        for dim in dims() {
            for start in 0..starts {
                // 13 rows: a whole block and what is left of one, in every set.
                let (pitch, count) = (dim + start % 3, if start == 0 { 13 } else { 5 });
                let rows = &buffer[aligned + start..][..(count - 1) * pitch + dim];
                let query: Vec<T> = vector(&mut random, dim + start);
                for metric in METRICS {
                    check(table, metric, &query[start..], rows, pitch);
                }
            }
        }
    }
}

#[test]
fn f32_agrees() {
    check_all::<f32>();
}

#[test]
fn f64_agrees() {
    check_all::<f64>();
}

#[test]
fn f16_agrees() {
    check_all::<half::f16>();
}

#[test]
fn bf16_agrees() {
    check_all::<half::bf16>();
}

#[test]
fn i8_agrees() {
    check_all::<i8>();
}

#[test]
fn u8_agrees() {
    check_all::<u8>();
}
