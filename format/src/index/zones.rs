//! Zones: runs of rows of one fragment, of which an index keeps a summary.
//!
//! ```text
//! fragment_id: u64 | zone_start: u64 | zone_length: u64       one row a zone, in any order
//! metadata   null_bitmap: the number of a global buffer with the set of NULL rows; may be absent
//! ```
//! A zone is cut after so many live rows; it spans deleted ones too.

use super::files::IndexFile;
use crate::Result;
use alloc::{format, vec::Vec};
use core::ops::Range;

/// The key of the metadata that names the buffer with the set of NULL rows.
pub(super) const NULLS: &str = "null_bitmap";
/// Offsets of a fragment are below it.
const MAX_END: u64 = 1 << 32;

/// A run of rows of one fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Zone {
    /// The fragment's id; it may be gone.
    pub fragment: u32,
    /// The offset of the first row.
    pub start: u32,
    /// The number of rows, at least 1; `start + len` is at most 2³².
    pub len: u64,
}

impl Zone {
    /// The addresses of the rows.
    pub fn addresses(&self) -> Range<u64> {
        let start = u64::from(self.fragment) << 32 | u64::from(self.start);
        start..start.saturating_add(self.len)
    }
}

/// The zones of a file by fragment and start, with the row of the file that each comes from.
pub(super) fn read(file: &IndexFile) -> Result<(Vec<Zone>, Vec<u32>)> {
    let fragments = file.all_u64("fragment_id")?;
    let starts = file.all_u64("zone_start")?;
    let lengths = file.all_u64("zone_length")?;
    let mut zones = Vec::with_capacity(fragments.len());
    for (row, ((&fragment, &start), &len)) in fragments.iter().zip(&starts).zip(&lengths).enumerate() {
        let fits = len > 0 && start.checked_add(len).is_some_and(|end| end <= MAX_END);
        match (u32::try_from(fragment), u32::try_from(start)) {
            (Ok(fragment), Ok(start)) if fits => zones.push((Zone { fragment, start, len }, row as u32)),
            _ => {
                let message = format!(
                    "expected a zone of a fragment, found {len} rows at {start} of fragment {fragment}"
                );
                return Err(file.corrupt_row(row, message));
            }
        }
    }
    zones.sort_unstable();
    Ok(zones.into_iter().unzip())
}

/// The fragments of zones that are in order.
pub(super) fn fragments(zones: &[Zone]) -> impl Iterator<Item = u32> + '_ {
    zones.chunk_by(|a, b| a.fragment == b.fragment).map(|zones| zones[0].fragment)
}
