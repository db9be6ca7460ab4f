//! Bytes and their meaning: the layouts of every file that a Lance dataset holds.
#![no_std]

extern crate alloc;
