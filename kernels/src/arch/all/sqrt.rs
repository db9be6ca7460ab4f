//! Square roots, which `core` does not have.

/// The square root, correctly rounded.
#[inline(always)]
pub(crate) fn sqrt(x: f32) -> f32 {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm_cvtss_f32, _mm_set_ss, _mm_sqrt_ss};
        #[allow(unused_unsafe)] // safe in functions that have the instructions
        // SAFETY: every x86-64 processor has SSE.
        unsafe {
            _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)))
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // A root that is right to 53 bits or nearly so rounds to the right one of 24 bits.
        sqrt_f64(f64::from(x)) as f32
    }
}

/// The square root, right to the last bit or the one before.
#[inline(always)]
pub(crate) fn sqrt_f64(x: f64) -> f64 {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm_cvtsd_f64, _mm_set_sd, _mm_setzero_pd, _mm_sqrt_sd};
        #[allow(unused_unsafe)] // safe in functions that have the instructions
        // SAFETY: every x86-64 processor has SSE2.
        unsafe {
            _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)))
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        use core::arch::aarch64::{vdup_n_f64, vget_lane_f64, vsqrt_f64};
        #[allow(unused_unsafe)] // safe in functions that have the instructions
        // SAFETY: every aarch64 processor has NEON.
        unsafe {
            vget_lane_f64::<0>(vsqrt_f64(vdup_n_f64(x)))
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        newton(x)
    }
}

/// Halves the exponent and improves what that gives; the bits right double with each step.
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn newton(x: f64) -> f64 {
    if x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 || x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x < f64::MIN_POSITIVE {
        let scale = f64::from_bits((1023 + 108) << 52); // 2^108, which makes a denormal normal
        return newton(x * scale) / f64::from_bits((1023 + 54) << 52);
    }
    let mut root = f64::from_bits((x.to_bits() >> 1) + (1023 << 51));
    for _ in 0..5 {
        root = 0.5 * (root + x / root);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, rounds};

    #[test]
    fn roots_are_right() {
        let mut random = Random(1);
        let special = [0.0, 1.0, 2.0, 4.0, f64::MIN_POSITIVE, 5e-324, 1e-310, f64::MAX, f64::INFINITY];
        let drawn = (0..rounds(10_000)).map(|_| f64::from_bits(random.word() >> 1));
        for x in special.into_iter().chain(drawn).filter(|x| !x.is_nan()) {
            for root in [newton(x), sqrt_f64(x)] {
                assert!(root.to_bits().abs_diff(x.sqrt().to_bits()) <= 1, "{x} {root}");
            }
            assert_eq!(sqrt(x as f32), (x as f32).sqrt());
            assert_eq!(newton(f64::from(x as f32)) as f32, (x as f32).sqrt());
        }
        assert!(newton(-1.0).is_nan() && sqrt(-1.0).is_nan() && newton(f64::NAN).is_nan());
    }
}
