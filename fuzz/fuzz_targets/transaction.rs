#![no_main]

lancet_fuzz::fuzz!("transaction");
