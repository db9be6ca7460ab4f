//! ZoneMap: for each zone the bounds of its values.
//!
//! ```text
//! zonemap.lance   min: T | max: T | null_count: u32 | nan_count: u32 | and the columns of `zones`
//!                 metadata  rows_per_zone: live rows of a zone, 8192 if absent | null_bitmap, see `zones`
//! ```
//! `min` is the smallest value that is no NaN, NULL if there is none. `max` is a NaN if any value is one, and the
//! largest value is then not known; else the largest value. For some types Lance writes NULL for both although
//! there are values.

use super::{
    RowAddressSet, Zone,
    files::{IndexFile, IndexFiles},
    zones,
};
use crate::{Column, DataType, Keys, Pick, Result};
use alloc::{format, vec::Vec};

const FILE: &str = "zonemap.lance";
const DEFAULT_ROWS_PER_ZONE: u64 = 8192;

/// An open zone map, all of it in memory.
#[derive(Debug)]
pub struct ZoneMapIndex {
    data_type: DataType,
    rows_per_zone: u64,
    zones: Vec<Zone>,
    min: Keys,
    max: Keys,
    null_counts: Vec<u32>,
    nan_counts: Vec<u32>,
    is_plain: bool,
    null_rows: Option<RowAddressSet>,
}

impl ZoneMapIndex {
    /// Reads all zones.
    ///
    /// # Errors
    /// Corrupt if the file is missing or contradicts itself, unsupported if the values have no order.
    pub fn open(files: &dyn IndexFiles) -> Result<Self> {
        let file = IndexFile::open(files, FILE)?;
        let min = file.ordered_field("min")?;
        let max = file.field_of("max", &min.data_type)?;
        let (zones, rows) = zones::read(&file)?;
        let picks: Vec<Pick> = rows.iter().map(|&row| (0, row)).collect();
        let ordered = |column: Column| -> Result<Keys> {
            let column = file.check(Column::gather(&[&column], &picks, None))?;
            Ok(Keys::of(column).expect("a type that was found to have an order"))
        };
        let counts = |name: &str| -> Result<Vec<u32>> {
            let counts = file.all_u32(name)?;
            Ok(rows.iter().map(|&row| counts[row as usize]).collect())
        };
        let mut index = ZoneMapIndex {
            rows_per_zone: file.number("rows_per_zone", DEFAULT_ROWS_PER_ZONE)?,
            min: ordered(file.read_all(&min)?)?,
            max: ordered(file.read_all(&max)?)?,
            null_counts: counts("null_count")?,
            nan_counts: counts("nan_count")?,
            is_plain: false,
            null_rows: file.rows_of_buffer(zones::NULLS)?,
            data_type: min.data_type.clone(),
            zones,
        };
        for (position, zone) in index.zones.iter().enumerate() {
            let (nulls, nans) = (index.null_counts[position], index.nan_counts[position]);
            let (min, max) = (index.min.get(position), index.max.get(position));
            let wrong = if u64::from(nulls.max(nans)) > zone.len {
                format!("expected at most {} nulls and NaNs, found {nulls} and {nans}", zone.len)
            } else if min.is_some() && max.is_some() && min > max {
                "expected a minimum that is not above the maximum".into()
            } else {
                continue;
            };
            return Err(file.corrupt_row(rows[position] as usize, wrong));
        }
        let zones = 0..index.zones.len();
        index.is_plain = index.nan_counts.iter().all(|&nans| nans == 0)
            && zones.clone().all(|zone| !index.min.is_null(zone) && !index.max.is_null(zone));
        Ok(index)
    }

    /// Whether every zone has bounds, and none has a NaN: then the bounds say all.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The type of the values.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Live rows of a zone when it was cut.
    pub fn rows_per_zone(&self) -> u64 {
        self.rows_per_zone
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

    /// The smallest value of each zone that is no NaN, in the order of [`zones`](Self::zones).
    pub fn min(&self) -> &Keys {
        &self.min
    }

    /// The largest value of each zone, a NaN if any value is one.
    pub fn max(&self) -> &Keys {
        &self.max
    }

    /// The number of NULLs of each zone.
    pub fn null_counts(&self) -> &[u32] {
        &self.null_counts
    }

    /// The number of NaNs of each zone.
    pub fn nan_counts(&self) -> &[u32] {
        &self.nan_counts
    }

    /// The NULL rows; `None` if only their number in each zone is known.
    pub fn null_rows(&self) -> Option<&RowAddressSet> {
        self.null_rows.as_ref()
    }
}
