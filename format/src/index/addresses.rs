//! Sets of rows: a Roaring bitmap for each fragment.
//!
//! ```text
//! u32 count | count × { u32 fragment, ascending | u32 size | size bytes: bitmap of the offsets }
//!                                                 0: all rows of the fragment
//! ```
//! Where rows are named by id, a fragment is the upper half of the ids.

use crate::{Result, cursor::Cursor, ensure, table::Roaring};
use alloc::{format, vec::Vec};
use bytes::Bytes;
use core::fmt;

/// The fewest bytes of an entry.
const MIN_ENTRY: usize = 8;

/// A set of row ids or addresses, checked once and used where it lies in its file.
#[derive(Clone, Default)]
pub struct RowAddresses {
    fragments: Vec<(u32, FragmentRows)>,
}

/// The rows of one fragment in a set.
#[derive(Debug, Clone)]
pub enum FragmentRows {
    /// Every row, however many the fragment has.
    All,
    /// The rows with these offsets.
    Some(Roaring),
}

impl RowAddresses {
    /// Checks a whole set, of which nothing may be left over. Shares the bytes.
    ///
    /// # Errors
    /// Corrupt, with the position in `bytes`.
    pub fn parse(bytes: &Bytes) -> Result<Self> {
        Self::parse_entries(bytes).map_err(|error| error.within("set of rows"))
    }

    fn parse_entries(bytes: &Bytes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, 0);
        let count = cursor.u32("number of fragments")? as usize;
        let room = cursor.remaining() / MIN_ENTRY;
        ensure!(count <= room, "expected at most {room} fragments, found {count}");
        let mut fragments: Vec<(u32, FragmentRows)> = Vec::with_capacity(count);
        for _ in 0..count {
            let fragment = cursor.u32("fragment")?;
            let ascends = fragments.last().is_none_or(|(last, _)| *last < fragment);
            ensure!(ascends, "expected ascending fragments, found {fragment}");
            let size = cursor.u32("size of a bitmap")? as usize;
            let start = cursor.consumed();
            cursor.take(size, "bitmap")?;
            let rows = match size {
                0 => FragmentRows::All,
                _ => FragmentRows::Some(
                    Roaring::parse(&bytes.slice(start..start + size))
                        .map_err(|error| error.within(format!("fragment {fragment}")))?,
                ),
            };
            fragments.push((fragment, rows));
        }
        let rest = cursor.remaining();
        ensure!(rest == 0, "expected its end at byte {}, found {rest} more bytes", cursor.consumed());
        Ok(RowAddresses { fragments })
    }

    /// The fragments in ascending order, each with its rows, of which there may be none.
    pub fn fragments(&self) -> impl ExactSizeIterator<Item = (u32, &FragmentRows)> {
        self.fragments.iter().map(|(fragment, rows)| (*fragment, rows))
    }

    /// Whether the row is in the set.
    pub fn contains(&self, address: u64) -> bool {
        let found = self.fragments.binary_search_by_key(&((address >> 32) as u32), |(fragment, _)| *fragment);
        found.is_ok_and(|index| match &self.fragments[index].1 {
            FragmentRows::All => true,
            FragmentRows::Some(rows) => rows.contains(address as u32),
        })
    }

    /// How many rows; `None` if all rows of some fragment are in the set, whatever their number.
    pub fn len(&self) -> Option<u64> {
        self.fragments.iter().try_fold(0, |sum, (_, rows)| match rows {
            FragmentRows::All => None,
            FragmentRows::Some(rows) => Some(sum + rows.len()),
        })
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
}

impl fmt::Debug for RowAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.len() {
            Some(len) => write!(f, "RowAddresses({len} rows)"),
            None => write!(f, "RowAddresses(whole fragments)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows 0 and 1 of fragment 0 and row 0 of fragment 1 have 5, 5 and 7; row 2 of fragment 0 has NULL.
    const FIVE: &[u8] = b"\x01\0\0\0\0\0\0\0\x14\0\0\0\x3a\x30\0\0\x01\0\0\0\0\0\x01\0\x10\0\0\0\0\0\x01\0";
    const NULL: &[u8] = b"\x01\0\0\0\0\0\0\0\x12\0\0\0\x3a\x30\0\0\x01\0\0\0\0\0\0\0\x10\0\0\0\x02\0";
    const SEVEN: &[u8] = b"\x01\0\0\0\x01\0\0\0\x12\0\0\0\x3a\x30\0\0\x01\0\0\0\0\0\0\0\x10\0\0\0\0\0";

    fn rows(bytes: &'static [u8]) -> Vec<u64> {
        let set = RowAddresses::parse(&Bytes::from_static(bytes)).unwrap();
        let rows = set.fragments().flat_map(|(fragment, rows)| match rows {
            FragmentRows::All => panic!("no whole fragment"),
            FragmentRows::Some(rows) => {
                rows.iter().map(|row| u64::from(fragment) << 32 | u64::from(row)).collect::<Vec<_>>()
            }
        });
        let rows: Vec<u64> = rows.collect();
        assert_eq!(set.len(), Some(rows.len() as u64));
        assert!(rows.iter().all(|row| set.contains(*row) && !set.contains(row ^ 1 << 40)));
        rows
    }

    #[test]
    fn reads_real_bytes() {
        assert_eq!(rows(FIVE), [0, 1]);
        assert_eq!(rows(NULL), [2]);
        assert_eq!(rows(SEVEN), [1 << 32]);
        assert!(RowAddresses::parse(&Bytes::from_static(&[0; 4])).unwrap().is_empty());
        // A fragment without rows.
        assert_eq!(rows(b"\x01\0\0\0\x07\0\0\0\x08\0\0\0\x3a\x30\0\0\0\0\0\0"), []);
    }

    #[test]
    fn whole_fragments_have_every_row() {
        let set = RowAddresses::parse(&Bytes::from_static(b"\x01\0\0\0\x03\0\0\0\0\0\0\0")).unwrap();
        assert!(set.contains(3 << 32 | 99) && !set.contains(99));
        assert_eq!((set.len(), set.is_empty()), (None, false));
    }

    #[test]
    fn refuses_damage() {
        for len in 0..FIVE.len() {
            assert!(RowAddresses::parse(&Bytes::from_static(&FIVE[..len])).is_err(), "{len}");
        }
        let with = |at: usize, byte: u8| {
            let mut bytes = [FIVE, &SEVEN[4..]].concat();
            bytes[0] = 2;
            bytes[at] = byte;
            RowAddresses::parse(&bytes.into())
        };
        assert!(with(0, 2).is_ok());
        assert!(with(0, 1).is_err(), "bytes left over");
        assert!(with(3, 0xff).is_err(), "count");
        assert!(with(32, 0).is_err(), "fragments");
        assert!(with(8, 0x15).is_err(), "size");
        assert!(with(11, 0xff).is_err(), "huge size");
        assert!(with(12, 0x3b).is_err(), "cookie");
    }
}
