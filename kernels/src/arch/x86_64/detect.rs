//! What the processor can do and the operating system keeps: CPUID leaves 1 and 7, and XCR0.
//!
//! The bits are those of the Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CPUID.

use core::{
    arch::x86_64::{__cpuid, __cpuid_count, _xgetbv},
    sync::atomic::{AtomicU32, Ordering},
};

/// FMA, F16C, BMI1, BMI2, POPCNT and AVX2.
const AVX2: u32 = 1;
/// AVX-512 F, BW, VL and DQ, besides [`AVX2`].
const AVX512: u32 = 2;
const VNNI: u32 = 4;
const VBMI: u32 = 8;
const VPOPCNTDQ: u32 = 16;
const BF16: u32 = 32;
const VBMI2: u32 = 64;
/// The processor has been asked.
const ASKED: u32 = 1 << 31;

static FOUND: AtomicU32 = AtomicU32::new(0);

fn has(feature: u32) -> bool {
    let mut found = FOUND.load(Ordering::Relaxed);
    if found & ASKED == 0 {
        found = ask() | ASKED;
        FOUND.store(found, Ordering::Relaxed);
    }
    found & feature != 0
}

pub(crate) fn avx2() -> bool {
    has(AVX2)
}

pub(crate) fn avx512() -> bool {
    has(AVX512)
}

/// Products of bytes summed to 32 bits; only said to be there with [`avx512`], as all that follow.
pub(crate) fn vnni() -> bool {
    has(VNNI)
}

/// Permutations of bytes.
pub(crate) fn vbmi() -> bool {
    has(VBMI)
}

/// Bytes moved together that a mask keeps.
pub(crate) fn vbmi2() -> bool {
    has(VBMI2)
}

/// Set bits of 32- and 64-bit items.
pub(crate) fn vpopcntdq() -> bool {
    has(VPOPCNTDQ)
}

/// Products of pairs of bf16 summed to f32.
pub(crate) fn bf16() -> bool {
    has(BF16)
}

#[allow(unused_unsafe)] // later toolchains make CPUID safe to ask
fn ask() -> u32 {
    if cfg!(miri) {
        return 0; // an interpreter has no CPUID
    }
    let bit = |register: u32, bit: u32| register >> bit & 1 == 1;
    let all = |register: u32, bits: &[u32]| bits.iter().all(|&b| bit(register, b));
    // SAFETY: every x86-64 processor has CPUID with leaves 0 and 1.
    let (last, one) = unsafe { (__cpuid(0).eax, __cpuid(1)) };
    // AVX (28) and OSXSAVE (27), without which XGETBV is not there; F16C, FMA, POPCNT.
    if last < 7 || !all(one.ecx, &[28, 27, 29, 12, 23]) {
        return 0;
    }
    // SAFETY: leaf 7 is there, as was just checked.
    let (seven, seven_one) = unsafe {
        let seven = __cpuid_count(7, 0);
        (seven, if seven.eax >= 1 { __cpuid_count(7, 1).eax } else { 0 })
    };
    // SAFETY: OSXSAVE says that XGETBV is there and enabled.
    let kept = unsafe { xcr0() };
    if !all(kept as u32, &[1, 2]) || !all(seven.ebx, &[3, 5, 8]) {
        return 0; // the upper halves of the registers, or BMI1, AVX2, BMI2 are not there
    }
    if !all(kept as u32, &[5, 6, 7]) || !all(seven.ebx, &[16, 17, 30, 31]) {
        return AVX2;
    }
    let mut found = AVX2 | AVX512;
    for (there, feature) in [
        (bit(seven.ecx, 11), VNNI),
        (bit(seven.ecx, 1), VBMI),
        (bit(seven.ecx, 6), VBMI2),
        (bit(seven.ecx, 14), VPOPCNTDQ),
        (bit(seven_one, 5), BF16),
    ] {
        found |= if there { feature } else { 0 };
    }
    found
}

/// Which registers the operating system keeps for a thread.
///
/// # Safety
/// CPUID says OSXSAVE.
#[target_feature(enable = "xsave")]
unsafe fn xcr0() -> u64 {
    // SAFETY: the caller's promise.
    unsafe { _xgetbv(0) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn agrees_with_the_standard_library() {
        use std::arch::is_x86_feature_detected as std_has;
        assert_eq!(
            super::avx2(),
            std_has!("avx2") && std_has!("fma") && std_has!("f16c") && std_has!("bmi2")
        );
        assert_eq!(super::avx512(), std_has!("avx512f") && std_has!("avx512bw") && std_has!("avx512vl"));
        assert_eq!(super::vnni(), std_has!("avx512vnni"));
        assert_eq!(super::vbmi(), std_has!("avx512vbmi"));
        assert_eq!(super::vbmi2(), std_has!("avx512vbmi2"));
        assert_eq!(super::vpopcntdq(), std_has!("avx512vpopcntdq"));
        assert_eq!(super::bf16(), std_has!("avx512bf16"));
    }
}
