//! What the processor can do beyond NEON. Only the operating system knows, and only the standard library asks it: without
//! the feature `std`, what the program is compiled for is all there is.

/// Whether there is an extension, by the name that the compiler has for it.
macro_rules! has {
    ($name:tt) => {{
        #[cfg(feature = "std")]
        let there = std::arch::is_aarch64_feature_detected!($name);
        #[cfg(not(feature = "std"))]
        let there = cfg!(target_feature = $name);
        there && !cfg!(miri) // an interpreter has no assembly
    }};
}

/// Products of bytes summed to 32 bits: FEAT_DotProd.
pub(crate) fn dotprod() -> bool {
    has!("dotprod")
}

/// Products of f16 summed to f32: FEAT_FHM.
pub(crate) fn fhm() -> bool {
    has!("fhm")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn agrees_with_the_operating_system() {
        // SAFETY: asks for a number.
        let has = unsafe { libc::getauxval(libc::AT_HWCAP) };
        for (found, bit) in [(super::dotprod(), libc::HWCAP_ASIMDDP), (super::fhm(), libc::HWCAP_ASIMDFHM)] {
            let there = has & bit != 0;
            assert!(there || !found);
            assert!(found == there || cfg!(not(feature = "std")));
        }
    }
}
