//! The logic of three values, over pairs of masks: where a row is true, and where it is known.
//!
//! ```text
//!           value  known
//! true        1      1
//! false       0      1
//! unknown     0      0        a bit in `value` without one in `known` is never there
//! ```
//!
//! [`hide_unknown`] makes such a pair of a comparison and the validity of its column. All slices of a call have the
//! same length, or it panics.

/// Clears the bits of `value` that are not `known`.
pub fn hide_unknown(value: &mut [u64], known: &[u64]) {
    super::and(value, known);
}

/// AND: false where either is false, else unknown where either is unknown.
pub fn and(value: &mut [u64], known: &mut [u64], other_value: &[u64], other_known: &[u64]) {
    combine(value, known, other_value, other_known, |a, a_known, b, b_known| {
        let is_false = a_known & !a | b_known & !b;
        (a & b, a & b | is_false)
    });
}

/// OR: true where either is true, else unknown where either is unknown.
pub fn or(value: &mut [u64], known: &mut [u64], other_value: &[u64], other_known: &[u64]) {
    combine(value, known, other_value, other_known, |a, a_known, b, b_known| {
        (a | b, a | b | a_known & b_known)
    });
}

/// NOT: what is known is inverted, and stays known.
pub fn not(value: &mut [u64], known: &[u64]) {
    assert_eq!(value.len(), known.len(), "words of two masks");
    for (value, &known) in value.iter_mut().zip(known) {
        *value = known & !*value;
    }
}

#[inline(always)]
fn combine(
    value: &mut [u64],
    known: &mut [u64],
    other_value: &[u64],
    other_known: &[u64],
    op: impl Fn(u64, u64, u64, u64) -> (u64, u64),
) {
    let words = value.len();
    let same = known.len() == words && other_value.len() == words && other_known.len() == words;
    assert!(same, "words of four masks");
    let others = other_value.iter().zip(other_known);
    for ((a, a_known), (&b, &b_known)) in value.iter_mut().zip(known).zip(others) {
        (*a, *a_known) = op(*a, *a_known, b, b_known);
    }
}
