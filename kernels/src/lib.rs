//! Arithmetic over slices: the innermost loops of lancet, and nothing that knows a file.
#![no_std]
