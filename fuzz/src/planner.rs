//! The target of the planner: a whole dataset is opened, its index files among it, and a filter is asked.

use super::{MAX_BYTES, MAX_COLUMNS, check, pieces};
use lancet::{
    Dataset,
    storage::{Bytes, InMemory},
};

/// Where the dataset lies.
const ROOT: &str = "d";

/// Rows that are collected.
const MAX_ROWS: u64 = 1 << 16;

/// The rows are in order and none comes twice, and no more are counted than there are.
pub(super) fn planner(bytes: &Bytes) -> usize {
    let pieces = pieces(bytes);
    let Some((filter, files)) = pieces.split_first() else { return 0 };
    let filter = String::from_utf8_lossy(filter);
    let mut storage = InMemory::new();
    for file in files.chunks_exact(2) {
        storage.insert(format!("{ROOT}/{}", String::from_utf8_lossy(&file[0])), file[1].clone());
    }
    let Ok(dataset) = Dataset::options().storage(storage).open(ROOT) else { return 0 };
    let fields = &dataset.schema().fields;
    let row = fields.iter().map(|field| check::width(&field.data_type)).fold(16, usize::saturating_add);
    if row > MAX_BYTES / check::BATCH * 8 || fields.len() > MAX_COLUMNS {
        return 0;
    }
    let scan = || dataset.scan().filter(&*filter);
    let Ok(counting) = scan() else { return 0 };
    let _ = counting.explain();
    if let (Ok(counted), Ok(rows)) = (counting.count(), dataset.count_rows()) {
        assert!(counted <= rows, "{filter}: {counted} of {rows} rows");
    }
    // A manifest may claim any number of rows, whose addresses lie in no file.
    let found =
        scan().and_then(|scan| scan.columns(["_rowaddr"])).and_then(|scan| scan.limit(MAX_ROWS).collect());
    if let Ok(found) = found {
        let addresses = found.columns()[0].primitive::<u64>().expect("addresses are numbers");
        // Fragments come as the manifest lists them, which need not be by their ids.
        let place = |address: u64| (dataset.manifest().position_of((address >> 32) as u32), address as u32);
        assert!(addresses.is_sorted_by(|&a, &b| place(a) < place(b)), "{filter}: {addresses:?}");
    }
    row.saturating_mul(check::BATCH)
}
