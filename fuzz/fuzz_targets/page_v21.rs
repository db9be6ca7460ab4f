#![no_main]

lancet_fuzz::fuzz!("page_v21");
