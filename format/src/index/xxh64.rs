//! XXH64, the hash of Bloom filters, with seed 0. Defined by <https://github.com/Cyan4973/xxHash>.

const P1: u64 = 0x9e37_79b1_85eb_ca87;
const P2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const P3: u64 = 0x1656_67b1_9e37_79f9;
const P4: u64 = 0x85eb_ca77_c2b2_ae63;
const P5: u64 = 0x27d4_eb2f_1656_67c5;

fn round(sum: u64, word: u64) -> u64 {
    sum.wrapping_add(word.wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1)
}

/// The hash of `bytes`.
pub(super) fn xxh64(bytes: &[u8]) -> u64 {
    let (stripes, _) = bytes.as_chunks::<32>();
    let mut hash = if stripes.is_empty() {
        P5
    } else {
        let mut sums = [P1.wrapping_add(P2), P2, 0, P1.wrapping_neg()];
        for stripe in stripes {
            for (sum, word) in sums.iter_mut().zip(stripe.as_chunks().0) {
                *sum = round(*sum, u64::from_le_bytes(*word));
            }
        }
        let [a, b, c, d] = sums;
        let hash = a.rotate_left(1).wrapping_add(b.rotate_left(7)).wrapping_add(c.rotate_left(12));
        let merge = |hash: u64, sum| (hash ^ round(0, sum)).wrapping_mul(P1).wrapping_add(P4);
        sums.into_iter().fold(hash.wrapping_add(d.rotate_left(18)), merge)
    };
    hash = hash.wrapping_add(bytes.len() as u64);
    let (words, mut rest) = bytes[stripes.len() * 32..].as_chunks();
    for word in words {
        hash ^= round(0, u64::from_le_bytes(*word));
        hash = hash.rotate_left(27).wrapping_mul(P1).wrapping_add(P4);
    }
    if let Some((half, after)) = rest.split_first_chunk() {
        hash ^= u64::from(u32::from_le_bytes(*half)).wrapping_mul(P1);
        hash = hash.rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
        rest = after;
    }
    for byte in rest {
        hash ^= u64::from(*byte).wrapping_mul(P5);
        hash = hash.rotate_left(11).wrapping_mul(P1);
    }
    hash = (hash ^ hash >> 33).wrapping_mul(P2);
    hash = (hash ^ hash >> 29).wrapping_mul(P3);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_as_the_reference_does() {
        assert_eq!(xxh64(b""), 0xef46_db37_51d8_e999);
        assert_eq!(xxh64(&5i32.to_le_bytes()), 0xc3d4_8b2f_79d2_b939);
        assert_eq!(xxh64(b"abc"), 0x44bc_2cf5_ad77_0999);
        assert_eq!(xxh64(b"Nobody inspects the spammish repetition"), 0xfbce_a83c_8a37_8bf1);
    }
}
