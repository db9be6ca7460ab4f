#![no_main]

lancet_fuzz::fuzz!("index_ivf");
