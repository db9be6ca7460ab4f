#![no_main]

lancet_fuzz::fuzz!("deletion_arrow");
