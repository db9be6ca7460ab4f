//! Sorted lists into one.

use super::Hit;
use alloc::vec::Vec;

/// Appends the first `k` hits of all `lists`, each ascending, to `out`, ascending. Equal hits stay as they are.
///
/// What is left of each list, in any order, is in `lists` afterwards.
pub fn merge(lists: &mut [&[Hit]], k: usize, out: &mut Vec<Hit>) {
    // A heap: no list's first hit is before that of its parent, and empty lists come last.
    for at in (0..lists.len() / 2).rev() {
        sift_down(lists, at);
    }
    for _ in 0..k {
        let Some((first, rest)) = lists.first().and_then(|list| list.split_first()) else { return };
        out.push(*first);
        lists[0] = rest;
        sift_down(lists, 0);
    }
}

/// Moves a list down until its first hit is not after that of a child.
fn sift_down(lists: &mut [&[Hit]], mut at: usize) {
    loop {
        let mut child = 2 * at + 1;
        if child + 1 < lists.len() && is_before(lists[child + 1], lists[child]) {
            child += 1;
        }
        if child >= lists.len() || !is_before(lists[child], lists[at]) {
            return;
        }
        lists.swap(at, child);
        at = child;
    }
}

fn is_before(a: &[Hit], b: &[Hit]) -> bool {
    match (a.first(), b.first()) {
        (Some(a), Some(b)) => a < b,
        (a, _) => a.is_some(),
    }
}
