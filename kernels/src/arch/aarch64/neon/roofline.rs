//! What the machine can do in registers of 128 bits.

crate::arch::all::roofline::probes!(super::distance::F32Lanes);
