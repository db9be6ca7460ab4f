//! Every distance kernel of every instruction set that the machine has, against its definition in f64, within the
//! error that the documentation of `lancet_kernels::distance` derives.

mod definition;
#[cfg(not(miri))]
mod drawn;
#[cfg(all(unix, not(miri)))]
mod guard;

use definition::{Number, Random, definition, dims, vector};
use half::{bf16, f16};
use lancet_kernels::{
    distance::{DistanceTable, Metric},
    isa::Isa,
};

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
    let scattered: Vec<&[T]> = (0..count).rev().map(row).collect();
    let mut again = vec![f32::NAN; count];
    table.distances_to(metric, query, &scattered, &mut again);
    for (i, (&got, &expected)) in again.iter().zip(&out).enumerate() {
        assert!(same(f64::from(got), f64::from(expected)), "{metric:?} scattered, dim {dim}, row {i}");
    }
}

fn check_all<T: Number>() {
    let mut random = Random(7);
    let starts = 64 / size_of::<T>();
    let longest = dims().max().unwrap_or_default();
    let buffer: Vec<T> = vector(&mut random, 2 * starts + 13 * (longest + 2));
    let aligned = buffer.as_ptr().align_offset(64);
    for isa in Isa::available() {
        let table = DistanceTable::<T>::of(isa).expect("an available set");
        for dim in dims() {
            for start in (0..starts).step_by(if cfg!(miri) { starts - 1 } else { 1 }) {
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
    check_all::<f16>();
}

#[test]
fn bf16_agrees() {
    check_all::<bf16>();
}

#[test]
fn i8_agrees() {
    check_all::<i8>();
}

#[test]
fn u8_agrees() {
    check_all::<u8>();
}

/// Numbers that are none, infinite or zero, of the type that `of` converts to.
fn check_special<T: Number>(of: impl Fn(f32) -> T) {
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    for isa in Isa::available() {
        let table = DistanceTable::<T>::of(isa).expect("an available set");
        for dim in [1, 7, 8, 16, 33, 50] {
            let with = |value: f32| {
                let mut vector = vec![of(1.0); dim];
                vector[dim - 1] = of(value);
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
            assert!(table.distance(Metric::Cosine, &vec![of(0.0); dim], &with(1.0)).is_nan());
        }
        assert_eq!(table.distance(Metric::L2, &[], &[]), 0.0);
        assert_eq!(table.distance(Metric::Dot, &[], &[]), 1.0);
        assert!(table.distance(Metric::Cosine, &[], &[]).is_nan());
        table.distances(Metric::L2, &[of(1.0)], &[], 1, &mut []);
    }
}

#[test]
fn special_numbers() {
    check_special::<f32>(|x| x);
    check_special::<f64>(f64::from);
    check_special::<f16>(f16::from_f32);
    check_special::<bf16>(bf16::from_f32);
}

/// Products of the smallest and the largest halves are numbers of f32 like any others.
#[test]
fn extreme_halves() {
    let denormals = (1..0x400u16).step_by(7).map(f16::from_bits);
    let large = (0x7800..0x7c00u16).step_by(7).map(f16::from_bits);
    let values: Vec<f16> = denormals.zip(large).flat_map(|(a, b)| [a, -b, -a, b]).collect();
    for isa in Isa::available() {
        let table = DistanceTable::<f16>::of(isa).expect("an available set");
        for dim in [1, 5, 8, 50] {
            for step in [1, 2, 4] {
                let chosen: Vec<f16> = values.iter().copied().step_by(step).collect();
                for metric in METRICS {
                    check(table, metric, &chosen[chosen.len() - dim..], &chosen, dim);
                }
            }
        }
    }
}
