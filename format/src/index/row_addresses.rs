//! Sets of rows of several fragments, as bitmap indices and lists of nulls keep them.
//!
//! ```text
//! u32 count | count × { u32 fragment, ascending | u32 size | size bytes: bitmap of the offsets }
//! ```
//!
//! A size of 0 stands for the whole fragment. Where rows have stable ids, `fragment` is the upper half of an id.

use crate::{Error, Result, cursor::Cursor, ensure, table::Roaring};
use alloc::{format, vec::Vec};
use bytes::Bytes;
use core::fmt;

/// The fewest bytes of an entry: one of a whole fragment.
const MIN_ENTRY: usize = 4 + 4;

/// A set of row addresses or ids, checked once and used in place.
#[derive(Clone, PartialEq, Eq)]
pub struct RowAddressSet {
    /// Each fragment with its offsets; no bitmap stands for all of them.
    fragments: Vec<(u32, Option<Roaring>)>,
}

impl RowAddressSet {
    /// Checks a whole set, of which nothing may be left over. Shares the bytes.
    ///
    /// # Errors
    /// Corrupt, with the position in `bytes`.
    pub fn parse(bytes: &Bytes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, 0);
        let count = cursor.u32("set of rows")? as usize;
        let room = cursor.remaining() / MIN_ENTRY;
        ensure!(count <= room, "set of rows: expected at most {room} fragments, found {count}");
        let mut fragments: Vec<(u32, Option<Roaring>)> = Vec::with_capacity(count);
        for _ in 0..count {
            let fragment = cursor.u32("fragment")?;
            let ascends = fragments.last().is_none_or(|(last, _)| *last < fragment);
            ensure!(ascends, "set of rows: expected ascending fragments, found {fragment}");
            let size = cursor.u32("bitmap size")? as usize;
            let rows = match size {
                0 => None,
                _ => {
                    let (at, start) = (cursor.offset(), cursor.consumed());
                    cursor.take(size, "bitmap")?;
                    let (rows, found) = Roaring::parse_prefix(&bytes.slice(start..start + size), at)?;
                    if found != size {
                        return Err(Error::corrupt(format!(
                            "expected a bitmap of {size} bytes, found {found}"
                        ))
                        .at(at));
                    }
                    Some(rows)
                }
            };
            fragments.push((fragment, rows));
        }
        let rest = cursor.remaining();
        ensure!(rest == 0, "set of rows: expected its end, found {rest} more bytes");
        Ok(RowAddressSet { fragments })
    }

    /// The fragments in ascending order, each with the offsets of its rows; `None` stands for all rows.
    pub fn fragments(&self) -> impl Iterator<Item = (u32, Option<&Roaring>)> {
        self.fragments.iter().map(|(fragment, rows)| (*fragment, rows.as_ref()))
    }

    /// How many rows; `None` if all rows of some fragment are in the set, whatever their number.
    pub fn len(&self) -> Option<u64> {
        self.fragments.iter().try_fold(0, |sum, (_, rows)| Some(sum + rows.as_ref()?.len()))
    }

    /// The bytes of memory that the set keeps.
    pub fn memory(&self) -> usize {
        let own = self.fragments.capacity() * size_of::<(u32, Option<Roaring>)>();
        self.fragments.iter().filter_map(|(_, rows)| rows.as_ref()).fold(own, |sum, rows| sum + rows.memory())
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Whether the row at `address` is in the set.
    pub fn contains(&self, address: u64) -> bool {
        let found = self.fragments.binary_search_by_key(&((address >> 32) as u32), |(fragment, _)| *fragment);
        found.is_ok_and(|index| {
            self.fragments[index].1.as_ref().is_none_or(|rows| rows.contains(address as u32))
        })
    }
}

impl fmt::Debug for RowAddressSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RowAddressSet({} fragments)", self.fragments.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(fragments: &[(u32, Option<&[u32]>)]) -> Vec<u8> {
        let mut out = (fragments.len() as u32).to_le_bytes().to_vec();
        for (fragment, rows) in fragments {
            let rows = rows.map(|rows| Roaring::from_sorted(rows).as_bytes().clone()).unwrap_or_default();
            out.extend(fragment.to_le_bytes());
            out.extend((rows.len() as u32).to_le_bytes());
            out.extend(rows);
        }
        out
    }

    #[test]
    fn finds_rows_of_fragments_and_whole_fragments() {
        let bytes = encode(&[(0, Some(&[1, 9])), (3, None), (4, Some(&[]))]);
        let set = RowAddressSet::parse(&bytes.into()).unwrap();
        for (address, is_in) in
            [(1, true), (2, false), (1 << 32 | 1, false), (3 << 32 | 77, true), (4 << 32, false)]
        {
            assert_eq!(set.contains(address), is_in, "{address}");
        }
        let fragments: Vec<_> =
            set.fragments().map(|(fragment, rows)| (fragment, rows.map(Roaring::len))).collect();
        assert_eq!(fragments, [(0, Some(2)), (3, None), (4, Some(0))]);
        assert_eq!((set.len(), set.is_empty()), (None, false));
        let partial = RowAddressSet::parse(&encode(&[(0, Some(&[1, 9])), (4, Some(&[7]))]).into());
        assert_eq!(partial.unwrap().len(), Some(3));
        let none = RowAddressSet::parse(&encode(&[]).into()).unwrap();
        assert_eq!((none.fragments().count(), none.is_empty()), (0, true));
    }

    #[test]
    fn reads_what_lance_wrote() {
        // Rows 0 and 1 of fragment 0, row 0 of fragment 1.
        let bytes = b"\x02\0\0\0\0\0\0\0\x14\0\0\0\x3a\x30\0\0\x01\0\0\0\0\0\x01\0\x10\0\0\0\0\0\x01\0\
                      \x01\0\0\0\x12\0\0\0\x3a\x30\0\0\x01\0\0\0\0\0\0\0\x10\0\0\0\0\0";
        let set = RowAddressSet::parse(&Bytes::from_static(bytes)).unwrap();
        assert!([0, 1, 1 << 32].into_iter().all(|address| set.contains(address)) && !set.contains(2));
    }

    #[test]
    fn refuses_damage() {
        let bytes = encode(&[(0, Some(&[1, 2, 9])), (4, Some(&[0]))]);
        for len in 0..bytes.len() {
            assert!(RowAddressSet::parse(&Bytes::copy_from_slice(&bytes[..len])).is_err(), "{len}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(RowAddressSet::parse(&longer.into()).is_err());
        let mut many = bytes.clone();
        many[..4].fill(0xff);
        assert!(RowAddressSet::parse(&many.into()).is_err());
        // A bitmap that ends before its entry does.
        let mut early = bytes;
        early[8] += 1;
        assert!(RowAddressSet::parse(&early.into()).is_err());
        assert!(RowAddressSet::parse(&encode(&[(4, None), (4, None)]).into()).is_err());
    }
}
