//! A small dataset that claims to have as many rows as a fragment can have.

use crate::{allocations, layout};
use lancet::{
    Dataset, Rows,
    storage::{Bytes, InMemory},
};

const ROWS: u64 = 1 << 32;

/// The number 2³² in a message.
const ROWS_VARINT: [u8; 5] = [0x80, 0x80, 0x80, 0x80, 0x10];

/// A dataset with one column called `n` of type `uint8` in one page: no bytes, all rows null. The second half of
/// the rows has the smaller row ids.
fn dataset() -> Dataset {
    let encoding = |name: &[u8], message: &[u8]| {
        let any = [layout::field(1, name), layout::field(2, message)].concat();
        layout::field(2, &layout::field(1, &any))
    };
    let page = encoding(b"/PageLayout", &layout::field(2, &layout::field(5, &[3])));
    let page = [&[0x18][..], &ROWS_VARINT, &layout::field(4, &page)].concat();
    let column = encoding(b"/ColumnEncoding", &layout::field(1, &[]));
    let file = layout::file_of_one_column(&[layout::field(1, &column), layout::field(2, &page)].concat());

    let top = [0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x30, 1];
    let number = [layout::field(2, b"n"), top.to_vec(), layout::field(5, b"uint8")].concat();
    let path = layout::field(1, b"n.lance");
    let data = [&path[..], &layout::field(2, &[0]), &layout::field(3, &[0]), &[0x20, 2, 0x28, 1]].concat();
    let half = [0x80, 0x80, 0x80, 0x80, 0x08];
    let upper = [&[0x08][..], &half, &[0x10], &ROWS_VARINT].concat();
    let lower = [&[0x08, 0, 0x10][..], &half].concat();
    let segments = [upper, lower].map(|range| layout::field(1, &layout::field(1, &range))).concat();
    let ids = layout::field(5, &segments);
    let fragment = [&layout::field(2, &data)[..], &[0x20], &ROWS_VARINT, &ids].concat();
    let stable_ids = [0x48, 2, 0x50, 2];
    let format = [layout::field(1, b"lance"), layout::field(2, b"2.1")].concat();
    let manifest = [
        layout::field(1, &number),
        layout::field(2, &fragment),
        [0x18, 1].into(),
        stable_ids.into(),
        layout::field(15, &format),
    ];
    let mut storage = InMemory::new();
    storage.insert("d/data/n.lance", Bytes::from(file));
    let manifest = Bytes::from(layout::manifest(&manifest.concat()));
    storage.insert("d/_versions/18446744073709551614.manifest", manifest);
    Dataset::options().storage(storage).open("d").expect("a sound manifest")
}

#[test]
fn rows_without_bytes_cost_a_batch() {
    let (taken, most) = allocations::measure([0; 3], || {
        let dataset = dataset();
        assert_eq!(dataset.count_rows().expect("a count"), ROWS);
        let mut rows = 0;
        for batch in dataset.scan().with_row_id().batches().expect("a scan").take(100) {
            let batch = batch.expect("a batch");
            assert_eq!(batch.columns()[0].null_count(), batch.len());
            rows += batch.len();
        }
        let last = dataset.take(Rows::Offsets(&[ROWS - 1, 0]), &dataset.full_projection());
        let addresses = dataset.full_projection().with_row_address();
        let first = dataset.take(Rows::Ids(&[ROWS - 1, 1]), &addresses).expect("two rows");
        let addresses = first.columns()[1].primitive::<u64>().expect("numbers").to_vec();
        (rows, last.expect("two rows").len(), addresses)
    });
    assert_eq!(taken, (100 * 8192, 2, vec![ROWS / 2 - 1, ROWS / 2 + 1]));
    // Twice the batch: a null bit, a byte and the eight bytes of a row id for each row.
    assert!(most.peak < 1 << 20, "{most:?}");
}
