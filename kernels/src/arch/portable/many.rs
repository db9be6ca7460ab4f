//! Many-to-many kernels in plain Rust, over registers of four or two numbers, which compilers know how to make.

macro_rules! vector {
    ($name:ident, $item:ty, $lanes:literal) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $name([$item; $lanes]);

        impl $name {
            #[inline(always)]
            fn zip(self, other: Self, with: impl Fn($item, $item) -> $item) -> Self {
                $name(core::array::from_fn(|lane| with(self.0[lane], other.0[lane])))
            }
        }

        impl Vector for $name {
            type Item = $item;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(at: *const $item) -> Self {
                // SAFETY: the caller gives that many items.
                $name(unsafe { at.cast::<[$item; $lanes]>().read_unaligned() })
            }

            #[inline(always)]
            unsafe fn store(self, at: *mut $item) {
                // SAFETY: the caller gives room for that many items.
                unsafe { at.cast::<[$item; $lanes]>().write_unaligned(self.0) }
            }

            #[inline(always)]
            unsafe fn splat(item: $item) -> Self {
                $name([item; $lanes])
            }

            #[inline(always)]
            unsafe fn plus_product(self, a: Self, b: Self) -> Self {
                self.zip(a.zip(b, |a, b| a * b), |sum, product| sum + product)
            }

            #[inline(always)]
            unsafe fn max(self, other: Self) -> Self {
                self.zip(other, |a, b| if a > b { a } else { b })
            }

            #[inline(always)]
            unsafe fn min(self, other: Self) -> Self {
                self.zip(other, |a, b| if a < b { a } else { b })
            }

            #[inline(always)]
            unsafe fn select_greater(self, than: Self, then: Self, otherwise: Self) -> Self {
                $name(core::array::from_fn(|lane| {
                    if self.0[lane] > than.0[lane] { then.0[lane] } else { otherwise.0[lane] }
                }))
            }

            #[inline(always)]
            unsafe fn at_least(self, than: Self) -> u32 {
                (0..$lanes).fold(0, |bits, lane| bits | u32::from(self.0[lane] >= than.0[lane]) << lane)
            }

            #[inline(always)]
            unsafe fn pairwise_max(self, other: Self) -> Self {
                let item = |at: usize| if at < $lanes { self.0[at] } else { other.0[at - $lanes] };
                let larger = |a, b| if a > b { a } else { b };
                $name(core::array::from_fn(|lane| larger(item(2 * lane), item(2 * lane + 1))))
            }
        }
    };
}
vector!(F32x4, f32, 4);
vector!(F64x2, f64, 2);

crate::arch::all::many_kernels::entry_points!();

pub(crate) static F32: Kernels<f32> = table::<F32x4, 4, 2, 4, 2>();
pub(crate) static F64: Kernels<f64> = table::<F64x2, 4, 2, 4, 2>();
