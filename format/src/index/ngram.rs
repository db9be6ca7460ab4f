//! NGram: for each three letters that follow one another in texts the set of rows whose text has them.
//!
//! ```text
//! ngram_postings.lance   tokens: u32, ascending | posting_list: binary, a set of row ids each
//! ```
//! A text is lower-cased and its letters are folded to ASCII; then every three characters in a row that are letters
//! or digits of ASCII make a token: 1369 × a + 37 × b + c, where a digit is 1 to 10 and a letter 11 to 36. Token 0
//! has the rows whose text is NULL. Rows without a token are nowhere.

use super::files::{IndexFile, IndexFiles};
use crate::{
    Error, Field, Result, ensure,
    table::{Treemap, partition_point},
};
use alloc::{format, sync::Arc, vec::Vec};

const FILE: &str = "ngram_postings.lance";
/// Digits and letters, and one for none.
const BASE: u32 = 37;
/// The largest token, `zzz`.
pub const MAX_TOKEN: u32 = BASE * BASE * BASE - 1;
/// The token of rows whose text is NULL.
pub const NULL_TOKEN: u32 = 0;

/// An open NGram index: the tokens in memory, the sets in their file.
#[derive(Debug)]
pub struct NGramIndex {
    file: IndexFile,
    tokens: Vec<u32>,
    postings: Arc<Field>,
}

impl NGramIndex {
    /// Reads the tokens.
    ///
    /// # Errors
    /// Corrupt if the file is missing or the tokens are none.
    pub fn open(files: &dyn IndexFiles) -> Result<Self> {
        let file = IndexFile::open(files, FILE)?;
        let tokens = file.all_u32("tokens")?;
        let postings = file.binary_field("posting_list")?;
        file.check((|| {
            ensure!(tokens.is_sorted_by(|a, b| a < b), "column `tokens`: expected numbers that ascend");
            let last = tokens.last().copied().unwrap_or(0);
            ensure!(last <= MAX_TOKEN, "column `tokens`: expected at most {MAX_TOKEN}, found {last}");
            Ok(())
        })())?;
        Ok(NGramIndex { file, tokens, postings })
    }

    /// The tokens, ascending.
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// The rows whose text has a token; `None` if there are none.
    ///
    /// # Errors
    /// Corrupt if they cannot be read.
    pub fn rows(&self, token: u32) -> Result<Option<Treemap>> {
        let row = partition_point(self.tokens.len(), |index| self.tokens[index] < token);
        if self.tokens.get(row) != Some(&token) {
            return Ok(None);
        }
        let bytes = self.file.bytes(&self.postings, row as u64)?;
        let rows = Treemap::parse(&bytes).map_err(|error: Error| error.within(format!("row {row}")));
        self.file.check(rows).map(Some)
    }
}

/// The tokens that every text has which contains `needle`, ascending; `None` if there are none that can be relied
/// upon: the needle is too short or has no three letters or digits in a row, or it is not all ASCII, so that
/// its letters may be folded another way at its ends than within a text.
pub fn needle_tokens(needle: &str) -> Option<Vec<u32>> {
    if !needle.is_ascii() {
        return None;
    }
    let place = |byte: u8| match byte.to_ascii_lowercase() {
        digit @ b'0'..=b'9' => Some(u32::from(digit - b'0') + 1),
        letter @ b'a'..=b'z' => Some(u32::from(letter - b'a') + 11),
        _ => None,
    };
    let token = |window: &[u8]| window.iter().try_fold(0, |token, &byte| Some(token * BASE + place(byte)?));
    let mut tokens: Vec<u32> = needle.as_bytes().windows(3).filter_map(token).collect();
    tokens.sort_unstable();
    tokens.dedup();
    (!tokens.is_empty()).then_some(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needles_have_tokens() {
        assert_eq!(needle_tokens("hel"), Some([25219].into()));
        assert_eq!(needle_tokens("HeLhel").unwrap().len(), 3);
        assert_eq!(needle_tokens("zzz"), Some([MAX_TOKEN].into()));
        assert_eq!(needle_tokens("ab 000"), Some([1369 + 37 + 1].into()));
        for none in ["", "ab", "a b", "---", "日本語", "İstanbul"] {
            assert_eq!(needle_tokens(none), None, "{none}");
        }
    }
}
