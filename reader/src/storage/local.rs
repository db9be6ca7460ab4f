//! Files of the local file system, mapped or read.

use super::{Bytes, Source, Storage};
use std::{
    fs::{self, File},
    io,
    sync::Arc,
    time::SystemTime,
};

/// Maps files into memory: the default.
///
/// A mapping assumes what Lance guarantees: a published file never changes, and a new one takes its place
/// only by a new name or a rename. Under that rule nothing can go wrong: a file that is deleted or renamed
/// while it is mapped stays readable. Where the rule is broken, a mapping cannot defend itself: if another
/// program truncates a mapped file, or a network file system loses it, touching the missing pages ends the
/// process with a bus error. For files on such storage use [`ReadWhole`], which fails with an error instead.
///
/// File descriptors are closed as soon as a file is mapped. How many files stay mapped at once is bounded by
/// [`OpenOptions::max_open_files`](crate::OpenOptions::max_open_files).
#[derive(Debug, Clone, Copy, Default)]
pub struct Mapped;

impl Storage for Mapped {
    fn open(&self, path: &str) -> io::Result<Arc<dyn Source>> {
        expect_file(path)?;
        let file = File::open(path)?;
        // SAFETY: The mapping is read only. Its bytes must not change while it lives; that published files
        // are immutable is the format's rule and the documented requirement of this type.
        let mapping = unsafe { memmap2::Mmap::map(&file)? };
        Ok(Arc::new(Bytes::from_owner(mapping)))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        list(folder)
    }

    fn modified(&self, folder: &str) -> io::Result<Option<SystemTime>> {
        modified(folder)
    }

    fn read(&self, path: &str) -> io::Result<Bytes> {
        read(path)
    }
}

/// Reads each file into memory as a whole when it is first used.
///
/// For storage on which files may be truncated or lost under a reader. Costs the size of every file opened
/// in memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadWhole;

impl Storage for ReadWhole {
    fn open(&self, path: &str) -> io::Result<Arc<dyn Source>> {
        Ok(Arc::new(self.read(path)?))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        list(folder)
    }

    fn modified(&self, folder: &str) -> io::Result<Option<SystemTime>> {
        modified(folder)
    }

    fn read(&self, path: &str) -> io::Result<Bytes> {
        read(path)
    }
}

/// Refuses what is not a file before it is opened: pipes wait for who writes to them, and devices have no end.
fn expect_file(path: &str) -> io::Result<()> {
    match fs::metadata(path)?.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("expected a file, found something else")),
    }
}

fn read(path: &str) -> io::Result<Bytes> {
    expect_file(path)?;
    fs::read(path).map(Bytes::from)
}

fn list(folder: &str) -> io::Result<Vec<String>> {
    // Names that are not Unicode are no names of Lance's.
    let names = fs::read_dir(folder)?.filter_map(|entry| match entry {
        Ok(entry) => entry.file_name().into_string().ok().map(Ok),
        Err(error) => Some(Err(error)),
    });
    names.collect()
}

fn modified(folder: &str) -> io::Result<Option<SystemTime>> {
    fs::metadata(folder)?.modified().map(Some)
}
