#![no_main]

lancet_fuzz::fuzz!("filter");
