//! [`Database`]: a folder of datasets, as LanceDB keeps it, and [`Table`]: one of them that follows its
//! newest version.

use crate::{Dataset, Error, OpenOptions, Result, location::unicode};
use arc_swap::ArcSwap;
use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The ending of a table's folder.
const SUFFIX: &str = ".lance";

/// A folder of datasets `NAME.lance`.
#[derive(Debug, Clone)]
pub struct Database {
    folder: String,
    options: OpenOptions,
}

impl Database {
    /// The database in the local directory `path`.
    ///
    /// # Errors
    /// Io if the directory cannot be listed.
    pub fn open(path: impl AsRef<Path>) -> Result<Database> {
        Self::open_with(unicode(path.as_ref())?, Dataset::options())
    }

    /// The database at `folder`, a path of the options' storage. Tables are opened with the same options.
    ///
    /// # Errors
    /// Io if the folder cannot be listed.
    pub fn open_with(folder: &str, options: OpenOptions) -> Result<Database> {
        let database = Database { folder: folder.trim_end_matches('/').to_owned(), options };
        database.tables()?;
        Ok(database)
    }

    /// The names of the tables, sorted.
    ///
    /// # Errors
    /// Io if the folder cannot be listed.
    pub fn tables(&self) -> Result<Vec<String>> {
        let storage = self.options.storage_ref();
        let entries = storage.list(&self.folder).map_err(|error| Error::io(&self.folder, error))?;
        let mut names: Vec<String> = entries
            .iter()
            .filter_map(|entry| entry.strip_suffix(SUFFIX))
            .filter(|name| storage.list(&format!("{}/{name}{SUFFIX}/_versions", self.folder)).is_ok())
            .map(str::to_owned)
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Opens a table at its newest version; its handle stays there until it is told to move on.
    ///
    /// # Errors
    /// Those of [`OpenOptions::open`]; invalid input if `name` is no name of a table.
    pub fn open_table(&self, name: &str) -> Result<Table> {
        if name.is_empty() || name.contains(['/', '\\']) || name == ".." {
            return Err(Error::invalid_input(format!("expected the name of a table, found `{name}`")));
        }
        let dataset = self.options.open(&format!("{}/{name}{SUFFIX}", self.folder))?;
        Ok(Table::new(dataset, Consistency::Manual))
    }
}

/// When a [`Table`] looks for newer versions, as LanceDB's `read_consistency_interval` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Consistency {
    /// Never: the table stays at its version, and [`Table::refresh`] does nothing.
    Pinned,
    /// Only when [`Table::refresh`] is called (LanceDB: no interval).
    #[default]
    Manual,
    /// At most once in every interval, when the table is next used (LanceDB: an interval).
    Eventual(Duration),
    /// Whenever the table is used (LanceDB: an interval of zero).
    Strong,
}

/// A dataset that follows its newest version. May be used by any number of threads at once.
#[derive(Debug)]
pub struct Table {
    current: ArcSwap<Dataset>,
    consistency: Consistency,
    checked: Mutex<Instant>,
}

impl Table {
    /// A table that starts at `dataset`.
    pub fn new(dataset: Dataset, consistency: Consistency) -> Self {
        Table { current: ArcSwap::from_pointee(dataset), consistency, checked: Mutex::new(Instant::now()) }
    }

    /// The same table with another rule for newer versions.
    #[must_use]
    pub fn with_consistency(mut self, consistency: Consistency) -> Self {
        self.consistency = consistency;
        self
    }

    /// The version to read now: looks for a newer one first if the table's consistency asks for it.
    ///
    /// # Errors
    /// Those of [`Dataset::refresh`].
    pub fn dataset(&self) -> Result<Dataset> {
        let due = match self.consistency {
            Consistency::Pinned | Consistency::Manual => false,
            Consistency::Strong => true,
            Consistency::Eventual(interval) => {
                let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
                let due = checked.elapsed() >= interval;
                if due {
                    *checked = Instant::now();
                }
                due
            }
        };
        if due {
            self.refresh()?;
        }
        Ok(self.current.load().as_ref().clone())
    }

    /// Moves on to the newest version, unless the table is pinned.
    ///
    /// # Errors
    /// Those of [`Dataset::refresh`]; the table then stays where it is.
    pub fn refresh(&self) -> Result<()> {
        if self.consistency == Consistency::Pinned {
            return Ok(());
        }
        let current = self.current.load();
        let newest = current.refresh()?;
        if newest.version() != current.version() {
            self.current.store(Arc::new(newest));
        }
        Ok(())
    }
}
