//! The last part of a vector, if it is not a whole one. NEON reads no lanes under a mask, so a whole part is read that
//! ends with the vector, and the elements that were met before are set to zero. A vector shorter than one part is
//! copied.
//!
//! ```text
//! vector   [ part 0 | part 1 | e e e ]
//! read                  [ x x x e e e ]
//! kept                  [ 0 0 0 e e e ]
//! ```

use core::{arch::aarch64::*, mem::MaybeUninit};

/// How many elements a vector has, and how many of them follow its last whole part.
pub(super) type Tail = (usize, usize);

/// Bytes of a register.
const REGISTER: usize = 16;
/// Bytes of the longest part.
const PART: usize = 2 * REGISTER;

/// From each place below [`PART`] on a mask of a part, which keeps what follows its first bytes.
static MASKS: [u8; 2 * PART] = {
    let mut masks = [0; 2 * PART];
    let mut kept = PART;
    while kept < masks.len() {
        masks[kept] = 0xff;
        kept += 1;
    }
    masks
};

/// Reads the elements that follow the last whole part of a vector, with zeros before or after them.
///
/// # Safety
/// `vector` has `len` elements, `rest` of which follow whole parts of `N`; all zeros are a `T`.
#[inline(always)]
pub(super) unsafe fn tail<T: Copy, const N: usize>(vector: *const T, (len, rest): Tail) -> [T; N] {
    const { assert!(size_of::<[T; N]>() <= PART && size_of::<[T; N]>().is_multiple_of(REGISTER)) };
    // SAFETY: the caller's promise: what is read ends with the vector and begins in it. At most a whole part is left
    // out, so the mask begins in the first half of the masks, and it is no longer than the second. Whole registers
    // make up the part, so all of it is written.
    unsafe {
        if len < N {
            return copied(vector, len);
        }
        let mut part = MaybeUninit::<[T; N]>::uninit();
        let (from, to) = (vector.add(len - N).cast::<u8>(), part.as_mut_ptr().cast::<u8>());
        let mask = MASKS.as_ptr().add(PART - (N - rest) * size_of::<T>());
        for at in (0..size_of::<[T; N]>()).step_by(REGISTER) {
            vst1q_u8(to.add(at), vandq_u8(vld1q_u8(from.add(at)), vld1q_u8(mask.add(at))));
        }
        part.assume_init()
    }
}

/// A vector shorter than a part, with zeros after it.
///
/// # Safety
/// `vector` has `len` elements, at most `N`; all zeros are a `T`.
#[cold]
#[inline(never)]
unsafe fn copied<T: Copy, const N: usize>(vector: *const T, len: usize) -> [T; N] {
    let mut part = MaybeUninit::<[T; N]>::zeroed();
    // SAFETY: the caller's promise.
    unsafe {
        part.as_mut_ptr().cast::<T>().copy_from_nonoverlapping(vector, len);
        part.assume_init()
    }
}

/// What all vectors here share: the lanes that follow the last whole part.
macro_rules! tails {
    ($element:ty, $lanes:literal) => {
        type Element = $element;
        type Tail = super::tail::Tail;
        const LANES: usize = $lanes;

        #[inline(always)]
        unsafe fn tail(dim: usize) -> Self::Tail {
            (dim, dim % $lanes)
        }
        #[inline(always)]
        unsafe fn load_tail(vector: *const $element, tail: Self::Tail) -> Self {
            // SAFETY: the caller's promise; `tail` returns as many elements as a whole part has.
            unsafe { Self::load(super::tail::tail::<$element, $lanes>(vector, tail).as_ptr()) }
        }
    };
}
pub(super) use tails;
