//! Sets of 64-bit numbers: a Roaring bitmap for each upper half.
//!
//! ```text
//! u64 count | count × { u32 upper half, ascending | bitmap of the lower halves }
//! ```

use super::Roaring;
use crate::{Error, Result, cursor::Cursor, ensure};
use alloc::{format, vec::Vec};
use bytes::Bytes;
use core::fmt;

/// The fewest bytes of an entry: an upper half and an empty bitmap.
const MIN_ENTRY: usize = 4 + 8;

/// A set of 64-bit numbers, row addresses for example, checked once and used in place.
#[derive(Clone, PartialEq, Eq)]
pub struct Treemap {
    parts: Vec<Part>,
    len: u64,
}

/// The numbers with one upper half.
#[derive(Clone, PartialEq, Eq)]
struct Part {
    upper: u32,
    /// How many numbers the parts before it hold.
    before: u64,
    set: Roaring,
}

impl Treemap {
    /// Checks a whole set, of which nothing may be left over. Shares the bytes.
    ///
    /// # Errors
    /// Corrupt, with the position in `bytes`.
    pub fn parse(bytes: &Bytes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, 0);
        let count = cursor.u64("set of addresses")?;
        let room = cursor.remaining() / MIN_ENTRY;
        let Some(count) = usize::try_from(count).ok().filter(|count| *count <= room) else {
            return Err(Error::corrupt(format!(
                "set of addresses: expected at most {room} bitmaps, found {count}"
            )));
        };
        let mut parts: Vec<Part> = Vec::with_capacity(count);
        let mut len = 0;
        for _ in 0..count {
            let upper = cursor.u32("upper half")?;
            let ascends = parts.last().is_none_or(|last| last.upper < upper);
            ensure!(ascends, "set of addresses: expected ascending upper halves, found {upper}");
            let rest = bytes.slice(cursor.consumed()..);
            let (set, size) = Roaring::parse_prefix(&rest, cursor.offset())?;
            cursor.take(size, "bitmap")?;
            let before = len;
            len += set.len();
            parts.push(Part { upper, before, set });
        }
        let rest = cursor.remaining();
        ensure!(rest == 0, "set of addresses: expected its end, found {rest} more bytes");
        Ok(Treemap { parts, len })
    }

    /// How many numbers.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The upper halves in ascending order, each with the lower halves that belong to it.
    pub fn parts(&self) -> impl Iterator<Item = (u32, &Roaring)> {
        self.parts.iter().map(|part| (part.upper, &part.set))
    }

    /// Whether `value` is in the set.
    pub fn contains(&self, value: u64) -> bool {
        let found = self.parts.binary_search_by_key(&((value >> 32) as u32), |part| part.upper);
        found.is_ok_and(|index| self.parts[index].set.contains(value as u32))
    }

    /// How many numbers of the set are less than `value`.
    pub fn rank(&self, value: u64) -> u64 {
        match self.parts.binary_search_by_key(&((value >> 32) as u32), |part| part.upper) {
            Ok(index) => self.parts[index].before + self.parts[index].set.rank(value as u32),
            Err(index) => self.parts.get(index).map_or(self.len, |next| next.before),
        }
    }

    /// The numbers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.parts()
            .flat_map(|(upper, set)| set.iter().map(move |low| u64::from(upper) << 32 | u64::from(low)))
    }
}

impl fmt::Debug for Treemap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Treemap({} numbers)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(parts: &[(u32, &[u32])]) -> Vec<u8> {
        let mut out = (parts.len() as u64).to_le_bytes().to_vec();
        for (upper, values) in parts {
            out.extend(upper.to_le_bytes());
            out.extend(&Roaring::from_sorted(values).as_bytes()[..]);
        }
        out
    }

    #[test]
    fn answers_like_a_plain_set() {
        let set = Treemap::parse(&encode(&[(0, &[1, 2, 9]), (4, &[0]), (7, &[5, u32::MAX])]).into()).unwrap();
        let values = [1, 2, 9, 4 << 32, 7 << 32 | 5, 7 << 32 | 0xffff_ffff];
        assert!(set.iter().eq(values));
        assert_eq!(set.len(), 6);
        for (index, value) in values.into_iter().enumerate() {
            assert!(set.contains(value) && !set.contains(value ^ 1 << 40));
            assert_eq!(set.rank(value), index as u64);
        }
        assert_eq!(set.rank(5 << 32), 4);
        assert_eq!(set.rank(u64::MAX), 6);
        assert_eq!(set.parts().map(|(upper, _)| upper).collect::<Vec<_>>(), [0, 4, 7]);
    }

    #[test]
    fn refuses_damage() {
        let bytes = encode(&[(0, &[1, 2, 9]), (4, &[0])]);
        for len in 0..bytes.len() {
            assert!(Treemap::parse(&Bytes::copy_from_slice(&bytes[..len])).is_err(), "{len}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(Treemap::parse(&longer.into()).is_err());
        let mut many = bytes;
        many[..8].fill(0xff);
        assert!(Treemap::parse(&many.into()).is_err());
        assert!(Treemap::parse(&encode(&[(4, &[0]), (4, &[1])]).into()).is_err());
    }
}
