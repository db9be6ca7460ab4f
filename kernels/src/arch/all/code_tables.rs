//! Tables of distances to codewords, for registers of f32: 16 codewords or 64 and more are summed up side by side.

/// Defines `squared` and `products`, as [`Kernels`](crate::codes::Kernels) has them, under the target features
/// `$features`: for registers of `$lanes` numbers, of which `$many` hold sums at a time. Every operation is rounded, so
/// that the sums are those of all instruction sets.
macro_rules! code_tables {
    (
        $features:literal, $lanes:literal, $many:literal,
        $set:path, $load:path, $store:path, $add:path, $sub:path, $mul:path
    ) => {
        #[target_feature(enable = $features)]
        pub(super) fn squared(vector: &[f32], width: usize, words: &[f32], out: &mut [f32]) {
            each_part::<false>(vector, width, words, out);
        }

        #[target_feature(enable = $features)]
        pub(super) fn products(vector: &[f32], width: usize, words: &[f32], out: &mut [f32]) {
            each_part::<true>(vector, width, words, out);
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn each_part<const PRODUCT: bool>(vector: &[f32], width: usize, words: &[f32], out: &mut [f32]) {
            if width == 0 {
                return out.fill(if PRODUCT { 1.0 } else { 0.0 });
            }
            let count = out.len() / (vector.len() / width).max(1);
            let parts = vector.chunks_exact(width).zip(words.chunks_exact(count * width));
            if count == 16 {
                // So little is done for a part that finding where it lies would take longer.
                for ((part, words), out) in parts.zip(out.as_chunks_mut::<16>().0) {
                    let (words, out) = (words.as_chunks::<$lanes>().0, out.as_chunks_mut::<$lanes>().0);
                    if let Some(out) = out.first_chunk_mut() {
                        sum::<PRODUCT, { 16 / $lanes }>(part, words, 16 / $lanes, 0, out);
                    }
                }
                return;
            }
            for ((part, words), out) in parts.zip(out.chunks_exact_mut(count)) {
                let (words, out) = (words.as_chunks::<$lanes>().0, out.as_chunks_mut::<$lanes>().0);
                let (many, few) = out.as_chunks_mut::<$many>();
                for (i, out) in many.iter_mut().enumerate() {
                    sum::<PRODUCT, $many>(part, words, count / $lanes, i * $many, out);
                }
                for (i, out) in few.as_chunks_mut::<{ 16 / $lanes }>().0.iter_mut().enumerate() {
                    sum::<PRODUCT, { 16 / $lanes }>(part, words, count / $lanes, i * (16 / $lanes), out);
                }
            }
        }

        /// Writes the sums of the codewords in the `N` registers from `at` on, of `count`.
        #[inline]
        #[target_feature(enable = $features)]
        fn sum<const PRODUCT: bool, const N: usize>(
            part: &[f32],
            words: &[[f32; $lanes]],
            count: usize,
            at: usize,
            out: &mut [[f32; $lanes]; N],
        ) {
            let mut sums = [$set(0.0); N];
            for (&x, words) in part.iter().zip(words.chunks_exact(count)) {
                let x = $set(x);
                for (sum, word) in sums.iter_mut().zip(&words[at..][..N]) {
                    // SAFETY: the numbers are as many as the register takes.
                    let word = unsafe { $load(word.as_ptr()) };
                    let term = if PRODUCT {
                        $mul(x, word)
                    } else {
                        let difference = $sub(x, word);
                        $mul(difference, difference)
                    };
                    *sum = $add(*sum, term);
                }
            }
            for (out, sum) in out.iter_mut().zip(sums) {
                let sum = if PRODUCT { $sub($set(1.0), sum) } else { sum };
                // SAFETY: as many numbers are written as the register has.
                unsafe { $store(out.as_mut_ptr(), sum) };
            }
        }
    };
}
pub(crate) use code_tables;
