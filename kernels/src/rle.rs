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
    let ((values, values_rest), (mut out, out_rest)) = (values.as_chunks::<W>(), out.as_chunks_mut::<W>());
    assert!(out_rest.is_empty(), "room for whole items of {W} bytes");
    if !values_rest.is_empty() || values.len() != lengths.len() || lengths.contains(&0) {
        return false;
    }
    let mut skip = skip;
    for (&value, &length) in values.iter().zip(lengths) {
        if skip == 0 && out.is_empty() {
            break;
        }
        let skipped = skip.min(length as usize);
        skip -= skipped;
        let (run, after) = out.split_at_mut((length as usize - skipped).min(out.len()));
        run.fill(value);
        out = after;
    }
    skip == 0 && out.is_empty()
}

/// Items in all runs; `None` if a length is zero.
pub fn total(lengths: &[u8]) -> Option<u64> {
    (!lengths.contains(&0)).then(|| lengths.iter().map(|&length| length as u64).sum())
}
