#![no_main]

lancet_fuzz::fuzz!("fragment_reuse");
