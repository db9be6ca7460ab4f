//! [`Vector`]: a query vector in the type of its column.

use alloc::{format, vec::Vec};
use half::{bf16, f16};
use lancet_format::{DataType, Error, Result};
use lancet_kernels::distance::{DistanceTable, Metric};

/// The numbers of a vector, in the type of the column that it is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Vector {
    /// `halffloat`
    Float16(Vec<f16>),
    /// `bfloat16`
    BFloat16(Vec<bf16>),
    /// `float`
    Float32(Vec<f32>),
    /// `double`
    Float64(Vec<f64>),
    /// `int8`
    Int8(Vec<i8>),
    /// `uint8`
    UInt8(Vec<u8>),
}

/// Runs `$body` with `$values` the numbers of a [`Vector`], whatever their type.
#[macro_export]
macro_rules! with_numbers {
    ($vector:expr, $values:ident => $body:expr) => {
        match $vector {
            $crate::vector::Vector::Float16($values) => $body,
            $crate::vector::Vector::BFloat16($values) => $body,
            $crate::vector::Vector::Float32($values) => $body,
            $crate::vector::Vector::Float64($values) => $body,
            $crate::vector::Vector::Int8($values) => $body,
            $crate::vector::Vector::UInt8($values) => $body,
        }
    };
}

impl Vector {
    /// The vector of `numbers` for a column of vectors of `item`.
    ///
    /// # Errors
    /// Invalid input if a number is not finite, or is none of an integer type; unsupported if vectors of `item` are
    /// not compared.
    pub fn new(numbers: &[f64], item: &DataType) -> Result<Self> {
        for (position, number) in numbers.iter().enumerate() {
            if !number.is_finite() {
                return Err(Error::invalid_input(format!(
                    "query vector: expected finite numbers, found {number} at position {position}"
                )));
            }
        }
        let floats = |fits: &dyn Fn(f64) -> bool| match numbers.iter().position(|&number| !fits(number)) {
            None => Ok(()),
            Some(position) => Err(Error::invalid_input(format!(
                "query vector: {} at position {position} does not fit type {item}",
                numbers[position]
            ))),
        };
        let integers = |low: f64, high: f64| {
            let fits = move |number: f64| (low..=high).contains(&number) && number as i64 as f64 == number;
            floats(&fits)
        };
        Ok(match item {
            DataType::Float16 => {
                floats(&|number| f16::from_f64(number).is_finite())?;
                Vector::Float16(numbers.iter().map(|&number| f16::from_f64(number)).collect())
            }
            DataType::BFloat16 => {
                floats(&|number| bf16::from_f64(number).is_finite())?;
                Vector::BFloat16(numbers.iter().map(|&number| bf16::from_f64(number)).collect())
            }
            DataType::Float32 => {
                floats(&|number| (number as f32).is_finite())?;
                Vector::Float32(numbers.iter().map(|&number| number as f32).collect())
            }
            DataType::Float64 => Vector::Float64(numbers.to_vec()),
            DataType::Int8 => {
                integers(-128.0, 127.0)?;
                Vector::Int8(numbers.iter().map(|&number| number as i8).collect())
            }
            DataType::UInt8 => {
                integers(0.0, 255.0)?;
                Vector::UInt8(numbers.iter().map(|&number| number as u8).collect())
            }
            other => {
                return Err(Error::unsupported(format!("vectors of type {other} are not compared")));
            }
        })
    }

    /// The number of numbers.
    pub fn len(&self) -> usize {
        with_numbers!(self, values => values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all numbers are zero.
    pub fn is_zero(&self) -> bool {
        with_numbers!(self, values => values.iter().all(|value| *value == Default::default()))
    }

    /// Whether vectors of this type can be compared by `metric`.
    pub fn fits(&self, metric: Metric) -> bool {
        match metric {
            Metric::Hamming => matches!(self, Vector::UInt8(_)),
            _ => true,
        }
    }

    /// The vector divided by its length, in its own type; integers stay as they are.
    pub fn normalised(&self) -> Self {
        let mut vector = self.clone();
        match &mut vector {
            Vector::Float16(values) => DistanceTable::<f16>::current().normalise(values),
            Vector::BFloat16(values) => DistanceTable::<bf16>::current().normalise(values),
            Vector::Float32(values) => DistanceTable::<f32>::current().normalise(values),
            Vector::Float64(values) => DistanceTable::<f64>::current().normalise(values),
            Vector::Int8(_) | Vector::UInt8(_) => {}
        }
        vector
    }

    /// Number `index` as f64.
    pub fn get(&self, index: usize) -> f64 {
        match self {
            Vector::Float16(values) => values[index].to_f64(),
            Vector::BFloat16(values) => values[index].to_f64(),
            Vector::Float32(values) => values[index].into(),
            Vector::Float64(values) => values[index],
            Vector::Int8(values) => values[index].into(),
            Vector::UInt8(values) => values[index].into(),
        }
    }
}
