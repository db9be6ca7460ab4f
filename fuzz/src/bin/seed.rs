//! Makes first inputs for all targets: `seed FIXTURES CORPORA`, each by default where this package keeps them.

use std::{env, io, path::PathBuf};

fn main() -> io::Result<()> {
    let mut folders = env::args_os().skip(1).map(PathBuf::from);
    let own = |name| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name);
    let fixtures = folders.next().unwrap_or_else(|| own("../fixtures"));
    let corpora = folders.next().unwrap_or_else(|| own("corpus"));
    let written = lancet_fuzz::seeds::write(&fixtures, &corpora)?;
    println!("{written} seeds in {}", corpora.display());
    Ok(())
}
