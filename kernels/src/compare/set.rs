//! [`Set`]: the members of an IN list.

use super::{block, item::Item};
use crate::isa::Isa;
use alloc::vec::Vec;
use core::ops::Bound;

/// Up to so many members are compared with all values, one after the other; more are searched for each value.
const FEW: usize = 64;

/// Values that are compared with each member while they are in the nearest cache.
const BLOCK: usize = 512;

/// The distinct members of an IN list, made once for a query.
///
/// NULL is no member: a row that equals none of the members of a list with NULL is not false but unknown, which the
/// caller says in the mask of validity.
#[derive(Debug, Clone)]
pub struct Set<T: Item> {
    /// Ascending.
    keys: Vec<T::Key>,
    /// A member for each key.
    members: Vec<T>,
}

impl<T: Item> Set<T> {
    /// A set of `members`, of which any may repeat.
    pub fn new(members: impl IntoIterator<Item = T>) -> Self {
        let mut members: Vec<T> = members.into_iter().collect();
        members.sort_unstable_by_key(|member| member.key());
        members.dedup_by_key(|member| member.key());
        Set { keys: members.iter().map(|member| member.key()).collect(), members }
    }

    /// The number of distinct members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Sets the bit of each row whose value is a member.
    ///
    /// # Panics
    /// If `mask` has not `values.len().div_ceil(64)` words.
    pub fn contains(&self, values: &[T], mask: &mut [u64]) {
        block::check(values.len(), mask);
        let isa = Isa::current();
        for (values, mask) in values.chunks(BLOCK).zip(mask.chunks_mut(BLOCK / 64)) {
            if self.len() <= FEW {
                self.compare_each(isa, values, mask);
            } else {
                for (word, values) in mask.iter_mut().zip(values.chunks(64)) {
                    let is_member = |i: usize| self.keys.binary_search(&values[i].key()).is_ok();
                    *word = block::bits(values.len(), 0, is_member);
                }
            }
        }
    }

    fn compare_each(&self, isa: Isa, values: &[T], mask: &mut [u64]) {
        mask.fill(0);
        let mut equal = [0; BLOCK / 64];
        let equal = &mut equal[..mask.len()];
        for &member in &self.members {
            T::within(isa, values, Bound::Included(member), Bound::Included(member), 0, equal);
            crate::mask::or(mask, equal);
        }
    }
}
