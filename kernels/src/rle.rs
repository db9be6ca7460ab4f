//! Run-length encoding: value i repeats `lengths[i]` times, 1 to 255.

/// Writes items `skip ..` of the runs of `W`-byte `values` to `out`, as many as it holds.
///
/// Returns `false`, and leaves anything in `out`, if a length is zero, `values` and `lengths` hold different numbers
/// of runs, or the runs end before `out` does.
///
/// # Panics
///
/// If `W` is 0 or `out` does not hold whole items.
pub fn expand<const W: usize>(values: &[u8], lengths: &[u8], skip: usize, out: &mut [u8]) -> bool {
    /// So many items are written at once, whatever the length of a run that is no longer.
    const STEP: usize = 16;
    let ((values, values_rest), (out, out_rest)) = (values.as_chunks::<W>(), out.as_chunks_mut::<W>());
    assert!(out_rest.is_empty(), "room for whole items of {W} bytes");
    if !values_rest.is_empty() || values.len() != lengths.len() || lengths.contains(&0) {
        return false;
    }
    let mut runs = values.iter().zip(lengths);
    let (mut left, mut at) = (skip, 0);
    while left > 0 {
        let Some((&value, &length)) = runs.next() else { return false };
        let wanted = (length as usize).saturating_sub(left);
        let end = wanted.min(out.len());
        out[..end].fill(value);
        (left, at) = (left.saturating_sub(length as usize), wanted);
    }
    for (&value, &length) in runs {
        let length = length as usize;
        if at >= out.len() {
            break;
        }
        match out[at..].first_chunk_mut::<STEP>() {
            Some(room) if length <= STEP => *room = [value; STEP],
            _ => {
                let end = out.len().min(at + length);
                out[at..end].fill(value);
            }
        }
        at += length;
    }
    at >= out.len()
}

/// Items in all runs; `None` if a length is zero.
pub fn total(lengths: &[u8]) -> Option<u64> {
    (!lengths.contains(&0)).then(|| lengths.iter().map(|&length| length as u64).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, rounds};
    use std::{vec, vec::Vec};

    fn against_the_definition<const W: usize>() {
        let mut random = Random(W as u64);
        for _ in 0..rounds(300) {
            let runs = random.below(12);
            let (values, longest) = (random.bytes(runs * W), [3, 255][random.below(2)]);
            let lengths: Vec<u8> = (0..runs).map(|_| 1 + random.below(longest) as u8).collect();
            let all: Vec<&[u8]> = core::iter::zip(values.chunks_exact(W), &lengths)
                .flat_map(|(value, &length)| core::iter::repeat_n(value, length as usize))
                .collect();
            assert_eq!(total(&lengths), Some(all.len() as u64));

            let skip = random.below(all.len() + 1);
            let len = random.below(all.len() - skip + 1);
            let mut out = vec![0; len * W];
            assert!(expand::<W>(&values, &lengths, skip, &mut out));
            assert_eq!(out, all[skip..skip + len].concat());

            // To the very end, and one item further.
            let mut out = vec![0; (all.len() - skip) * W];
            assert!(expand::<W>(&values, &lengths, skip, &mut out));
            assert_eq!(out, all[skip..].concat());
            assert!(!expand::<W>(&values, &lengths, skip + 1, &mut out));
        }
    }

    #[test]
    fn all_widths() {
        against_the_definition::<1>();
        against_the_definition::<2>();
        against_the_definition::<4>();
        against_the_definition::<8>();
        against_the_definition::<16>();
    }

    #[test]
    fn example_of_the_format() {
        let mut out = [0; 512];
        assert!(expand::<1>(&[7, 7, 9], &[0xff, 0x2d, 0xd4], 0, &mut out));
        assert!(out[..300].iter().all(|&item| item == 7) && out[300..].iter().all(|&item| item == 9));
    }

    #[test]
    fn invalid_runs() {
        assert!(!expand::<1>(&[7, 9], &[3, 0], 0, &mut [0; 3]), "a length of zero");
        assert!(!expand::<1>(&[7, 9], &[3], 0, &mut [0; 3]), "two values, one length");
        assert!(!expand::<2>(&[7, 7, 9], &[3], 0, &mut [0; 6]), "half a value");
        assert!(!expand::<1>(&[7], &[3], usize::MAX, &mut [0; 3]), "far too short");
        assert_eq!(total(&[1, 0]), None);
    }

    #[test]
    fn nothing() {
        assert!(expand::<4>(&[], &[], 0, &mut []));
        assert_eq!(total(&[]), Some(0));
    }
}
