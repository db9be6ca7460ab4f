//! Searching a zone map: the zones whose bounds let a value in.
//!
//! With n rows, NULLs and NaNs of a zone counted:
//!
//! | zone | `= v` | a range | why |
//! |---|---|---|---|
//! | a bound is NULL, but n exceeds NULLs + NaNs | yes | yes | the writer knew no bounds |
//! | has a NaN | `v` is a NaN, or min ≤ v | an end is open or a NaN, or min lies below the upper | max hides the largest value; −NaN is below all |
//! | else | min ≤ v ≤ max | it meets [min, max] | |
//!
//! NULL is a row of the zone that matches `IS NULL` alone. What a zone map selects is a superset, but for NULLs if
//! it knows each of them. Of a zone without NULL and NaN whose bounds both lie in the range, every row is in it: such rows
//! need not be looked at.

use crate::{
    Answer, Query, RowSet,
    query::{RowsOf, union_of_addresses},
};
use alloc::{vec, vec::Vec};
use core::ops::Bound;
use lancet_format::{
    Key, KeyValues, Result, Scalar,
    index::{Zone, ZoneMapIndex},
};
use lancet_kernels::{compare, mask};

/// The rows that a query may select; `None` if a zone map does not serve it.
///
/// # Errors
/// None so far: all is in memory.
pub fn search(index: &ZoneMapIndex, query: &Query<'_>, rows_of: RowsOf<'_>) -> Result<Option<Answer>> {
    let mut rows = RowSet::new();
    if *query == Query::IsNull
        && let Some(nulls) = index.null_rows()
    {
        union_of_addresses(core::slice::from_ref(nulls), rows_of, &mut rows);
        return Ok(Some(Answer::Exact(rows)));
    }
    let Some(mut matching) = zones(index, query) else { return Ok(None) };
    let assign = |zones: &[usize], out: &mut RowSet| {
        assign_zones(zones.iter().map(|&position| &index.zones()[position]), rows_of, out);
    };
    assign(&matching, &mut rows);
    if let Some(bounds) = Bounds::of_query(query) {
        matching.retain(|&position| bounds.hold_all(index, position));
        if !matching.is_empty() {
            let mut least = RowSet::new();
            assign(&matching, &mut least);
            return Ok(Some(Answer::Between { least, most: rows }));
        }
    }
    Ok(Some(Answer::AtMost(rows)))
}

/// Makes `out` the rows of zones, which ascend, as far as their fragments have them.
pub(crate) fn assign_zones<'a>(zones: impl Iterator<Item = &'a Zone>, rows_of: RowsOf<'_>, out: &mut RowSet) {
    out.assign_ranges(zones.map(|zone| {
        let addresses = zone.addresses();
        let end = (u64::from(zone.fragment) << 32).saturating_add(rows_of(zone.fragment));
        addresses.start..addresses.end.min(end)
    }));
}

/// The positions of the zones that a query may select rows of; `None` if a zone map does not serve it.
pub fn zones(index: &ZoneMapIndex, query: &Query<'_>) -> Option<Vec<usize>> {
    let fits = |value: &Scalar<'_>| value.fits(index.data_type());
    let bound_fits = |bound: &Bound<Scalar<'_>>| match bound {
        Bound::Included(value) | Bound::Excluded(value) => fits(value),
        Bound::Unbounded => true,
    };
    let meeting = || Bounds::of_query(query).map(|bounds| bounds.meeting(index));
    let select = |holds: &dyn Fn(usize) -> bool| (0..index.zones().len()).filter(|&at| holds(at)).collect();
    Some(match query {
        Query::Equals(value) if fits(value) => meeting()?,
        Query::Range(lower, upper) if bound_fits(lower) && bound_fits(upper) => meeting()?,
        Query::IsIn(values) if values.iter().all(fits) => {
            select(&|position| values.iter().any(|value| Bounds::only(*value).may_meet(index, position)))
        }
        Query::StartsWith(prefix) if Scalar::Bytes(prefix).fits(index.data_type()) => {
            let key = Key::Bytes(prefix);
            let starts = |own: Key<'_>| matches!(own, Key::Bytes(bytes) if bytes.starts_with(prefix));
            select(&|position| match (index.min().get(position), index.max().get(position)) {
                (Some(min), Some(max)) => max >= key && (min <= key || starts(min)),
                _ => has_unknown(index, position),
            })
        }
        Query::IsNull => select(&|position| index.null_counts()[position] > 0),
        _ => return None,
    })
}

/// Whether a zone has values that are neither NULL nor NaN.
fn has_unknown(index: &ZoneMapIndex, position: usize) -> bool {
    let counted = u64::from(index.null_counts()[position]) + u64::from(index.nan_counts()[position]);
    index.zones()[position].len > counted
}

/// An interval of values.
struct Bounds<'a> {
    lower: Bound<Key<'a>>,
    upper: Bound<Key<'a>>,
    /// Whether a NaN may lie in it.
    with_nan: bool,
}

impl<'a> Bounds<'a> {
    fn of(lower: Bound<Scalar<'a>>, upper: Bound<Scalar<'a>>) -> Self {
        let is_open_or_nan = |bound: Bound<Scalar<'_>>| match bound {
            Bound::Included(value) | Bound::Excluded(value) => value.is_nan(),
            Bound::Unbounded => true,
        };
        Bounds {
            with_nan: is_open_or_nan(lower) || is_open_or_nan(upper),
            lower: lower.map(Scalar::key),
            upper: upper.map(Scalar::key),
        }
    }

    /// What a query for one interval asks for.
    fn of_query(query: &Query<'a>) -> Option<Self> {
        match query {
            Query::Equals(value) => Some(Self::only(*value)),
            Query::Range(lower, upper) => Some(Self::of(*lower, *upper)),
            _ => None,
        }
    }

    /// One value.
    fn only(value: Scalar<'a>) -> Self {
        Self::of(Bound::Included(value), Bound::Included(value))
    }

    /// The zones that may hold a value of the interval.
    fn meeting(&self, index: &ZoneMapIndex) -> Vec<usize> {
        match self.meeting_words(index) {
            Some(zones) => mask::ones(&zones).collect(),
            None => (0..index.zones().len()).filter(|&zone| self.may_meet(index, zone)).collect(),
        }
    }

    /// The same as a mask, of bounds that are words and say all: many zones at once.
    fn meeting_words(&self, index: &ZoneMapIndex) -> Option<Vec<u64>> {
        let word = |bound: Bound<Key<'_>>| {
            Some(match bound {
                Bound::Included(Key::Word(word)) => Bound::Included(word),
                Bound::Excluded(Key::Word(word)) => Bound::Excluded(word),
                Bound::Unbounded => Bound::Unbounded,
                _ => return None,
            })
        };
        let (KeyValues::Words(min), KeyValues::Words(max)) = (index.min().values(), index.max().values())
        else {
            return None;
        };
        let (lower, upper) = (word(self.lower)?, word(self.upper)?);
        if !index.is_plain() {
            return None;
        }
        let words = min.len().div_ceil(64);
        let (mut below, mut above) = (vec![0; words], vec![0; words]);
        compare::range(min, (Bound::Unbounded, upper), &mut below);
        compare::range(max, (lower, Bound::Unbounded), &mut above);
        mask::and(&mut below, &above);
        Some(below)
    }

    /// Whether a zone may hold a value of the interval.
    fn may_meet(&self, index: &ZoneMapIndex, position: usize) -> bool {
        let (min, max) = (index.min().get(position), index.max().get(position));
        let has_nan = index.nan_counts()[position] > 0;
        if has_nan && self.with_nan {
            return true;
        }
        match (min, max) {
            (Some(min), Some(max)) => self.meets_upper(min) && (has_nan || self.meets_lower(max)),
            _ => has_unknown(index, position),
        }
    }

    /// Whether all rows of a zone have values of the interval.
    fn hold_all(&self, index: &ZoneMapIndex, position: usize) -> bool {
        let (Some(min), Some(max)) = (index.min().get(position), index.max().get(position)) else {
            return false;
        };
        let others = index.null_counts()[position] | index.nan_counts()[position];
        others == 0 && self.meets_lower(min) && self.meets_upper(max)
    }

    /// Whether a value does not lie above the interval.
    fn meets_upper(&self, value: Key<'_>) -> bool {
        match self.upper {
            Bound::Included(upper) => value <= upper,
            Bound::Excluded(upper) => value < upper,
            Bound::Unbounded => true,
        }
    }

    /// Whether a value does not lie below the interval.
    fn meets_lower(&self, value: Key<'_>) -> bool {
        match self.lower {
            Bound::Included(lower) => value >= lower,
            Bound::Excluded(lower) => value > lower,
            Bound::Unbounded => true,
        }
    }
}
