//! How fast one thread can read memory: the limit that scans are held against.
//!
//! Probes over the same bytes, of which the best one counts: a plain sum, and a sum over eight streams at once, which
//! keeps more requests to memory in flight. The same with prefetches is [`lancet_kernels::roofline::read`], because
//! those need unsafe code; a numpy maximum is in `benches/peers/bandwidth.py`.

/// Sums all words in order.
pub fn sum(words: &[u64]) -> u64 {
    let (groups, rest) = words.as_chunks::<16>();
    let mut sums = [0u64; 16];
    for group in groups {
        for (sum, word) in sums.iter_mut().zip(group) {
            *sum = sum.wrapping_add(*word);
        }
    }
    sums.iter().chain(rest).fold(0, |all, word| all.wrapping_add(*word))
}

/// Sums all words, reading eight parts of them side by side.
pub fn sum_streams(words: &[u64]) -> u64 {
    const LINE: usize = 8;
    let (lines, rest) = words.as_chunks::<LINE>();
    let part = lines.len() / 8;
    let streams: [&[[u64; LINE]]; 8] = std::array::from_fn(|i| &lines[i * part..(i + 1) * part]);
    let mut sums = [[0u64; LINE]; 8];
    for at in 0..part {
        for (sum, stream) in sums.iter_mut().zip(&streams) {
            for (sum, word) in sum.iter_mut().zip(&stream[at]) {
                *sum = sum.wrapping_add(*word);
            }
        }
    }
    let tail = sum(lines[8 * part..].as_flattened()).wrapping_add(sum(rest));
    sums.as_flattened().iter().fold(tail, |all, word| all.wrapping_add(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_read_everything() {
        let words: Vec<u64> = (0..1000).map(|i| i * i).collect();
        let expected = words.iter().sum::<u64>();
        assert_eq!((sum(&words), sum_streams(&words)), (expected, expected));
    }
}
