//! [`Item`]: one column of a projection, `expression [AS name]`.

use super::{Expr, parse};
use crate::Result;
use std::sync::Arc;

/// An expression and the name of the column that it makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What is computed.
    pub expr: Expr,
    /// What follows AS, or else the whole text.
    pub name: Arc<str>,
}

impl Item {
    /// Parses `expression [AS name]`.
    ///
    /// # Errors
    /// As [`Expr::parse`].
    pub fn parse(text: &str) -> Result<Self> {
        let (expr, alias) = parse::item(text)?;
        Ok(Item { expr, name: alias.unwrap_or_else(|| text.trim().into()) })
    }
}

/// Cuts a list of items at its commas, apart from those between quotes, backticks, parentheses or brackets. If one of
/// these has no end every comma cuts: names of columns may hold them.
///
/// ```
/// assert_eq!(lancet::expr::split_items("id, concat(a, ',') AS b"), ["id", "concat(a, ',') AS b"]);
/// ```
pub fn split_items(text: &str) -> Vec<&str> {
    let (mut items, mut start, mut nesting) = (Vec::new(), 0, 0usize);
    let mut quote = None;
    for (offset, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => (),
            (None, '\'' | '"' | '`') => quote = Some(character),
            (None, '(' | '[') => nesting += 1,
            (None, ')' | ']') => nesting = nesting.saturating_sub(1),
            (None, ',') if nesting == 0 => {
                items.push(text[start..offset].trim());
                start = offset + 1;
            }
            _ => (),
        }
    }
    if quote.is_some() || nesting > 0 {
        return text.split(',').map(str::trim).collect();
    }
    items.push(text[start..].trim());
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_commas_between_items_only() {
        let cases: [(&str, &[&str]); 7] = [
            ("id", &["id"]),
            ("id,st.a , i8-n10", &["id", "st.a", "i8-n10"]),
            ("substr(s, 1, 2) AS t,id", &["substr(s, 1, 2) AS t", "id"]),
            ("s || ',' || \"a,b\",`a,b`", &["s || ',' || \"a,b\"", "`a,b`"]),
            ("array_has_any(l, [1, 2]),''','", &["array_has_any(l, [1, 2])", "''','"]),
            ("it's,b", &["it's", "b"]),
            ("", &[""]),
        ];
        for (text, items) in cases {
            assert_eq!(split_items(text), items, "{text}");
        }
    }

    #[test]
    fn names_are_aliases_or_the_text() {
        let item = Item::parse("score * 2 AS s").unwrap();
        assert_eq!((item.expr.to_string().as_str(), &*item.name), ("score * 2", "s"));
        assert_eq!(&*Item::parse(" score*2 ").unwrap().name, "score*2");
        assert_eq!(&*Item::parse("1 AS `a b`").unwrap().name, "a b");
        assert!(Item::parse("1 AS").is_err());
        assert!(Item::parse("1 AS a b").is_err());
    }
}
