//! Items of one width, picked by index.

/// Copies item `indices[i]` of `src` to item i of `dst`; items are `width` bytes each.
///
/// # Panics
///
/// If `dst.len() != indices.len() * width` or an item is past the end of `src`.
pub fn fixed(width: usize, src: &[u8], indices: &[u32], dst: &mut [u8]) {
    assert!(
        Some(dst.len()) == indices.len().checked_mul(width),
        "room for {} items of {width} bytes",
        indices.len()
    );
    match width {
        0 => {}
        1 => array::<1>(src, indices, dst),
        2 => array::<2>(src, indices, dst),
        4 => array::<4>(src, indices, dst),
        8 => array::<8>(src, indices, dst),
        16 => array::<16>(src, indices, dst),
        _ => {
            for (item, &index) in dst.chunks_exact_mut(width).zip(indices) {
                let start = width.checked_mul(index as usize).expect("the item is in the slice");
                item.copy_from_slice(&src[start..][..width]);
            }
        }
    }
}

fn array<const WIDTH: usize>(src: &[u8], indices: &[u32], dst: &mut [u8]) {
    let src = src.as_chunks::<WIDTH>().0;
    for (item, &index) in dst.as_chunks_mut().0.iter_mut().zip(indices) {
        *item = src[index as usize];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::{vec, vec::Vec};

    #[test]
    fn all_widths() {
        let mut random = Random(5);
        for width in 0..=40usize {
            // A last item that is cut off must not be picked, nor disturb the others.
            let src = random.bytes(20 * width + width.saturating_sub(1));
            let indices: Vec<u32> = (0..15).map(|_| random.below(20) as u32).collect();
            let mut dst = vec![0; 15 * width];
            fixed(width, &src, &indices, &mut dst);
            let items = indices.iter().flat_map(|&i| &src[i as usize * width..][..width]);
            assert!(dst.iter().eq(items), "width {width}");
        }
    }

    #[test]
    #[should_panic]
    fn item_past_the_end() {
        fixed(4, &[0; 11], &[2], &mut [0; 4]);
    }

    #[test]
    #[should_panic = "room for 2 items of 3 bytes"]
    fn wrong_room() {
        fixed(3, &[0; 9], &[0, 1], &mut [0; 7]);
    }
}
