//! [`Isa`]: the instruction set that the kernels use, chosen once per process.
//!
//! A family of kernels keeps one table of function pointers per instruction set; [`Isa::current`] picks the table.
//! What is written for no instruction set in particular is [`Isa::Portable`], which every machine has.
//!
//! ```text
//! LANCET_ISA / Isa::force ──┐
//!                           ├──▶ Isa::current() ──▶ table of the family ──▶ kernel
//! what the machine has ─────┘
//! ```

use core::{
    fmt,
    str::FromStr,
    sync::atomic::{AtomicU8, Ordering},
};

/// A set of instructions that kernels are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Isa {
    /// What every machine of the target can do.
    Portable = 1,
    /// x86-64 with AVX2, FMA, F16C, BMI1, BMI2 and POPCNT.
    Avx2,
    /// x86-64 with AVX-512 F, BW, VL and DQ, besides [`Avx2`](Isa::Avx2). VNNI, VBMI, VPOPCNTDQ and BF16 are used
    /// where they are there.
    Avx512,
    /// aarch64, all of which have NEON. Dot products of bytes and widening products of f16 are used where they are
    /// there.
    Neon,
}

/// The instruction set in use; 0 until the first kernel asks.
static CURRENT: AtomicU8 = AtomicU8::new(0);

impl Isa {
    /// All of them, the plainest first.
    pub const ALL: [Isa; 4] = [Isa::Portable, Isa::Avx2, Isa::Avx512, Isa::Neon];

    /// The sets that this machine has, the plainest first.
    pub fn available() -> impl Iterator<Item = Isa> {
        Self::ALL.into_iter().filter(|isa| isa.is_available())
    }

    /// Whether this machine has the set.
    pub fn is_available(self) -> bool {
        match self {
            Isa::Portable => true,
            Isa::Avx2 => detect::avx2(),
            Isa::Avx512 => detect::avx512(),
            Isa::Neon => cfg!(target_arch = "aarch64"),
        }
    }

    /// The set in use: what [`force`](Self::force) said, else, with the feature `std`, what the environment
    /// variable `LANCET_ISA` says if the machine has it, else the best that the machine has.
    #[inline]
    pub fn current() -> Isa {
        match CURRENT.load(Ordering::Relaxed) {
            1 => Isa::Portable,
            2 => Isa::Avx2,
            3 => Isa::Avx512,
            4 => Isa::Neon,
            _ => Self::choose(),
        }
    }

    /// Makes all kernels of this process use `isa`: for tests and measurements.
    ///
    /// # Errors
    /// If this machine does not have it.
    pub fn force(isa: Isa) -> Result<(), Unavailable> {
        if !isa.is_available() {
            return Err(Unavailable(isa));
        }
        CURRENT.store(isa as u8, Ordering::Relaxed);
        Ok(())
    }

    #[cold]
    fn choose() -> Isa {
        let best = Self::available().last().unwrap_or(Isa::Portable);
        let isa = asked_for().filter(|isa| isa.is_available()).unwrap_or(best);
        // Two threads that come here at once choose the same; a set forced meanwhile stays.
        let _ = CURRENT.compare_exchange(0, isa as u8, Ordering::Relaxed, Ordering::Relaxed);
        Self::current()
    }

    /// The name that `LANCET_ISA` knows it by.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable => "portable",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
            Isa::Neon => "neon",
        }
    }
}

#[cfg(feature = "std")]
fn asked_for() -> Option<Isa> {
    std::env::var("LANCET_ISA").ok()?.parse().ok()
}

#[cfg(not(feature = "std"))]
fn asked_for() -> Option<Isa> {
    None
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Isa {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Isa, Unknown> {
        Self::ALL.into_iter().find(|isa| isa.name() == name).ok_or(Unknown)
    }
}

/// The name of no instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unknown;

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected an instruction set: portable, avx2, avx512 or neon")
    }
}

impl core::error::Error for Unknown {}

/// An instruction set that this machine does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unavailable(pub Isa);

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this machine does not have the instruction set {}", self.0)
    }
}

impl core::error::Error for Unavailable {}

/// Instructions beyond [`Isa::Avx512`] or [`Isa::Neon`] that kernels use where this machine has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extensions {
    /// AVX-512: products of bytes, summed in fours to 32 bits.
    pub vnni: bool,
    /// AVX-512: permutations of bytes within and across registers.
    pub vbmi: bool,
    /// AVX-512: bytes moved together that a mask keeps.
    pub vbmi2: bool,
    /// AVX-512: counts of set bits.
    pub vpopcntdq: bool,
    /// AVX-512: products of bf16 numbers, summed in pairs to f32.
    pub bf16: bool,
    /// aarch64: products of bytes, summed in fours to 32 bits (FEAT_DotProd).
    pub dotprod: bool,
    /// aarch64: products of f16 numbers, summed to f32 (FEAT_FHM).
    pub fhm: bool,
}

impl Extensions {
    /// Those of this machine; those of x86-64 only with AVX-512. On aarch64 it takes the feature `std` to find what
    /// the program is not compiled for.
    pub fn available() -> Self {
        Extensions {
            vnni: detect::vnni(),
            vbmi: detect::vbmi(),
            vbmi2: detect::vbmi2(),
            vpopcntdq: detect::vpopcntdq(),
            bf16: detect::bf16(),
            dotprod: detect::dotprod(),
            fhm: detect::fhm(),
        }
    }
}

/// What this machine has. It has nothing of other architectures.
mod detect {
    #[cfg(target_arch = "aarch64")]
    pub(super) use crate::arch::aarch64::detect::*;
    #[cfg(target_arch = "x86_64")]
    pub(super) use crate::arch::x86_64::detect::*;

    macro_rules! no {
        ($($name:ident)*) => { $(pub(super) fn $name() -> bool { false })* };
    }
    #[cfg(not(target_arch = "x86_64"))]
    no!(avx2 avx512 vnni vbmi vbmi2 vpopcntdq bf16);
    #[cfg(not(target_arch = "aarch64"))]
    no!(dotprod fhm);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for isa in Isa::ALL {
            assert_eq!(isa.name().parse(), Ok(isa));
        }
        assert_eq!("sse9".parse::<Isa>(), Err(Unknown));
    }

    #[test]
    fn only_what_the_machine_has_is_in_use() {
        assert!(Isa::current().is_available());
        for isa in Isa::ALL {
            assert_eq!(Isa::force(isa).is_ok(), Isa::available().any(|other| other == isa));
        }
    }
}
