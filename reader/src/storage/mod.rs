//! Where files come from: [`Storage`] opens files by path and lists folders.
//!
//! [`Mapped`] is the default: it maps each file into memory, so that opening costs no copy and columns can
//! be borrowed. [`ReadWhole`] reads files into memory instead, [`InMemory`] serves them from a map. A store
//! of your own needs two functions; this one fetches ranges, say by HTTP:
//!
//! ```
//! use lancet::storage::{Bytes, FormatError, Source, Storage};
//! use std::{io, ops::Range, sync::Arc};
//!
//! /// A client that can ask for the size of an object, for a range of it, and for the names in a folder.
//! trait Client: Send + Sync + std::fmt::Debug + 'static {
//!     fn size(&self, path: &str) -> io::Result<u64>;
//!     fn get(&self, path: &str, range: Range<u64>) -> io::Result<Vec<u8>>;
//!     fn names(&self, folder: &str) -> io::Result<Vec<String>>;
//! }
//!
//! #[derive(Debug)]
//! struct Remote<C>(Arc<C>);
//!
//! #[derive(Debug)]
//! struct RemoteFile<C> {
//!     client: Arc<C>,
//!     path: String,
//!     size: u64,
//! }
//!
//! impl<C: Client> Storage for Remote<C> {
//!     fn open(&self, path: &str) -> io::Result<Arc<dyn Source>> {
//!         let size = self.0.size(path)?;
//!         Ok(Arc::new(RemoteFile { client: self.0.clone(), path: path.into(), size }))
//!     }
//!
//!     fn list(&self, folder: &str) -> io::Result<Vec<String>> {
//!         self.0.names(folder)
//!     }
//! }
//!
//! impl<C: Client> Source for RemoteFile<C> {
//!     fn len(&self) -> u64 {
//!         self.size
//!     }
//!
//!     fn read(&self, range: Range<u64>) -> Result<Bytes, FormatError> {
//!         self.client.get(&self.path, range).map(Bytes::from).map_err(FormatError::source)
//!     }
//! }
//! ```
//!
//! Such a store is asked for exactly the ranges that the rows need; it may round them up and cache.

mod local;
mod memory;

pub use bytes::Bytes;
pub use lancet_format::{Error as FormatError, Source};
pub use local::{Mapped, ReadWhole};
pub use memory::InMemory;

use std::{fmt, io, sync::Arc, time::SystemTime};

/// Opens files and lists folders. Paths are the dataset's root as it was given, joined with `/`.
pub trait Storage: Send + Sync + fmt::Debug {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is none; anything else if it cannot be opened.
    fn open(&self, path: &str) -> io::Result<Arc<dyn Source>>;

    /// The names of the entries of a folder, in any order.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is no such folder; stores without folders may return an empty
    /// list instead.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// When an entry was last added to a folder or removed from it; `None` if the store does not keep that.
    /// It spares a look for new versions the listing of all of them.
    ///
    /// # Errors
    /// As [`Storage::list`].
    fn modified(&self, folder: &str) -> io::Result<Option<SystemTime>> {
        let _ = folder;
        Ok(None)
    }

    /// All bytes of a small file that is needed once: a manifest, a deletion file.
    ///
    /// # Errors
    /// As [`Storage::open`], and if the bytes cannot be had.
    fn read(&self, path: &str) -> io::Result<Bytes> {
        let source = self.open(path)?;
        source.read(0..source.len()).map_err(io::Error::other)
    }
}
