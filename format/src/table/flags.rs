//! Feature flags: what a table uses, one bit each.
//!
//! A manifest has two words of them. A reader must know every bit of the first, a writer every bit of both.

use crate::{Error, Result};
use alloc::{format, string::String, vec::Vec};

/// A fragment has a deletion file.
pub const DELETION_FILES: u64 = 1;
/// Every row has an id that it keeps when it moves.
pub const STABLE_ROW_IDS: u64 = 2;
/// Data files are not of the legacy format. Deprecated: the storage version says so.
pub const V2_FORMAT: u64 = 4;
/// The table has a configuration.
pub const TABLE_CONFIG: u64 = 8;
/// Files may lie under other roots.
pub const BASE_PATHS: u64 = 16;
/// Commits write no transaction files.
pub const NO_TRANSACTION_FILES: u64 = 32;
/// Data files may differ in their format version.
pub const MIXED_FILE_VERSIONS: u64 = 256;
/// Row ids and row versions may be stored as hidden columns.
pub const SPILLED_LINEAGE: u64 = 2048;
/// Field ids are never used again, not even those of dropped columns.
pub const NON_REUSABLE_FIELD_IDS: u64 = 32768;

/// Every flag with the name that errors call it by.
const NAMES: [(u64, &str); 18] = [
    (DELETION_FILES, "deletion files"),
    (STABLE_ROW_IDS, "stable row ids"),
    (V2_FORMAT, "V2 format"),
    (TABLE_CONFIG, "table config"),
    (BASE_PATHS, "base paths"),
    (NO_TRANSACTION_FILES, "no transaction files"),
    (64, "data overlays"),
    (128, "covering index metadata"),
    (MIXED_FILE_VERSIONS, "mixed data file versions"),
    (512, "fragment reuse with stable row ids"),
    (1024, "tagged fragment reuse index"),
    (SPILLED_LINEAGE, "spilled row lineage"),
    (4096, "fragment tree"),
    (8192, "independent covering fields"),
    (16384, "managed blobs"),
    (NON_REUSABLE_FIELD_IDS, "non-reusable field ids"),
    (65536, "zone write seeds"),
    (131_072, "object metadata"),
];

/// The reader flags that this crate honours.
pub const READABLE: u64 = DELETION_FILES
    | STABLE_ROW_IDS
    | V2_FORMAT
    | TABLE_CONFIG
    | BASE_PATHS
    | NO_TRANSACTION_FILES
    | MIXED_FILE_VERSIONS
    | SPILLED_LINEAGE;

/// Checks that `flags` has no bit outside `accepted`; `word` names the word in the error.
///
/// # Errors
/// Unsupported, with the names of the flags that stand in the way.
pub fn check(flags: u64, accepted: u64, word: &str) -> Result<()> {
    let refused = flags & !accepted;
    if refused == 0 {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "the table needs {word} features that are not known: {}",
        names(refused).join(", ")
    )))
}

/// The name and the number of each flag that is set.
pub fn names(flags: u64) -> Vec<String> {
    (0..u64::BITS).map(|bit| 1 << bit).filter(|bit| flags & bit != 0).map(name).collect()
}

fn name(bit: u64) -> String {
    match NAMES.iter().find(|(flag, _)| *flag == bit) {
        Some((_, name)) => format!("{name} (flag {bit})"),
        None => format!("flag {bit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn refuses_by_name() {
        assert!(check(READABLE, READABLE, "reader").is_ok());
        let message = check(1 | 64 | 1 << 40, READABLE, "reader").unwrap_err().to_string();
        assert!(message.contains("data overlays (flag 64), flag 1099511627776"), "{message}");
    }
}
