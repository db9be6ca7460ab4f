//! What the machine can do with no instruction set in particular.

crate::arch::all::roofline::probes!(super::distance::F32Lanes);
