#![no_main]

lancet_fuzz::fuzz!("dataset");
