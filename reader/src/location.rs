//! Where a line of versions lies: the main one in the root, each branch in a folder of its own; and where
//! the bases lie that a shallow clone or a branch takes files from.

use crate::{Error, Result, storage::Storage, versions};
use lancet_format::table::{self, Manifest};
use std::{borrow::Cow, collections::BTreeMap, io, path::Path};

/// The root of a dataset and one of its branches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// The root of the main branch: the path that the dataset was opened at.
    pub(crate) root: String,
    /// `None` is the main branch.
    pub(crate) branch: Option<String>,
}

impl Location {
    /// The folder that holds `_versions`, `data` and the rest.
    pub(crate) fn folder(&self) -> String {
        match &self.branch {
            None => self.root.clone(),
            Some(branch) => format!("{}/tree/{branch}", self.root),
        }
    }

    /// The same dataset on another branch.
    pub(crate) fn on(&self, branch: Option<String>) -> Location {
        Location { root: self.root.clone(), branch }
    }
}

/// A path as the text that storages know it by.
pub(crate) fn unicode(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        Error::invalid_input(format!("expected a path of Unicode text, found {}", path.display()))
    })
}

/// A folder that files of a manifest may lie under instead of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base {
    folder: String,
    /// Whether it is a dataset, with `data` and `_indices` inside.
    is_root: bool,
}

/// Where a file lies, or the base that it should lie under but that the manifest does not have: an error
/// only when the file is used.
pub(crate) type Place<T = String> = Result<T, u32>;

/// The path of a place.
///
/// # Errors
/// Corrupt if its base is not known.
pub(crate) fn path_of<'a>(place: &'a Place, manifest_path: &str) -> Result<&'a str> {
    place.as_deref().map_err(|base| {
        Error::corrupt(
            manifest_path,
            format!("expected a base path with id {base}, which a file names, found none"),
        )
    })
}

/// The bases of one manifest, the dataset's own folder included.
#[derive(Debug, Clone)]
pub(crate) struct Bases {
    own: String,
    by_id: BTreeMap<u32, Base>,
}

impl Bases {
    /// Finds out where the bases of `manifest` lie.
    ///
    /// A branch's manifest names the branch that it left by the absolute path of the machine that made it.
    /// That path may be gone or, worse, hold another copy, so it is not used: the base that was added when
    /// the branch was made stands for the parent branch of the dataset at hand.
    pub(crate) fn resolve(storage: &dyn Storage, location: &Location, manifest: &Manifest) -> Result<Self> {
        let mut by_id: BTreeMap<u32, Base> =
            manifest.base_paths.iter().map(|(&id, base)| (id, stated(base))).collect();
        let mut child = manifest.base_paths.clone();
        let (mut location, mut seen) = (location.clone(), Vec::new());
        let own = location.folder();
        while let Some(branch) = location.branch.take() {
            if seen.contains(&branch) {
                return Err(Error::corrupt(
                    refs_path(&location, &branch)?,
                    format!("expected branch `{branch}` to come from the main one, it comes from itself"),
                ));
            }
            if child.is_empty() {
                break;
            }
            let parent = read_branch(storage, &location, &branch)?;
            seen.push(branch);
            location.branch = parent.parent_branch;
            let (_, manifest) = versions::read_manifest(storage, &location, parent.parent_version)?;
            let is_root = |id| child.get(&id).is_some_and(|base| base.is_dataset_root);
            if let Some(base) = added_base(&manifest.base_paths, is_root).and_then(|id| by_id.get_mut(&id)) {
                *base = Base { folder: location.folder(), is_root: true };
            }
            child = manifest.base_paths;
        }
        Ok(Bases { own, by_id })
    }

    fn base(&self, id: Option<u32>) -> Place<(&str, bool)> {
        match id {
            None => Ok((&self.own, true)),
            Some(id) => self.by_id.get(&id).map(|base| (base.folder.as_str(), base.is_root)).ok_or(id),
        }
    }

    /// The folder of base path `id`.
    pub(crate) fn folder(&self, id: u32) -> Option<&str> {
        self.by_id.get(&id).map(|base| base.folder.as_str())
    }

    /// The path of a data file.
    pub(crate) fn data_file(&self, file: &table::DataFile) -> Place {
        let (folder, is_root) = self.base(file.base_id)?;
        Ok(match is_root {
            true => format!("{folder}/data/{}", file.path),
            false => format!("{folder}/{}", file.path),
        })
    }

    /// The folders that a segment of an index may lie in, the likeliest first. Lance 9 and 10 gave the
    /// segments of a branch of a branch the wrong base, so all bases come into question.
    pub(crate) fn index_folders(&self, segment: &table::IndexMetadata) -> Vec<String> {
        let own = Base { folder: self.own.clone(), is_root: true };
        let named = segment.base_id.and_then(|id| self.by_id.get(&id));
        let bases = named.into_iter().chain([&own]).chain(self.by_id.values());
        let mut folders: Vec<String> = Vec::new();
        for base in bases {
            let folder = match base.is_root {
                true => format!("{}/_indices/{}", base.folder, segment.uuid),
                false => format!("{}/{}", base.folder, segment.uuid),
            };
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// The path of the deletion file of fragment `id`.
    pub(crate) fn deletion_file(&self, file: &table::DeletionFile, id: u32) -> Place {
        let (folder, _) = self.base(file.base_id)?;
        Ok(format!("{folder}/_deletions/{}", file.file_name(id)))
    }
}

/// The id of the base that was added to those of `parent` when a branch was made, given which ids of the branch
/// may be it. Lance 9 and 10 take the one behind the last, Lance 14 takes the lowest that is free.
fn added_base<T>(parent: &BTreeMap<u32, T>, is_possible: impl Fn(u32) -> bool) -> Option<u32> {
    let lowest = (0..=u32::MAX).find(|id| !parent.contains_key(id));
    let next = parent.keys().next_back().map_or(Some(0), |last| last.checked_add(1));
    [lowest, next].into_iter().flatten().find(|id| is_possible(*id))
}

fn stated(base: &table::BasePath) -> Base {
    let path = local_path(&base.path);
    Base { folder: path.trim_end_matches('/').to_owned(), is_root: base.is_dataset_root }
}

/// The path that a URI of a local file means; any other text is a path as it stands.
fn local_path(text: &str) -> Cow<'_, str> {
    let schemes = ["file://", "file-object-store://"];
    match schemes.iter().find_map(|scheme| text.strip_prefix(scheme)) {
        // A path that is no Unicode text cannot be named: the URI stands in the error.
        Some(encoded) => String::from_utf8(percent_decode(encoded)).map_or(text.into(), Cow::Owned),
        None => text.into(),
    }
}

/// The bytes of `text` with each `%` and two hexadecimal digits being one byte.
fn percent_decode(text: &str) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let (mut rest, mut out) = (text.as_bytes(), Vec::with_capacity(text.len()));
    while let [first, tail @ ..] = rest {
        let encoded = match tail {
            [high, low, after @ ..] if *first == b'%' => digit(high).zip(digit(low)).zip(Some(after)),
            _ => None,
        };
        let (byte, after) = encoded.map_or((*first, tail), |((high, low), after)| (high << 4 | low, after));
        out.push(byte);
        rest = after;
    }
    out
}

fn refs_path(location: &Location, branch: &str) -> Result<String> {
    Ok(format!("{}/_refs/branches/{}", location.root, table::Branch::file_name(branch)?))
}

/// Reads the file of a branch; `location` says of which dataset.
pub(crate) fn read_branch(storage: &dyn Storage, location: &Location, branch: &str) -> Result<table::Branch> {
    let path = refs_path(location, branch)?;
    let bytes = storage.read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::not_found(&path, format!("there is no branch `{branch}`")),
        _ => Error::io(&path, error),
    })?;
    table::Branch::parse(&bytes).map_err(|error| Error::format(&path, error))
}

/// Reads the file of a tag, which lies in the root also for versions of branches.
pub(crate) fn read_tag(storage: &dyn Storage, location: &Location, tag: &str) -> Result<table::Tag> {
    let path = format!("{}/_refs/tags/{}", location.root, table::Tag::file_name(tag)?);
    let bytes = storage.read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::not_found(&path, format!("there is no tag `{tag}`")),
        _ => Error::io(&path, error),
    })?;
    table::Tag::parse(&bytes).map_err(|error| Error::format(&path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_of_branches() {
        let added = |parent: &[u32], child: &[u32]| {
            let parent = parent.iter().map(|&id| (id, ())).collect();
            added_base(&parent, |id| child.contains(&id))
        };
        assert_eq!(added(&[], &[0]), Some(0));
        assert_eq!(added(&[0, 1], &[0, 1, 2]), Some(2));
        assert_eq!(added(&[1, 2], &[1, 2, 3]), Some(3), "Lance 10");
        assert_eq!(added(&[1, 2], &[0, 1, 2]), Some(0), "Lance 14");
        assert_eq!(added(&[1, 2], &[0, 1, 2, 3]), Some(0), "Lance 14, and one that was added later");
        assert_eq!(added(&[1], &[1, 7]), None);
        assert_eq!(added(&[u32::MAX], &[u32::MAX]), None);
    }

    #[test]
    fn local_paths() {
        for (text, path) in [
            ("/a b%20c", "/a b%20c"),
            ("file:///a%20b%2520c/%C3%A9", "/a b%20c/é"),
            ("file-object-store:///a%2fb", "/a/b"),
            ("file:///100%/%zz/%4", "/100%/%zz/%4"),
            ("file:///%ff", "file:///%ff"),
            ("s3://bucket/a%20b", "s3://bucket/a%20b"),
        ] {
            assert_eq!(local_path(text), path);
        }
    }
}
