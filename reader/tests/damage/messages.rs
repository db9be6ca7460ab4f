//! Messages that are nothing but the shortest parts: the most memory that a byte of a message can take.

use crate::{allocations, layout};
use lancet::storage::Bytes;
use lancet_format::{ColumnMap, File, table::Manifest};
use std::sync::Arc;

/// What a message may take: so many bytes for each of its own, and a little more.
const FACTOR: usize = 128;
const SLACK: usize = 1 << 20;

const PARTS: usize = 1 << 16;

fn check(what: &str, size: usize, work: impl FnOnce()) {
    let ((), taken) = allocations::measure([size as u64, 0, 0], work);
    println!("{what}: {} bytes for {size}, {:.0} times", taken.peak, taken.peak as f64 / size as f64);
    assert!(taken.peak <= size * FACTOR + SLACK, "{what}: {} bytes for {size}", taken.peak);
}

#[test]
fn empty_parts_of_manifests() {
    // Fields, fragments, metadata, base paths.
    for key in [&[0x0a][..], &[0x12], &[0x2a], &[0x82, 0x01], &[0x92, 0x01]] {
        let message = [key, &[0]].concat().repeat(PARTS);
        let file = layout::manifest(&message).into();
        check(&format!("manifest of {key:?}"), message.len(), || drop(Manifest::parse(&file)));
    }
    // A fragment of empty files, a file of one-byte fields.
    let files = [0x12, 0].repeat(PARTS);
    let fields = [&[0x12, 0x80, 0x80, 4][..], &vec![1; PARTS]].concat();
    let deep = layout::field(2, &layout::field(2, &fields));
    for message in [layout::field(2, &files), deep] {
        let file = layout::manifest(&message).into();
        check("manifest of one fragment", message.len(), || drop(Manifest::parse(&file)));
    }
}

#[test]
fn empty_pages_of_columns() {
    let any = [layout::field(1, b"/ColumnEncoding"), layout::field(2, &layout::field(1, &[]))].concat();
    let encoding = layout::field(1, &layout::field(2, &layout::field(1, &any)));
    let page = layout::field(2, &[]);
    let offsets = layout::field(2, &layout::field(1, &vec![0; PARTS]));
    for message in [page.repeat(PARTS), offsets] {
        let file = layout::file_of_one_column(&[&encoding[..], &message].concat());
        check("column metadata", message.len(), || {
            let file = File::open(Arc::new(Bytes::from(file))).expect("a sound footer");
            let (schema, _) = file.container().schema().expect("a sound schema");
            let columns = ColumnMap::new([(0, 0)]);
            let read = file.read(&schema.fields[0], &columns, 0, &[], None);
            assert!(read.is_ok_and(|column| column.is_empty()));
        });
    }
}
