//! Names of manifest files: each says the version, in one of three schemes.
//!
//! | scheme | name |
//! |---|---|
//! | V1 | `{version}.manifest` |
//! | V2 | `{u64::MAX - version}.manifest`, 20 digits, so that the newest sorts first |
//! | detached | `d{version}.manifest`, with bit 63 of the version set |

use crate::{Error, Result};
use alloc::{format, string::String};

/// The first version number that only detached manifests may have.
const DETACHED: u64 = 1 << 63;
const SUFFIX: &str = "manifest";
/// Twenty digits, a dot and the suffix.
const V2_LENGTH: usize = 29;

/// How a manifest file's name says its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// The version in decimal.
    V1,
    /// The version subtracted from the largest number, with leading zeros.
    V2,
    /// A version outside the line of versions; opened only by its number.
    Detached,
}

/// The name of a manifest file, understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManifestName {
    /// How the name is written.
    pub scheme: Scheme,
    /// The version that it stands for.
    pub version: u64,
}

impl ManifestName {
    /// Understands a file name of the `_versions` folder; `None` for files that are not manifests.
    pub fn parse(name: &str) -> Option<Self> {
        if !name.ends_with(SUFFIX) {
            return None;
        }
        let (number, _) = name.split_once('.')?;
        if let Some(number) = number.strip_prefix('d') {
            let version = parse_number(number).filter(|version| *version >= DETACHED)?;
            return Some(ManifestName { scheme: Scheme::Detached, version });
        }
        let number = parse_number(number)?;
        Some(match name.len() {
            V2_LENGTH => ManifestName { scheme: Scheme::V2, version: u64::MAX - number },
            _ => ManifestName { scheme: Scheme::V1, version: number },
        })
    }

    /// The file name.
    pub fn file_name(self) -> String {
        let ManifestName { scheme, version } = self;
        match scheme {
            Scheme::V1 => format!("{version}.{SUFFIX}"),
            Scheme::V2 => format!("{:020}.{SUFFIX}", u64::MAX - version),
            Scheme::Detached => format!("d{version}.{SUFFIX}"),
        }
    }

    /// The newest version among the file names of a `_versions` folder; detached ones do not count.
    ///
    /// # Errors
    /// Corrupt if the schemes V1 and V2 are mixed.
    pub fn latest<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Option<Self>> {
        let mut latest: Option<ManifestName> = None;
        // Detached manifests belong to V2, and are never the latest.
        let mut seen = [false; 2];
        for name in names.into_iter().filter_map(ManifestName::parse) {
            seen[(name.scheme == Scheme::V1) as usize] = true;
            if name.scheme != Scheme::Detached && latest.is_none_or(|latest| latest.version < name.version) {
                latest = Some(name);
            }
        }
        if seen == [true, true] {
            return Err(Error::corrupt(
                "multiple manifest naming schemes: expected either V1 names or V2 names in `_versions`",
            ));
        }
        Ok(latest)
    }

    /// Checks that a manifest which says `version` may have this name.
    pub(crate) fn check(self, version: u64) -> Result<()> {
        let attached = version < DETACHED;
        if version != self.version || attached == (self.scheme == Scheme::Detached) {
            return Err(Error::corrupt(format!(
                "expected version {} as the name `{}` says, found {version}",
                self.version,
                self.file_name()
            )));
        }
        Ok(())
    }
}

/// A number in plain digits, without a sign.
fn parse_number(digits: &str) -> Option<u64> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(scheme: Scheme, version: u64) -> ManifestName {
        ManifestName { scheme, version }
    }

    #[test]
    fn reads_what_it_writes() {
        for (text, expected) in [
            ("18446744073709551614.manifest", name(Scheme::V2, 1)),
            ("00000000000000000000.manifest", name(Scheme::V2, u64::MAX)),
            ("17.manifest", name(Scheme::V1, 17)),
            ("d9223372036854775809.manifest", name(Scheme::Detached, DETACHED + 1)),
        ] {
            assert_eq!(ManifestName::parse(text), Some(expected));
            assert_eq!(expected.file_name(), text);
        }
    }

    #[test]
    fn ignores_other_files() {
        for text in [
            "",
            "abc.manifest",
            "+4.manifest",
            ".manifest",
            "manifest",
            ".tmp_4.manifest",
            "4.manifest#3",
            "latest_version_hint.json",
            "d5.manifest",
            "99999999999999999999.manifest",
        ] {
            assert_eq!(ManifestName::parse(text), None, "{text}");
        }
    }

    #[test]
    fn finds_the_latest() {
        let v2 = ["18446744073709551612.manifest", "18446744073709551614.manifest", "x"];
        assert_eq!(ManifestName::latest(v2).unwrap(), Some(name(Scheme::V2, 3)));
        let with_detached = ["18446744073709551614.manifest", "d9223372036854775809.manifest"];
        assert_eq!(ManifestName::latest(with_detached).unwrap(), Some(name(Scheme::V2, 1)));
        assert_eq!(ManifestName::latest(["2.manifest", "10.manifest"]).unwrap(), Some(name(Scheme::V1, 10)));
        assert_eq!(ManifestName::latest(["latest_version_hint.json"]).unwrap(), None);
        assert!(ManifestName::latest(["2.manifest", "18446744073709551614.manifest"]).is_err());
    }

    #[test]
    fn checks_the_version_inside() {
        assert!(name(Scheme::V2, 4).check(4).is_ok());
        assert!(name(Scheme::V2, 4).check(99).is_err());
        assert!(name(Scheme::V2, DETACHED).check(DETACHED).is_err());
        assert!(name(Scheme::Detached, DETACHED).check(DETACHED).is_ok());
    }
}
