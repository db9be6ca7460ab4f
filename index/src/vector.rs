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
    /// Those of [`empty`](Self::empty) and [`fill`](Self::fill).
    pub fn new(numbers: &[f64], item: &DataType) -> Result<Self> {
        let mut vector = Self::empty(item)?;
        vector.fill(numbers)?;
        Ok(vector)
    }

    /// A vector without numbers for a column of vectors of `item`.
    ///
    /// # Errors
    /// Unsupported if vectors of `item` are not compared.
    pub fn empty(item: &DataType) -> Result<Self> {
        Ok(match item {
            DataType::Float16 => Vector::Float16(Vec::new()),
            DataType::BFloat16 => Vector::BFloat16(Vec::new()),
            DataType::Float32 => Vector::Float32(Vec::new()),
            DataType::Float64 => Vector::Float64(Vec::new()),
            DataType::Int8 => Vector::Int8(Vec::new()),
            DataType::UInt8 => Vector::UInt8(Vec::new()),
            other => {
                return Err(Error::unsupported(format!("vectors of type {other} are not compared")));
            }
        })
    }

    /// Becomes the vector of `numbers`, in its own type and room.
    ///
    /// # Errors
    /// Invalid input if a number is not finite, becomes infinite, or is none of an integer type.
    pub fn fill<N: Copy + Into<f64>>(&mut self, numbers: &[N]) -> Result<()> {
        /// The position of the first number that does not fit.
        fn put<N: Copy + Into<f64>, T>(
            values: &mut Vec<T>,
            numbers: &[N],
            convert: impl Fn(f64) -> Option<T>,
        ) -> Option<usize> {
            values.clear();
            values.reserve(numbers.len());
            numbers.iter().position(|&number| match convert(number.into()) {
                Some(value) => {
                    values.push(value);
                    false
                }
                None => true,
            })
        }
        let infinite = numbers.iter().position(|&number| !number.into().is_finite());
        if let Some(position) = infinite {
            return Err(Error::invalid_input(format!(
                "query vector: expected finite numbers, found {} at position {position}",
                numbers[position].into()
            )));
        }
        let integer = |number: f64, low: f64, high: f64| {
            (low..=high).contains(&number) && number as i64 as f64 == number
        };
        let unfit = match self {
            Vector::Float16(values) => {
                put(values, numbers, |x| Some(f16::from_f64(x)).filter(|x| x.is_finite()))
            }
            Vector::BFloat16(values) => {
                put(values, numbers, |x| Some(bf16::from_f64(x)).filter(|x| x.is_finite()))
            }
            Vector::Float32(values) => put(values, numbers, |x| Some(x as f32).filter(|x| x.is_finite())),
            Vector::Float64(values) => put(values, numbers, Some),
            Vector::Int8(values) => put(values, numbers, |x| integer(x, -128.0, 127.0).then_some(x as i8)),
            Vector::UInt8(values) => put(values, numbers, |x| integer(x, 0.0, 255.0).then_some(x as u8)),
        };
        match unfit {
            None => Ok(()),
            Some(position) => Err(Error::invalid_input(format!(
                "query vector: {} at position {position} does not fit type {}",
                numbers[position].into(),
                self.item()
            ))),
        }
    }

    /// The type of its numbers.
    pub fn item(&self) -> DataType {
        match self {
            Vector::Float16(_) => DataType::Float16,
            Vector::BFloat16(_) => DataType::BFloat16,
            Vector::Float32(_) => DataType::Float32,
            Vector::Float64(_) => DataType::Float64,
            Vector::Int8(_) => DataType::Int8,
            Vector::UInt8(_) => DataType::UInt8,
        }
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

    /// Becomes `other`, and keeps its room if that is of the same type.
    pub fn assign(&mut self, other: &Vector) {
        match (self, other) {
            (Vector::Float16(own), Vector::Float16(values)) => own.clone_from(values),
            (Vector::BFloat16(own), Vector::BFloat16(values)) => own.clone_from(values),
            (Vector::Float32(own), Vector::Float32(values)) => own.clone_from(values),
            (Vector::Float64(own), Vector::Float64(values)) => own.clone_from(values),
            (Vector::Int8(own), Vector::Int8(values)) => own.clone_from(values),
            (Vector::UInt8(own), Vector::UInt8(values)) => own.clone_from(values),
            (own, other) => *own = other.clone(),
        }
    }

    /// Divides it by its length, in its own type; integers stay as they are.
    pub fn normalise(&mut self) {
        match self {
            Vector::Float16(values) => DistanceTable::<f16>::current().normalise(values),
            Vector::BFloat16(values) => DistanceTable::<bf16>::current().normalise(values),
            Vector::Float32(values) => DistanceTable::<f32>::current().normalise(values),
            Vector::Float64(values) => DistanceTable::<f64>::current().normalise(values),
            Vector::Int8(_) | Vector::UInt8(_) => {}
        }
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
