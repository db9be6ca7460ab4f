//! Tags and branches: small JSON files that give names to versions.
//!
//! | file | content |
//! |---|---|
//! | `_refs/tags/{tag}.json` | the branch and version that the tag stands for |
//! | `_refs/branches/{branch, with %2F for /}.json` | where the branch came from; its data lies in `tree/{branch}` |

use crate::{Error, Result, ensure, json::Value};
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

const SUFFIX: &str = ".json";
/// How a branch's file name writes the slash.
const SLASH: &str = "%2F";
/// The branch that needs no file.
const MAIN: &str = "main";

/// A name for one version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tag {
    /// The branch of the version; `None` is the main one.
    pub branch: Option<String>,
    /// The version.
    pub version: u64,
    /// When the tag was made, in the form of RFC 3339.
    pub created_at: Option<String>,
    /// When the tag was last moved, in the form of RFC 3339.
    pub updated_at: Option<String>,
    /// The size of the version's manifest in bytes.
    pub manifest_size: Option<u64>,
    /// Anything that users attached to it.
    pub metadata: BTreeMap<String, String>,
}

impl Tag {
    /// Parses a whole tag file.
    ///
    /// # Errors
    /// Corrupt if it is not JSON, has no version, or has a member of another type than it should.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let value = Value::parse(file)?;
        Ok(Tag {
            branch: text(&value, "branch")?,
            version: number(&value, "version")?.ok_or_else(|| missing("version"))?,
            created_at: text(&value, "createdAt")?,
            updated_at: text(&value, "updatedAt")?,
            manifest_size: number(&value, "manifestSize")?,
            metadata: metadata(&value)?,
        })
    }

    /// The file of a tag in `_refs/tags`.
    ///
    /// # Errors
    /// Invalid input if the name breaks the rules for tags.
    pub fn file_name(name: &str) -> Result<String> {
        check_name("tag", name, name)?;
        Ok(format!("{name}{SUFFIX}"))
    }

    /// The tag that a file in `_refs/tags` belongs to, if any.
    pub fn name_of(file_name: &str) -> Option<&str> {
        let name = file_name.strip_suffix(SUFFIX)?;
        check_name("tag", name, name).is_ok().then_some(name)
    }
}

/// A line of versions that left another one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Branch {
    /// The branch that it left; `None` is the main one.
    pub parent_branch: Option<String>,
    /// The version that it left at.
    pub parent_version: u64,
    /// For each branch on the way from the main one: the version where it left, and what tells it from
    /// later branches of the same name.
    pub identifier: Vec<(u64, String)>,
    /// When it was made, in seconds since 1970.
    pub created_at: Option<u64>,
    /// The size of the parent version's manifest in bytes.
    pub manifest_size: Option<u64>,
    /// Anything that users attached to it.
    pub metadata: BTreeMap<String, String>,
}

impl Branch {
    /// Parses a whole branch file.
    ///
    /// # Errors
    /// Corrupt if it is not JSON, has no parent version, or has a member of another type than it should.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let value = Value::parse(file)?;
        Ok(Branch {
            parent_branch: text(&value, "parentBranch")?,
            parent_version: number(&value, "parentVersion")?.ok_or_else(|| missing("parentVersion"))?,
            identifier: identifier(&value)?,
            created_at: number(&value, "createAt")?,
            manifest_size: number(&value, "manifestSize")?,
            metadata: metadata(&value)?,
        })
    }

    /// The file of a branch in `_refs/branches`.
    ///
    /// # Errors
    /// Invalid input if the name breaks the rules for branches.
    pub fn file_name(name: &str) -> Result<String> {
        check_branch(name)?;
        Ok(format!("{}{SUFFIX}", name.replace('/', SLASH)))
    }

    /// The branch that a file in `_refs/branches` belongs to, if any.
    pub fn name_of(file_name: &str) -> Option<String> {
        let name = file_name.strip_suffix(SUFFIX)?.replace(SLASH, "/");
        check_branch(&name).is_ok().then_some(name)
    }
}

fn check_branch(name: &str) -> Result<()> {
    if name == MAIN {
        return Err(Error::invalid_input("branch `main`: expected another name, this one has no file"));
    }
    name.split('/').try_for_each(|part| check_name("branch", name, part))
}

/// Checks one part of the `name` of a tag or a branch.
fn check_name(kind: &str, name: &str, part: &str) -> Result<()> {
    let allowed = |character: char| character.is_alphanumeric() || matches!(character, '.' | '-' | '_');
    let at_an_end = part.starts_with('.') || part.ends_with('.');
    let reason = if part.is_empty() {
        "a name that is not empty"
    } else if !part.chars().all(allowed) {
        "letters, digits, `.`, `-` and `_`"
    } else if part.contains("..") || part == "." || (kind == "tag" && at_an_end) {
        "no `..`, and no `.` at an end"
    } else if part.ends_with(".lock") {
        "a name that does not end in `.lock`"
    } else {
        return Ok(());
    };
    Err(Error::invalid_input(format!("{kind} `{}`: expected {reason}", name.escape_debug())))
}

fn text(value: &Value<'_>, name: &str) -> Result<Option<String>> {
    value.member(name, "a text", |value| value.as_str().map(String::from))
}

fn number(value: &Value<'_>, name: &str) -> Result<Option<u64>> {
    value.member(name, "a whole number", Value::as_u64)
}

fn missing(name: &str) -> Error {
    Error::corrupt(format!("expected the member `{name}`, found none"))
}

fn metadata(value: &Value<'_>) -> Result<BTreeMap<String, String>> {
    let Some(members) = value.member("metadata", "an object", Value::as_object)? else {
        return Ok(BTreeMap::new());
    };
    let mut out = BTreeMap::new();
    for (name, value) in members {
        let text = value.as_str();
        ensure!(text.is_some(), "member `metadata`: expected texts, found something else in `{name}`");
        out.insert(name.clone().into_owned(), text.unwrap_or_default().into());
    }
    Ok(out)
}

/// `{"version_mapping": [[version, "hexadecimal"], …]}`
fn identifier(value: &Value<'_>) -> Result<Vec<(u64, String)>> {
    let Some(identifier) = value.get("identifier") else { return Ok(Vec::new()) };
    let pairs = identifier.member("version_mapping", "an array", Value::as_array)?.unwrap_or_default();
    let pair = |pair: &Value<'_>| match pair.as_array()? {
        [version, id] => Some((version.as_u64()?, id.as_str()?.into())),
        _ => None,
    };
    let pairs: Option<Vec<_>> = pairs.iter().map(pair).collect();
    pairs.ok_or_else(|| Error::corrupt("member `version_mapping`: expected pairs of a version and a text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn parses_tags() {
        let tag = Tag::parse(
            br#"{"branch": null, "version": 3, "createdAt": "2026-01-30T00:16:10.4Z", "manifestSize": 1067,
                 "metadata": {"by": "me"}}"#,
        )
        .unwrap();
        assert_eq!((tag.branch, tag.version, tag.manifest_size), (None, 3, Some(1067)));
        assert_eq!(tag.created_at.as_deref(), Some("2026-01-30T00:16:10.4Z"));
        assert_eq!(tag.metadata["by"], "me");
        let least = Tag::parse(br#"{"branch": "b/c", "version": 4}"#).unwrap();
        assert_eq!(least.branch.as_deref(), Some("b/c"));
        for text in
            [r#"{}"#, r#"{"version": -1}"#, r#"{"version": "3"}"#, r#"{"version": 1, "metadata": {"a": 1}}"#]
        {
            assert_eq!(Tag::parse(text.as_bytes()).unwrap_err().kind(), ErrorKind::Corrupt, "{text}");
        }
    }

    #[test]
    fn parses_branches() {
        let branch = Branch::parse(
            br#"{"parentBranch": null, "identifier": {"version_mapping": [[2, "1ef2"], [5, "aa"]]},
                 "parentVersion": 2, "createAt": 1795997562, "manifestSize": 598, "metadata": {}}"#,
        )
        .unwrap();
        assert_eq!((branch.parent_branch, branch.parent_version), (None, 2));
        assert_eq!(branch.identifier, [(2, "1ef2".into()), (5, "aa".into())]);
        assert_eq!(branch.created_at, Some(1_795_997_562));
        assert!(Branch::parse(br#"{"parentVersion": 2}"#).unwrap().identifier.is_empty());
        for text in ["{}", r#"{"parentVersion": 2, "identifier": {"version_mapping": [[1]]}}"#, "[]"] {
            assert!(Branch::parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn names_and_files() {
        for name in ["v1.0", "rel-1", "a_b", "é"] {
            let file = Tag::file_name(name).unwrap();
            assert_eq!(Tag::name_of(&file), Some(name));
        }
        for name in ["", ".a", "a.", "a..b", "a.lock", "a/b", "a b", "a\\b", "a%2Fb"] {
            assert_eq!(Tag::file_name(name).unwrap_err().kind(), ErrorKind::InvalidInput, "{name}");
        }
        assert_eq!(Branch::file_name("team/exp-1").unwrap(), "team%2Fexp-1.json");
        assert_eq!(Branch::name_of("team%2Fexp-1.json").as_deref(), Some("team/exp-1"));
        for name in ["", "main", "/a", "a/", "a//b", "a/../b", "a/./b", "a\\b", "a.lock", "a b"] {
            assert!(Branch::file_name(name).is_err(), "{name}");
        }
        assert_eq!(Branch::name_of("..%2F..json"), None);
        assert_eq!(Tag::name_of("rel-1.txt"), None);
    }
}
