//! What the machine can do in registers of 512 bits.

crate::arch::all::roofline::probes!(super::distance::F32Lanes, "avx512f,avx2,fma");
