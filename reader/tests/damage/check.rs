//! Reading a dataset in every way, and what a column must be whatever the bytes were.

use lancet::{Batch, Dataset, Error, Rows};
use lancet_format::{
    Column, DataType, Physical, Values,
    table::{FragmentReuseDetails, Lineage, Manifest, RowIdSequence, RowVersions, Transaction},
};

/// Rows of a batch; a scan ends after ten of them.
pub(crate) const BATCH: usize = 1024;
const BATCHES: usize = 10;

/// Reads `columns` of the dataset (all if there are none): scans them and takes some rows.
pub(crate) fn read(dataset: &Dataset, columns: &[String]) -> Result<(), Error> {
    let rows = dataset.count_rows()?;
    let projection = match columns {
        [] => dataset.full_projection(),
        names => dataset.projection(names)?,
    }
    .with_row_id();
    let mut found = 0;
    for batch in dataset.scan().project(projection.clone()).batch_size(BATCH).batches()?.take(BATCHES) {
        let batch = batch?;
        assert!(batch.len() <= BATCH && !batch.is_empty(), "a batch of {} rows", batch.len());
        check_batch(dataset, &batch);
        found += batch.len() as u64;
    }
    assert!(found == rows || found <= rows && found >= BATCHES as u64, "{found} rows of {rows}");
    if rows > 0 {
        let last = rows - 1;
        for offsets in [&[last, 0, last / 2, last][..], &[last / 3]] {
            let batch = dataset.take(Rows::Offsets(offsets), &projection)?;
            assert_eq!(batch.len(), offsets.len());
            check_batch(dataset, &batch);
        }
        let ids = id_of(dataset, last / 3)?;
        let batch = dataset.take(Rows::Ids(&ids), &projection)?;
        check_batch(dataset, &batch);
        let batch = dataset.take(Rows::Addresses(&[0]), &projection)?;
        check_batch(dataset, &batch);
    }
    Ok(())
}

/// The id of the row at `offset`.
fn id_of(dataset: &Dataset, offset: u64) -> Result<Vec<u64>, Error> {
    let projection = dataset.projection(["_rowid"])?;
    let batch = dataset.take(Rows::Offsets(&[offset]), &projection)?;
    let ids = batch.columns()[0].primitive::<u64>().expect("ids are numbers").to_vec();
    // There may be no such row; looking for it must do no harm.
    let _ = dataset.take(Rows::Ids(&[ids[0] ^ 1]), &projection);
    Ok(ids)
}

/// Lists what lies beside the version at hand.
#[allow(dead_code)] // The fuzz targets have no files beside it.
pub(crate) fn read_lists(dataset: &Dataset) {
    let _ = (dataset.indices(), dataset.versions(), dataset.tags(), dataset.branches());
}

/// Reads what a manifest holds besides the way to the rows.
pub(crate) fn read_manifest(manifest: &Manifest) {
    if let Ok(Some(bytes)) = manifest.transaction() {
        let _ = Transaction::parse(&bytes);
    }
    for index in manifest.indices().unwrap_or_default() {
        if let Ok(Some(FragmentReuseDetails::Inline(reuse))) = FragmentReuseDetails::of(&index) {
            (0..4)
                .for_each(|fragment| assert!(reuse.map(fragment << 32).is_none_or(|at| at >> 32 < 1 << 32)));
        }
    }
    for fragment in &manifest.fragments {
        let rows = fragment.physical_rows.unwrap_or(0);
        if let Some(Lineage::Inline(bytes)) = &fragment.row_ids
            && let Ok(ids) = RowIdSequence::parse(bytes, rows)
        {
            assert_eq!(ids.len(), rows);
            for (row, id) in ids.iter_from(0).enumerate().take(BATCH) {
                assert_eq!(ids.get(row as u64), id);
                assert!(ids.find(id).is_some());
            }
        }
        for lineage in [&fragment.created_at, &fragment.last_updated_at] {
            if let Some(Lineage::Inline(bytes)) = lineage
                && let Ok(versions) = RowVersions::parse(bytes, rows)
                && rows > 0
            {
                versions.get(rows - 1);
            }
        }
    }
}

/// The bytes of one row, at the most and about.
pub(crate) fn width(data_type: &DataType) -> usize {
    let children = || data_type.children().iter().map(|child| width(&child.data_type));
    1 + match data_type.physical() {
        Physical::Fixed(width) => width,
        Physical::FixedSizeList(dimension) => children().sum::<usize>().saturating_mul(dimension),
        Physical::Struct => children().fold(0, usize::saturating_add),
        _ => 16,
    }
}

/// What columns of this type are of: dictionaries may be read as their values.
fn read_as<'a>(data_type: &'a DataType, found: &DataType) -> &'a DataType {
    match data_type {
        DataType::Dictionary(_, values) if *found == **values => values,
        other => other,
    }
}

fn check_batch(dataset: &Dataset, batch: &Batch) {
    for (name, column) in batch.names().iter().zip(batch.columns()) {
        assert_eq!(column.len(), batch.len(), "the rows of column {name}");
        // Damage can give one name to several fields, or another case to a name; system columns have no field.
        let lower = name.to_lowercase();
        let mut fields = dataset.schema().fields.iter().filter(|field| field.name.to_lowercase() == lower);
        let first = fields.next();
        let same = fields.find(|field| read_as(&field.data_type, column.data_type()) == column.data_type());
        let data_type = same.or(first).map_or(&DataType::UInt64, |field| &field.data_type);
        check_column(column, data_type, name);
    }
}

/// A column of the right type whose buffers fit each other.
pub(crate) fn check_column(column: &Column, data_type: &DataType, name: &str) {
    let data_type = read_as(data_type, column.data_type());
    assert_eq!(column.data_type(), data_type, "the type of {name}");
    let len = column.len();
    if let Some(validity) = column.validity() {
        assert_eq!(validity.len(), len, "the validity of {name}");
        assert!(validity.count_ones() <= len);
    }
    assert!(column.null_count() <= len);
    let ranges = |end: usize| {
        let mut at = 0;
        for row in 0..len {
            let range = column.range(row).expect("offsets");
            assert_eq!(range.start, at, "row {row} of {name}");
            assert!(range.start <= range.end, "row {row} of {name}");
            at = range.end;
        }
        assert!(at <= end, "the offsets of {name} end at {at} of {end}");
    };
    match (column.values(), data_type.physical()) {
        (Values::Null, Physical::Null) => {}
        (Values::Bits(bits), Physical::Bits) => assert_eq!(bits.len(), len, "the bits of {name}"),
        (Values::Fixed(buffer), Physical::Fixed(width)) => {
            assert_eq!(buffer.len(), len * width, "the values of {name}");
        }
        (Values::Variable { bytes, .. }, Physical::Variable)
        | (Values::LargeVariable { bytes, .. }, Physical::LargeVariable) => {
            ranges(bytes.len());
            assert!(
                !data_type.is_utf8() || (0..len).all(|row| column.is_null(row) || column.str(row).is_some()),
                "the text of {name}"
            );
        }
        (Values::List { items, .. }, Physical::List)
        | (Values::LargeList { items, .. }, Physical::LargeList) => {
            ranges(items.len());
            check_column(items, &data_type.children()[0].data_type, name);
        }
        (Values::FixedSizeList(items), Physical::FixedSizeList(dimension)) => {
            assert_eq!(items.len(), len * dimension, "the items of {name}");
            check_column(items, &data_type.children()[0].data_type, name);
        }
        (Values::Struct(columns), Physical::Struct) => {
            assert_eq!(columns.len(), data_type.children().len(), "the fields of {name}");
            for (child, field) in columns.iter().zip(data_type.children()) {
                assert_eq!(child.len(), len, "the rows of {name}.{}", field.name);
                check_column(child, &field.data_type, &field.name);
            }
        }
        (values, physical) => panic!("{name}: {values:?} for {physical:?}"),
    }
}
