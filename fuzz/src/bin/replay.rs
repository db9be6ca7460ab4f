//! Runs the targets over stored inputs, without libFuzzer: `replay FOLDER…`, each with a folder for each target.

use std::{env, fs, io, path::PathBuf};

fn main() -> io::Result<()> {
    let mut count = 0;
    for folder in env::args_os().skip(1).map(PathBuf::from) {
        for target in lancet_fuzz::names() {
            let own = folder.join(target);
            if !own.is_dir() {
                continue;
            }
            for entry in fs::read_dir(own)? {
                let path = entry?.path();
                let input = fs::read(&path)?;
                if std::panic::catch_unwind(|| lancet_fuzz::run(target, &input)).is_err() {
                    return Err(io::Error::other(format!("{target}: a fault with {}", path.display())));
                }
                count += 1;
            }
        }
    }
    println!("{count} inputs read");
    Ok(())
}
