//! Distances, with AVX2.
