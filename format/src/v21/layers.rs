//! Layers: how the definition and repetition levels of a page encode nulls and lists.
//!
//! A page lists one layer for each node on the path from its leaf to the root. Definition level 0 is a
//! valid value; the other numbers are dealt out walking from the leaf outward:
//!
//! ```text
//! list<int32> with null items, null lists and empty lists
//!   layers (leaf outward)   nullable item | null and empty list
//!   levels                  1             | 2 null, 3 empty
//! ```
//! Repetition numbers count the lists from 1, the innermost, to R, the outermost; an entry with level r
//! starts a new list at the list numbered r and at all lists inside it. Every row starts with R.

use crate::{Error, Result, ensure};
use alloc::{format, vec::Vec};
use core::fmt;

/// A node of the schema on the way from the root to a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    /// A struct, the entries of a map, or the leaf itself.
    Item,
    /// A list or a map.
    List,
    /// A fixed-size list of structs: an item whose entries are repeated once for each struct in it.
    Repeated(usize),
}

impl Node {
    /// How many entries each element of this node has because of the node itself.
    pub(crate) fn entries(self) -> usize {
        match self {
            Node::Repeated(dimension) => dimension,
            Node::Item | Node::List => 1,
        }
    }
}

/// What the levels of a page tell about one node, by the number that stands for it in the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayerKind {
    /// A leaf or a struct that is never null.
    Item,
    /// A list that is neither null nor empty.
    List,
    /// A leaf or a struct that may be null.
    NullableItem,
    /// A list that may be null and is not empty.
    NullableList,
    /// A list that is never null and may be empty.
    EmptyableList,
    /// A list that may be null or empty.
    NullableEmptyableList,
    /// A number that is not known.
    Unknown(i32),
}

impl LayerKind {
    /// From the number in a page.
    pub(crate) fn from_number(number: i32) -> Self {
        match number {
            1 => LayerKind::Item,
            2 => LayerKind::List,
            3 => LayerKind::NullableItem,
            4 => LayerKind::NullableList,
            5 => LayerKind::EmptyableList,
            6 => LayerKind::NullableEmptyableList,
            other => LayerKind::Unknown(other),
        }
    }
}

impl fmt::Display for LayerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LayerKind::Item => "item",
            LayerKind::List => "list",
            LayerKind::NullableItem => "nullable-item",
            LayerKind::NullableList => "nullable-list",
            LayerKind::EmptyableList => "emptyable-list",
            LayerKind::NullableEmptyableList => "nullable-emptyable-list",
            LayerKind::Unknown(number) => return write!(f, "unknown-{number}"),
        })
    }
}

/// One layer of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) node: Node,
    /// The lowest level of this layer: an entry below it is valid here, one at or above it is null or
    /// empty here or further out.
    pub(crate) first: u16,
    /// The level of an empty list, if there are any.
    pub(crate) empty: Option<u16>,
    /// A new element of this layer starts at entries with at least this repetition level.
    pub(crate) starts_at: u16,
}

/// The layers of a page, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layers {
    pub(crate) layers: Vec<Layer>,
    pub(crate) max_def: u16,
    /// The number of lists, R.
    pub(crate) max_rep: u16,
    /// Entries up to this definition level own a value slot.
    pub(crate) visible: u16,
}

impl Layers {
    /// From the numbers of a page, leaf outward, and the path that they must fit, outermost first.
    ///
    /// # Errors
    /// Corrupt if a number is not known or does not fit its node.
    pub(crate) fn parse(numbers: &[i32], path: &[Node]) -> Result<Self> {
        ensure!(
            numbers.len() == path.len(),
            "expected {} layers, one for each level of nesting, found {}",
            path.len(),
            numbers.len()
        );
        let mut layers = Vec::with_capacity(numbers.len());
        let (mut next, mut lists) = (1u16, 0u16);
        let mut visible = None;
        for (&number, &node) in numbers.iter().zip(path.iter().rev()) {
            let (expected, nullable, emptyable) = match LayerKind::from_number(number) {
                LayerKind::Item => (Node::Item, false, false),
                LayerKind::List => (Node::List, false, false),
                LayerKind::NullableItem => (Node::Item, true, false),
                LayerKind::NullableList => (Node::List, true, false),
                LayerKind::EmptyableList => (Node::List, false, true),
                LayerKind::NullableEmptyableList => (Node::List, true, true),
                LayerKind::Unknown(_) => {
                    return Err(Error::unsupported(format!("layer number {number} is not known")));
                }
            };
            let is_list = node == Node::List;
            ensure!(
                is_list == (expected == Node::List),
                "expected a layer for {node:?}, found one for {expected:?}"
            );
            if is_list {
                visible.get_or_insert(next - 1);
                lists += 1;
            }
            let starts_at = lists;
            let empty = emptyable.then_some(next + u16::from(nullable));
            layers.push(Layer { node, first: next, empty, starts_at });
            next += u16::from(nullable) + u16::from(emptyable);
        }
        layers.reverse();
        let max_def = next - 1;
        Ok(Layers { layers, max_def, max_rep: lists, visible: visible.unwrap_or(max_def) })
    }

    /// Whether these are the layers of `path`.
    pub(crate) fn fit(&self, path: &[Node]) -> bool {
        self.layers.iter().map(|layer| layer.node).eq(path.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_levels_from_the_leaf_outward() {
        let layers = Layers::parse(&[3, 6, 3], &[Node::Item, Node::List, Node::Item]).unwrap();
        let seen: Vec<_> = layers.layers.iter().map(|l| (l.first, l.empty, l.starts_at)).collect();
        assert_eq!(seen, [(4, None, 1), (2, Some(3), 1), (1, None, 0)]);
        assert_eq!((layers.max_def, layers.max_rep, layers.visible), (4, 1, 1));
    }

    #[test]
    fn refuses_what_does_not_fit_the_path() {
        assert!(Layers::parse(&[3], &[Node::Item, Node::Item]).is_err());
        assert!(Layers::parse(&[6], &[Node::Item]).is_err());
        assert!(Layers::parse(&[7], &[Node::Item]).is_err());
    }
}
