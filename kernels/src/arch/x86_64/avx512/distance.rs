//! Distances, with AVX-512.
