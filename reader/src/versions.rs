//! Versions: finding the newest, opening one by number, and the history of a dataset.

use crate::{
    Error, Result,
    location::{self, Location},
    storage::Storage,
};
use lancet_format::table::{Branch, Manifest, ManifestName, Scheme, Tag, Timestamp, Transaction};
use std::{collections::BTreeMap, io, time::Duration, time::SystemTime};

/// What tells when a folder of versions was last listed.
///
/// A folder whose time has not changed has no new versions. But file systems keep that time only to some
/// precision: right after a change a second one may leave it as it is, so a fresh time proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(SystemTime);

/// The coarsest time that file systems keep is that of FAT, two seconds.
const SETTLED: Duration = Duration::from_millis(2500);

impl Stamp {
    /// The stamp of `folder`, if the storage has one and it is old enough to prove anything.
    pub(crate) fn of(storage: &dyn Storage, folder: &str) -> Option<Self> {
        let modified = storage.modified(folder).ok()??;
        let age = SystemTime::now().duration_since(modified).ok()?;
        (age >= SETTLED).then_some(Stamp(modified))
    }
}

/// The newest version on the branch of `location`.
pub(crate) fn latest(storage: &dyn Storage, location: &Location) -> Result<ManifestName> {
    let folder = format!("{}/_versions", location.folder());
    let names = list(storage, location, &folder)?;
    let latest = ManifestName::latest(names.iter().map(String::as_str));
    latest.map_err(|error| Error::format(&folder, error))?.ok_or_else(|| {
        Error::not_found(&folder, "expected manifests, files that end in `.manifest`, found none")
    })
}

fn list(storage: &dyn Storage, location: &Location, folder: &str) -> Result<Vec<String>> {
    storage.list(folder).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            let root = location.folder();
            let found = match storage.list(&root) {
                Ok(_) => "a directory without it",
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => "a file",
                Err(_) => "nothing",
            };
            Error::not_found(
                root,
                format!("expected a dataset, a directory with a folder `_versions`, found {found}"),
            )
        }
        _ => Error::io(folder, error),
    })
}

/// Reads the manifest with this name, and its path.
pub(crate) fn read_named(
    storage: &dyn Storage,
    location: &Location,
    name: ManifestName,
) -> Result<(String, Manifest)> {
    let path = format!("{}/_versions/{}", location.folder(), name.file_name());
    let bytes = storage.read(&path).map_err(|error| Error::io(&path, error))?;
    let manifest = Manifest::parse(&bytes).map_err(|error| Error::format(&path, error))?;
    manifest.check_name(name).map_err(|error| Error::format(&path, error))?;
    Ok((path, manifest))
}

/// Reads the manifest of `version`, whichever way it is named, and its path.
pub(crate) fn read_manifest(
    storage: &dyn Storage,
    location: &Location,
    version: u64,
) -> Result<(String, Manifest)> {
    let schemes: &[Scheme] = match version >> 63 {
        0 => &[Scheme::V2, Scheme::V1],
        _ => &[Scheme::Detached],
    };
    for &scheme in schemes {
        let name = ManifestName { scheme, version };
        match read_named(storage, location, name) {
            Err(error) if error.is_not_found() => {}
            found => return found,
        }
    }
    // Tells a dataset without this version from no dataset at all.
    list(storage, location, &format!("{}/_versions", location.folder()))?;
    Err(Error::not_found(
        format!("{}/_versions", location.folder()),
        format!("there is no version {version}"),
    ))
}

/// One version of a dataset, as its manifest tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Version {
    /// The number.
    pub version: u64,
    /// When it was committed.
    pub timestamp: Option<Timestamp>,
    /// The number of rows that are not deleted; `None` where the manifest does not say it.
    pub rows: Option<u64>,
    /// What the commit did, in Lance's words (`append`, `delete`, …); `None` if its transaction is gone.
    pub operation: Option<&'static str>,
}

impl Version {
    fn of(storage: &dyn Storage, location: &Location, manifest: &Manifest, path: &str) -> Result<Self> {
        let rows = manifest.fragments.iter().try_fold(0u64, |sum, fragment| {
            let deleted = match &fragment.deletion {
                None => 0,
                Some(file) => file.num_deleted_rows?,
            };
            sum.checked_add(fragment.physical_rows?.checked_sub(deleted)?)
        });
        let inline = manifest.transaction().map_err(|error| Error::format(path, error))?;
        let transaction = match (inline, &manifest.transaction_file) {
            (Some(inline), _) => Some(inline),
            (None, Some(name)) => {
                let path = format!("{}/_transactions/{name}", location.folder());
                match storage.read(&path) {
                    Ok(bytes) => Some(bytes),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                    Err(error) => return Err(Error::io(path, error)),
                }
            }
            (None, None) => None,
        };
        // A transaction is history, not data: one that cannot be understood is no reason to fail.
        let operation = transaction.and_then(|bytes| Transaction::parse(&bytes).ok());
        let operation = operation.map(|transaction| transaction.operation.name());
        Ok(Version { version: manifest.version, timestamp: manifest.timestamp, rows, operation })
    }
}

/// All versions on the branch of `location`, the oldest first. Reads every manifest.
pub(crate) fn all(storage: &dyn Storage, location: &Location) -> Result<Vec<Version>> {
    let folder = format!("{}/_versions", location.folder());
    let names = list(storage, location, &folder)?;
    ManifestName::latest(names.iter().map(String::as_str)).map_err(|error| Error::format(&folder, error))?;
    let attached = |name: &ManifestName| name.scheme != Scheme::Detached;
    let mut names: Vec<ManifestName> =
        names.iter().filter_map(|name| ManifestName::parse(name)).filter(attached).collect();
    names.sort_unstable_by_key(|name| name.version);
    let versions = names.into_iter().filter_map(|name| match read_named(storage, location, name) {
        // Cleaned up since the folder was listed.
        Err(error) if error.is_not_found() => None,
        Err(error) => Some(Err(error)),
        Ok((path, manifest)) => Some(Version::of(storage, location, &manifest, &path)),
    });
    versions.collect()
}

/// All tags by name.
pub(crate) fn tags(storage: &dyn Storage, location: &Location) -> Result<BTreeMap<String, Tag>> {
    let names = list_refs(storage, &format!("{}/_refs/tags", location.root))?;
    let names = names.iter().filter_map(|name| Tag::name_of(name));
    names.map(|name| Ok((name.to_owned(), location::read_tag(storage, location, name)?))).collect()
}

/// All branches by name; the main one is not among them.
pub(crate) fn branches(storage: &dyn Storage, location: &Location) -> Result<BTreeMap<String, Branch>> {
    let names = list_refs(storage, &format!("{}/_refs/branches", location.root))?;
    let names = names.iter().filter_map(|name| Branch::name_of(name));
    names.map(|name| Ok((name.clone(), location::read_branch(storage, location, &name)?))).collect()
}

fn list_refs(storage: &dyn Storage, folder: &str) -> Result<Vec<String>> {
    match storage.list(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        found => found.map_err(|error| Error::io(folder, error)),
    }
}
