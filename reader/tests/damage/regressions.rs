//! Inputs that fuzzing found faults with, in `fuzz/regressions/TARGET/`, read again.

use crate::targets;
use std::{fs, path::Path};

#[test]
fn regressions_stay_fixed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/regressions");
    let mut count = 0;
    for (target, _) in targets::ALL {
        for entry in fs::read_dir(root.join(target)).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            println!("{}", path.display());
            targets::run(target, &fs::read(&path).expect("a file"));
            count += 1;
        }
    }
    assert!(count > 0, "there are no regression inputs");
}
