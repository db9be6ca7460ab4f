//! From levels to nested columns: validity and list offsets for every node above a leaf.
//!
//! Each leaf column carries the structure of all its ancestors. [`Structure`] collects it entry by entry;
//! [`assemble`] joins the leaves of a field into one column and checks that they tell the same story.

use super::layers::{Layers, Node};
use crate::{
    Bitmap, Buffer, Column, DataType, Error, Field, Physical, Result, Values, bitmap::BitmapBuilder,
    column::Offset, ensure, file::is_leaf,
};
use alloc::{boxed::Box, vec::Vec};
use lancet_kernels::levels;

/// What was read of one leaf: its slots, and the structure above them.
#[derive(Debug)]
pub(crate) struct LeafColumn {
    pub(crate) nodes: Nodes<NodeColumn>,
    pub(crate) leaf: Column,
}

/// Something for each node on the way to a leaf. Most leaves are alone: they need no memory of their own.
#[derive(Debug)]
pub(crate) struct Nodes<T> {
    /// Outermost first.
    above: Vec<T>,
    pub(crate) leaf: T,
}

impl<T> Nodes<T> {
    fn get_mut(&mut self, depth: usize) -> &mut T {
        self.above.get_mut(depth).unwrap_or(&mut self.leaf)
    }

    fn get(&self, depth: usize) -> &T {
        self.above.get(depth).unwrap_or(&self.leaf)
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.above.iter_mut().chain(core::iter::once(&mut self.leaf))
    }
}

/// Validity of one node on the way to a leaf, and for lists where each starts among the elements inside.
#[derive(Debug, PartialEq)]
pub(crate) struct NodeColumn {
    len: usize,
    validity: Option<Bitmap>,
    starts: Vec<u64>,
}

impl NodeColumn {
    /// Takes the validity out; none if all elements are valid.
    pub(crate) fn take_validity(&mut self) -> Option<Bitmap> {
        self.validity.take()
    }
}

/// Collects the structure of one leaf.
#[derive(Debug)]
pub(crate) struct Structure {
    nodes: Nodes<NodeBuilder>,
    sets: Sets,
}

/// Sets of the entries at hand, used one after the other.
#[derive(Debug, Default)]
struct Sets {
    /// For each layer, outermost first: where an element of it begins.
    begins: Vec<u64>,
    valid: Vec<u64>,
    below: Vec<u64>,
    other: Vec<u64>,
}

#[derive(Debug)]
struct NodeBuilder {
    validity: BitmapBuilder,
    starts: Vec<u64>,
    /// How many entries each element has: more than one at and above fixed-size lists of structs.
    entries: usize,
}

impl Structure {
    /// For a path, outermost node first and the leaf's own last; about `rows` rows and `items` items of lists will come. the room of
    /// `validity` is used for the leaf.
    pub(crate) fn new(path: &[Node], rows: usize, items: usize, validity: Buffer) -> Self {
        let first_list = path.iter().position(|node| *node == Node::List).unwrap_or(path.len());
        let expected = |depth: usize| if depth <= first_list { rows } else { items };
        let builder = |depth: usize, validity: Buffer| NodeBuilder {
            validity: BitmapBuilder::reuse(validity, expected(depth)),
            starts: match path[depth] {
                Node::List => Vec::with_capacity(expected(depth) + 1),
                _ => Vec::new(),
            },
            entries: path[depth..].iter().map(|node| node.entries()).product(),
        };
        let last = path.len() - 1;
        let above = (0..last).map(|depth| builder(depth, Buffer::new())).collect();
        Structure { nodes: Nodes { above, leaf: builder(last, validity) }, sets: Sets::default() }
    }

    /// How many elements the innermost node has: the slots that the leaf must have.
    pub(crate) fn leaf_len(&self) -> usize {
        self.nodes.leaf.validity.len()
    }

    /// Appends `count` valid rows, for pages without any levels.
    pub(crate) fn append_valid(&mut self, count: usize) {
        self.nodes.iter_mut().for_each(|node| node.validity.append_n(count, true));
    }

    /// Appends entries. Without lists `rep` is empty; without definition levels `def` is, and then every
    /// entry is valid.
    pub(crate) fn append(&mut self, layers: &Layers, rep: &[u16], def: &[u16]) -> Result<()> {
        let found = levels::max(def);
        ensure!(
            found <= layers.max_def,
            "expected definition levels up to {}, found {found}",
            layers.max_def
        );
        if layers.max_rep == 0 {
            for (node, layer) in self.nodes.iter_mut().zip(&layers.layers) {
                node.validity.append_levels(def, layer.first);
            }
            return Ok(());
        }
        let found = levels::max(rep);
        ensure!(
            found <= layers.max_rep,
            "expected repetition levels up to {}, found {found}",
            layers.max_rep
        );
        ensure!(
            def.is_empty() || def.len() == rep.len(),
            "expected as many definition as repetition levels, found {} and {}",
            def.len(),
            rep.len()
        );
        self.append_lists(layers, rep, def);
        Ok(())
    }

    /// Appends entries of checked levels, layer by layer: at each entry with a repetition level of `starts_at` or more
    /// an element of the layer begins, unless the list around it is null or empty.
    fn append_lists(&mut self, layers: &Layers, rep: &[u16], def: &[u16]) {
        let words = levels::words(rep.len());
        let Sets { begins, valid, below, other } = &mut self.sets;
        begins.resize(layers.layers.len() * words, 0);
        valid.resize(words, 0);
        below.resize(words, 0);
        other.resize(words, 0);
        let mut list_around = None;
        for (layer, begins) in layers.layers.iter().zip(begins.chunks_exact_mut(words.max(1))) {
            match layer.starts_at {
                0 => levels::fill(begins, rep.len()),
                level => levels::not_below(rep, level, begins),
            }
            if let (Some(first), false) = (list_around, def.is_empty()) {
                levels::below(def, first, other);
                begins.iter_mut().zip(&*other).for_each(|(begins, within)| *begins &= within);
            }
            if layer.node == Node::List {
                list_around = Some(layer.first);
            }
        }
        for (k, layer) in layers.layers.iter().enumerate() {
            let of_layer = |k: usize| &begins[k * words..(k + 1) * words];
            let own = of_layer(k);
            match def.is_empty() {
                true => levels::fill(valid, rep.len()),
                false => levels::below(def, layer.first, valid),
            }
            if let (Some(empty), false) = (layer.empty, def.is_empty()) {
                levels::below(def, empty, below);
                levels::below(def, empty + 1, other);
                let sets = valid.iter_mut().zip(&*below).zip(&*other);
                sets.for_each(|((valid, below), at_most)| *valid |= at_most & !below);
            }
            if layer.node == Node::List {
                let inner = self.nodes.get(k + 1).validity.len() as u64;
                let starts = &mut self.nodes.get_mut(k).starts;
                let before = starts.len();
                starts.resize(before + levels::count(own), 0);
                levels::ranks(own, of_layer(k + 1), inner, &mut starts[before..]);
            }
            self.nodes.get_mut(k).validity.append_chosen(valid, own);
        }
    }

    /// The structure, and the leaf's own validity. If all of its elements are valid, `spare` gets the room that was kept
    /// for it.
    pub(crate) fn finish(mut self, spare: &mut Buffer) -> Nodes<NodeColumn> {
        if let Some(unused) = self.nodes.leaf.validity.take_unused() {
            *spare = unused;
        }
        let above = self.nodes.above.into_iter().map(NodeBuilder::finish).collect();
        Nodes { above, leaf: self.nodes.leaf.finish() }
    }
}

impl NodeBuilder {
    fn finish(self) -> NodeColumn {
        let len = self.validity.len() / self.entries;
        let validity = match (self.validity.finish(), self.entries) {
            (Some(bits), entries) if entries > 1 => {
                // All entries of an element repeat its validity: the first stands for them.
                let mut own = BitmapBuilder::default();
                (0..len).for_each(|i| own.append(bits.get(i * entries)));
                own.finish()
            }
            (validity, _) => validity,
        };
        NodeColumn { len, validity, starts: self.starts }
    }
}

/// The column of `field`, whose leaves follow in `leaves` in schema order (`None`: not in the file). The
/// field is `depth` nodes below the root and has `len` elements there.
pub(crate) fn assemble(
    field: &Field,
    depth: usize,
    len: usize,
    leaves: &mut core::slice::IterMut<'_, Option<LeafColumn>>,
) -> Result<Column> {
    if is_leaf(field) {
        return Ok(match leaves.next().and_then(Option::take) {
            Some(found) => {
                ensure!(found.leaf.len() == len, "expected {len} values, found {}", found.leaf.len());
                found.leaf
            }
            None => Column::absent(&field.data_type, len)?,
        });
    }
    let own = &leaves.as_slice()[..count_leaves(field)];
    let mut present = own.iter().flatten();
    let Some(first) = present.next() else {
        leaves.nth(count_leaves(field) - 1);
        return Column::absent(&field.data_type, len);
    };
    let node = first.nodes.get(depth);
    ensure!(node.len == len, "expected {len} values, found {}", node.len);
    for other in present {
        ensure!(
            other.nodes.get(depth) == node,
            "expected the columns inside to agree on nulls and lists, they differ"
        );
    }
    let validity = node.validity.clone();
    match field.data_type.physical() {
        Physical::Struct => {
            let children = field.data_type.children();
            let children = children.iter().map(|child| assemble(child, depth + 1, len, leaves));
            let values = Values::Struct(children.collect::<Result<_>>()?);
            Ok(Column::new(field.data_type.clone(), len, validity, values))
        }
        Physical::List | Physical::LargeList => {
            let inner = first.nodes.get(depth + 1).len;
            let large = field.data_type.physical() == Physical::LargeList;
            let offsets = match large {
                false => offsets::<i32>(&node.starts, inner)?,
                true => offsets::<i64>(&node.starts, inner)?,
            };
            let [item] = field.data_type.children() else {
                return Err(Error::corrupt("expected a list to have one child"));
            };
            let items = Box::new(assemble(item, depth + 1, inner, leaves)?);
            let values =
                if large { Values::LargeList { offsets, items } } else { Values::List { offsets, items } };
            Ok(Column::new(field.data_type.clone(), len, validity, values))
        }
        Physical::FixedSizeList(dimension) => {
            let [item] = field.data_type.children() else {
                return Err(Error::corrupt("expected a list to have one child"));
            };
            let items = Box::new(assemble(item, depth + 1, len * dimension, leaves)?);
            Ok(Column::new(field.data_type.clone(), len, validity, Values::FixedSizeList(items)))
        }
        _ => Err(Error::unsupported(alloc::format!("values of type {} are not supported", field.data_type))),
    }
}

/// Where lists start and the last of them ends. Levels may hold items whose list begins nowhere.
fn offsets<O: Offset>(starts: &[u64], end: usize) -> Result<Buffer> {
    let first = starts.first().copied().unwrap_or(end as u64);
    ensure!(first == 0, "expected every item within a list, found {first} before the first list");
    let mut buffer = Buffer::with_capacity((starts.len() + 1) * size_of::<O>());
    let out = buffer.grow_typed::<O>(starts.len() + 1);
    for (out, &start) in out.iter_mut().zip(starts) {
        *out = O::from_usize(start as usize)?;
    }
    out[starts.len()] = O::from_usize(end)?;
    Ok(buffer)
}

/// The number of leaf columns below `field`.
pub(crate) fn count_leaves(field: &Field) -> usize {
    match is_leaf(field) {
        true => 1,
        false => field.data_type.children().iter().map(|child| count_leaves(child)).sum(),
    }
}

/// The leaves below `field`, each with the nodes from the field down to it.
pub(crate) fn for_each_leaf<'a>(
    field: &'a Field,
    path: &mut Vec<Node>,
    visit: &mut impl FnMut(&'a Field, &[Node]) -> Result<()>,
) -> Result<()> {
    let node = match field.data_type.physical() {
        Physical::List | Physical::LargeList => Node::List,
        Physical::FixedSizeList(dimension) if !is_leaf(field) => Node::Repeated(dimension),
        _ => Node::Item,
    };
    path.push(node);
    if is_leaf(field) {
        visit(field, path)?;
    } else {
        for child in field.data_type.children() {
            for_each_leaf(child, path, visit)?;
        }
    }
    path.pop();
    Ok(())
}

/// Whether a leaf holds structs without fields: they have no values, and none of them is null.
pub(crate) fn is_empty_struct(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Struct(fields) if fields.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of the format notes: `[[1, 2], null, [], [null, 5]]`.
    #[test]
    fn lists_with_nulls_and_empty_lists() {
        let path = [Node::List, Node::Item];
        let layers = Layers::parse(&[3, 6], &path).unwrap();
        let mut structure = Structure::new(&path, 4, 4, Buffer::new());
        structure.append(&layers, &[1, 0, 1, 1], &[0, 0, 2, 3]).unwrap();
        structure.append(&layers, &[1, 0], &[1, 0]).unwrap();
        assert_eq!(structure.leaf_len(), 4);
        let nodes = structure.finish(&mut Buffer::new());
        assert_eq!(nodes.get(0).starts, [0, 2, 2, 2]);
        let valid = |node: &NodeColumn| node.validity.as_ref().unwrap().iter().collect::<Vec<_>>();
        assert_eq!(valid(nodes.get(0)), [true, false, true, true]);
        assert_eq!(valid(nodes.get(1)), [true, true, false, true]);
    }

    #[test]
    fn a_null_struct_makes_a_null_list() {
        // struct<list<int>> rows: null, {null}, {[]}, {[7]}
        let path = [Node::Item, Node::List, Node::Item];
        let layers = Layers::parse(&[1, 6, 3], &path).unwrap();
        let mut structure = Structure::new(&path, 4, 4, Buffer::new());
        structure.append(&layers, &[1, 1, 1, 1], &[3, 1, 2, 0]).unwrap();
        let nodes = structure.finish(&mut Buffer::new());
        let valid = |node: &NodeColumn| node.validity.as_ref().map(|v| v.iter().collect::<Vec<_>>());
        assert_eq!(valid(nodes.get(0)).unwrap(), [false, true, true, true]);
        assert_eq!(valid(nodes.get(1)).unwrap(), [false, false, true, true]);
        assert_eq!((nodes.get(2).len, valid(nodes.get(2))), (1, None));
        assert_eq!(nodes.get(1).starts, [0, 0, 0, 0]);
    }

    #[test]
    fn refuses_items_outside_of_lists() {
        assert!(offsets::<i32>(&[], 0).is_ok() && offsets::<i32>(&[0, 0, 2], 3).is_ok());
        assert!(offsets::<i32>(&[1, 2], 3).is_err() && offsets::<i64>(&[], 1).is_err());
    }

    #[test]
    fn refuses_levels_beyond_the_layers() {
        let path = [Node::List, Node::Item];
        let layers = Layers::parse(&[3, 6], &path).unwrap();
        let mut structure = Structure::new(&path, 1, 1, Buffer::new());
        assert!(structure.append(&layers, &[1], &[4]).is_err());
        assert!(structure.append(&layers, &[2], &[0]).is_err());
        assert!(structure.append(&layers, &[1, 0], &[0]).is_err());
    }
}
