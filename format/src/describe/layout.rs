//! The page layouts of versions 2.1 and 2.2.

use super::{
    Encoding, LayerKind, Value,
    compressive::{compressive, layers, optional},
};
use crate::proto::v21::*;
use alloc::vec::Vec;

/// The layers of a page, leaf first, and its layout. `words` is the size of the page's first buffer.
pub(super) fn layout(message: &PageLayout, words: Option<u64>) -> (Vec<LayerKind>, Encoding) {
    match &message.layout {
        Some(Layout::MiniBlock(page)) => (layers(&page.layers), mini_block(page, words)),
        Some(Layout::Constant(page)) => (layers(&page.layers), constant(page)),
        Some(Layout::FullZip(page)) => (layers(&page.layers), full_zip(page)),
        Some(Layout::Blob(page)) => (layers(&page.layers), blob(page, words)),
        Some(Layout::Sparse(_)) => (Vec::new(), Encoding::new("sparse")),
        None => (Vec::new(), Encoding::unknown()),
    }
}

fn mini_block(page: &MiniBlock, words: Option<u64>) -> Encoding {
    let width = if page.has_large_chunk { 4 } else { 2 };
    let dictionary = page.dictionary.as_ref().map(compressive);
    Encoding::new("mini-block")
        .with("values", optional(page.value_compression.as_ref()))
        .with_some("rep", page.rep_compression.as_ref().map(compressive))
        .with_some("def", page.def_compression.as_ref().map(compressive))
        .with_some("dictionary", dictionary.map(|encoding| encoding.counted(page.num_dictionary_items)))
        .with("slots", page.num_items)
        .with("buffers", page.num_buffers)
        .with_some("index-depth", Some(page.repetition_index_depth).filter(|depth| *depth != 0))
        .with_some("chunks", words.map(|bytes| bytes / width))
        .with("large", page.has_large_chunk)
}

fn constant(page: &Constant) -> Encoding {
    let count = |number: u64| Some(number).filter(|number| *number != 0);
    Encoding::new("constant")
        .with_some("value", page.inline_value.clone())
        .with_some("rep", page.rep_compression.as_ref().map(compressive))
        .with_some("def", page.def_compression.as_ref().map(compressive))
        .with_some("rep-levels", count(page.num_rep_values))
        .with_some("def-levels", count(page.num_def_values))
}

fn full_zip(page: &FullZip) -> Encoding {
    let encoding = Encoding::new("full-zip").with("values", optional(page.value_compression.as_ref()));
    match page.width {
        Some(ZipWidth::BitsPerValue(bits)) => encoding.with("value-bits", bits),
        Some(ZipWidth::BitsPerOffset(bits)) => encoding.with("length-bits", bits),
        None => encoding,
    }
    .with("rep-bits", page.bits_rep)
    .with("def-bits", page.bits_def)
    .with("entries", page.num_items)
    .with("slots", page.num_visible_items)
}

fn blob(page: &Blob, words: Option<u64>) -> Encoding {
    let Some(inner) = &page.inner else { return Encoding::new("blob").of(Encoding::unknown()) };
    let (layers, encoding) = layout(inner, words);
    Encoding::new("blob").of(encoding).with("layers", Value::Layers(layers))
}
