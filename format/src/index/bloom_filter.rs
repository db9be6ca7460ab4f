//! BloomFilter: for each zone a filter that says which values it may hold.
//!
//! ```text
//! bloomfilter.lance   has_null: bool | bloom_filter_data: binary, as long in each zone | and the columns of `zones`
//!                     metadata  bloomfilter_item: live rows of a zone, 8192 if absent
//!                               bloomfilter_probability: of a false hit, 0.00057 if absent | null_bitmap, see `zones`
//! filter              blocks of 8 × u32: one bit of each word of one block stands for a value
//! ```
//! The block and the bits come from the XXH64 of the value: numbers as they are stored, text and binary as they
//! are. −0 and +0 differ, and so do NaNs. NULL is in no filter.

use super::{
    RowAddressSet, Zone,
    files::{IndexFile, IndexFiles},
    xxh64::xxh64,
    zones,
};
use crate::{DataType, Error, Field, Physical, Result, Scalar, ensure};
use alloc::{boxed::Box, format, sync::Arc, vec::Vec};
use bytes::Bytes;
use once_cell::race::OnceBox;

const FILE: &str = "bloomfilter.lance";
const DEFAULT_ITEMS: u64 = 8192;
const DEFAULT_PROBABILITY: f64 = 0.00057;
const BLOCK: usize = 32;
const MAX_FILTER: usize = 1 << 27;
/// What spreads the lower half of a hash over the words of a block.
const SALT: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// An open BloomFilter index: the zones in memory, the filters in their file.
#[derive(Debug)]
pub struct BloomFilterIndex {
    file: IndexFile,
    items: u64,
    probability: f64,
    zones: Vec<Zone>,
    /// The row of the file for each zone.
    rows: Vec<u32>,
    has_null: Vec<bool>,
    null_rows: Option<RowAddressSet>,
    field: Arc<Field>,
    filters: OnceBox<Vec<Bytes>>,
}

/// The hash of a value, for many filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BloomHash(u64);

impl BloomHash {
    /// The hash of a value of a column of this type; `None` if filters do not hold such values.
    pub fn of(value: Scalar<'_>, data_type: &DataType) -> Option<Self> {
        let data_type = match data_type {
            DataType::Dictionary(_, values) => values,
            own => own,
        };
        let (Physical::Fixed(width), true) = (data_type.physical(), value.fits(data_type)) else {
            return match value {
                Scalar::Bytes(bytes) if value.fits(data_type) => Some(BloomHash(xxh64(bytes))),
                _ => None,
            };
        };
        let word = match value {
            Scalar::Int(value) => value as u64,
            Scalar::UInt(value) => value,
            Scalar::Float32(value) => value.to_bits().into(),
            Scalar::Float64(value) => value.to_bits(),
            _ => return None,
        };
        Some(BloomHash(xxh64(&word.to_le_bytes()[..width])))
    }

    /// Whether `filter`, whole blocks of 32 bytes, may hold the value.
    fn is_in(self, filter: &[u8]) -> bool {
        let (blocks, _) = filter.as_chunks::<BLOCK>();
        let index = ((self.0 >> 32) * blocks.len() as u64) >> 32;
        let words = blocks[index as usize].as_chunks::<4>().0;
        words.iter().zip(SALT).all(|(word, salt)| {
            let bit = (self.0 as u32).wrapping_mul(salt) >> 27;
            u32::from_le_bytes(*word) >> bit & 1 != 0
        })
    }
}

impl BloomFilterIndex {
    /// Reads the zones.
    ///
    /// # Errors
    /// Corrupt if the file is missing or contradicts itself.
    pub fn open(files: &dyn IndexFiles) -> Result<Self> {
        let file = IndexFile::open(files, FILE)?;
        let (zones, rows) = zones::read(&file)?;
        let nulls = file.field_of("has_null", &DataType::Boolean)?;
        let nulls = file.read_numbers(&nulls, 0..file.rows(), None)?;
        Ok(BloomFilterIndex {
            items: file.number("bloomfilter_item", DEFAULT_ITEMS)?,
            probability: file.number("bloomfilter_probability", DEFAULT_PROBABILITY)?,
            has_null: rows.iter().map(|&row| nulls.boolean(row as usize) == Some(true)).collect(),
            null_rows: file.rows_of_buffer(zones::NULLS)?,
            field: file.binary_field("bloom_filter_data")?,
            filters: OnceBox::new(),
            zones,
            rows,
            file,
        })
    }

    /// Live rows of a zone when it was cut.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The probability of a false hit that the filters were made for.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// The zones by fragment and start.
    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }

    /// The fragments that have zones, ascending. Lance may say that an index covers others, which took the place of
    /// these: it knows nothing of them.
    pub fn fragments(&self) -> impl Iterator<Item = u32> + '_ {
        zones::fragments(&self.zones)
    }

    /// Whether each zone holds a NULL, in the order of [`zones`](Self::zones).
    pub fn has_null(&self) -> &[bool] {
        &self.has_null
    }

    /// The NULL rows; `None` if it is only known which zones have some.
    pub fn null_rows(&self) -> Option<&RowAddressSet> {
        self.null_rows.as_ref()
    }

    /// The positions of the zones that may hold the value with this hash. Reads the filters when it is first
    /// called.
    ///
    /// # Errors
    /// Corrupt if the filters cannot be read.
    pub fn may_hold(&self, hash: BloomHash) -> Result<impl Iterator<Item = usize> + '_> {
        let filters = self.filters.get_or_try_init(|| self.read_filters().map(Box::new))?.iter();
        Ok(filters.enumerate().filter(move |(_, filter)| hash.is_in(filter)).map(|(position, _)| position))
    }

    fn read_filters(&self) -> Result<Vec<Bytes>> {
        let mut filters: Vec<Bytes> = Vec::with_capacity(self.rows.len());
        for &row in &self.rows {
            let filter = self.file.bytes(&self.field, row.into())?;
            let check = || {
                let len = filter.len();
                ensure!(
                    len % BLOCK == 0 && (1..=MAX_FILTER).contains(&len),
                    "expected a filter of whole blocks of {BLOCK} bytes, found {len} bytes"
                );
                let first = filters.first().map_or(len, Bytes::len);
                ensure!(len == first, "expected a filter of {first} bytes as in other zones, found {len}");
                Ok(())
            };
            self.file.check(check().map_err(|error: Error| error.within(format!("row {row}"))))?;
            filters.push(filter);
        }
        Ok(filters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_real_filter_holds() {
        let filter = b"\0\0\x20\0\0\0\0\x01\x02\0\0\0\x08\0\0\0\x02\0\0\0\0\x20\0\0\0\x10\0\0\0\0\0\x04";
        let holds = |value| BloomHash::of(Scalar::Int(value), &DataType::Int32).unwrap().is_in(filter);
        assert_eq!((-50..50).filter(|value| holds(*value)).collect::<Vec<_>>(), [5]);
        let hash = |value| BloomHash::of(value, &DataType::Int8);
        assert!(hash(Scalar::Int(300)).is_none() && hash(Scalar::Boolean(true)).is_none());
        assert_eq!(
            BloomHash::of(Scalar::Bytes(b""), &DataType::Utf8),
            Some(BloomHash(0xef46_db37_51d8_e999))
        );
    }
}
