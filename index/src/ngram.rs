//! Searching an NGram index: the rows that have every three letters of the needle.

use crate::{Answer, Query, RowSet, row_set::Chunk};
use alloc::vec::Vec;
use lancet_format::{
    Result,
    index::{NGramIndex, needle_tokens},
};

/// The rows that a query may select; `None` if the index cannot narrow it down: another query, or a needle without
/// three letters in a row that it can rely upon.
///
/// # Errors
/// Those of reading sets.
pub fn search(index: &NGramIndex, query: &Query<'_>) -> Result<Option<Answer>> {
    let Query::Contains(needle) = query else { return Ok(None) };
    let Some(tokens) = needle_tokens(needle) else { return Ok(None) };
    let mut sets = Vec::with_capacity(tokens.len());
    for token in tokens {
        match index.rows(token)? {
            Some(rows) => {
                let mut set = RowSet::new();
                set.assign_union(Chunk::of_treemap(&rows), &mut Vec::new());
                sets.push(set);
            }
            None => return Ok(Some(Answer::AtMost(RowSet::new()))),
        }
    }
    let mut rows = RowSet::new();
    rows.assign_intersection(&sets.iter().collect::<Vec<_>>());
    Ok(Some(Answer::AtMost(rows)))
}
