#![no_main]

lancet_fuzz::fuzz!("row_addresses");
