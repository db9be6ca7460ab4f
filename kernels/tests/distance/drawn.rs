//! Vectors that are drawn, and made plainer where they fail; too many for Miri.

use super::{
    METRICS, check,
    definition::{Number, vanishes},
};
use lancet_kernels::{
    distance::{DistanceTable, Metric},
    isa::Isa,
};
use proptest::prelude::*;

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
