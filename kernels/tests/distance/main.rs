//! Every distance kernel of every instruction set that the machine has, against its definition in f64, within the
//! error that the documentation of `lancet_kernels::distance` derives.

mod definition;
#[cfg(unix)]
mod guard;

use definition::{Number, Random, definition, dims, vanishes, vector};
use lancet_kernels::{
    distance::{DistanceTable, Metric},
    isa::Isa,
};
use proptest::prelude::*;

const METRICS: [Metric; 4] = [Metric::L2, Metric::Cosine, Metric::Dot, Metric::Hamming];

/// Whether both are the same number, or none.
fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan()
}

/// All forms of one metric, for rows that begin anywhere.
fn check<T: Number>(table: &DistanceTable<T>, metric: Metric, query: &[T], rows: &[T], pitch: usize) {
    let dim = query.len();
    let row = |i: usize| &rows[i * pitch..][..dim];
    let count = (rows.len() - dim) / pitch.max(1) + 1;
    let mut out = vec![f32::NAN; count];
    let agree = |form: &str, i: usize, got: f32| {
        let (expected, bound) = definition(metric, query, row(i));
        assert!(
            (f64::from(got) - expected).abs() <= bound || same(f64::from(got), expected),
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

/// Numbers of the usual range among zeros, denormals, infinities and NaN.
fn numbers() -> impl Strategy<Value = f32> {
    prop_oneof![
        60 => -1000.0..1000.0f32,
        5 => Just(0.0),
        5 => Just(-0.0),
        5 => (1..0x80_0000u32).prop_map(f32::from_bits),
        1 => Just(f32::INFINITY),
        1 => Just(f32::NEG_INFINITY),
        1 => Just(f32::NAN),
    ]
}

fn agree_on_any<T: Number>(values: &[f32], rows: usize, convert: impl Fn(f32) -> T) {
    let values: Vec<T> = values.iter().map(|&x| convert(x)).collect();
    let dim = values.len() / (rows + 1);
    let (query, rows) = values[..(rows + 1) * dim].split_at(dim);
    for isa in Isa::available() {
        let table = DistanceTable::<T>::of(isa).expect("an available set");
        let vanishing = vanishes(query) || rows.chunks(dim.max(1)).any(vanishes);
        for metric in METRICS {
            if metric != Metric::Cosine || !vanishing {
                check(table, metric, query, rows, dim);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_numbers(values in prop::collection::vec(numbers(), 0..700), rows in 1..12usize) {
        agree_on_any::<f32>(&values, rows, |x| x);
        agree_on_any::<f64>(&values, rows, f64::from);
        agree_on_any::<half::f16>(&values, rows, half::f16::from_f32);
        agree_on_any::<half::bf16>(&values, rows, half::bf16::from_f32);
        agree_on_any::<i8>(&values, rows, |x| x as i8);
        agree_on_any::<u8>(&values, rows, |x| x as u8);
    }
}

#[test]
fn special_numbers() {
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    for isa in Isa::available() {
        let table = DistanceTable::<f32>::of(isa).expect("an available set");
        for dim in [1, 7, 8, 16, 33, 50] {
            let with = |value: f32| {
                let mut vector = vec![1.0; dim];
                vector[dim - 1] = value;
                vector
            };
            let distance = |metric, a: f32, b: f32| table.distance(metric, &with(a), &with(b));
            for metric in [Metric::L2, Metric::Cosine, Metric::Dot] {
                assert!(distance(metric, nan, 1.0).is_nan() && distance(metric, 1.0, nan).is_nan());
            }
            assert_eq!(distance(Metric::L2, infinity, 1.0), infinity);
            assert!(distance(Metric::L2, infinity, infinity).is_nan());
            assert_eq!(distance(Metric::Dot, infinity, 1.0), -infinity);
            assert!(distance(Metric::Dot, infinity, 0.0).is_nan());
            assert!(distance(Metric::Cosine, infinity, 1.0).is_nan());
            assert_eq!(distance(Metric::L2, -0.0, 0.0), 0.0);
            assert!(table.distance(Metric::Cosine, &vec![0.0; dim], &with(1.0)).is_nan());
        }
        assert_eq!(table.distance(Metric::L2, &[], &[]), 0.0);
        assert_eq!(table.distance(Metric::Dot, &[], &[]), 1.0);
        assert!(table.distance(Metric::Cosine, &[], &[]).is_nan());
        table.distances(Metric::L2, &[1.0], &[], 1, &mut []);
    }
}
