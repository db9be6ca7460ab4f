#![no_main]

lancet_fuzz::fuzz!("planner");
