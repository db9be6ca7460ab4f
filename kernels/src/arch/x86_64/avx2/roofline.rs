//! What the machine can do in registers of 256 bits.

crate::arch::all::roofline::probes!(super::distance::F32Lanes, "avx2,fma");
