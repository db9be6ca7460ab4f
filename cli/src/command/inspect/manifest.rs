//! Facts of a manifest.

use super::{bytes, error_facts, field_facts, ranges, records, texts, time, transaction};
use crate::output::facts::{Fact, Record};
use lancet::{
    describe::ManifestDescription,
    storage::FormatError,
    table::{DataFile, Fragment, IndexMetadata, Lineage, RowIdSequence, RowVersions, Timestamp, flags},
};

pub(super) fn facts(described: &ManifestDescription) -> Record {
    let manifest = &described.manifest;
    let transaction = described.transaction.as_ref().ok().and_then(Option::as_ref);
    let bases = manifest.base_paths.iter().map(|(id, base)| {
        let record: Record = vec![
            ("id", (*id).into()),
            ("name", base.name.clone().into()),
            ("is_dataset_root", base.is_dataset_root.into()),
            ("path", base.path.clone().into()),
        ];
        record
    });
    vec![
        ("version", manifest.version.into()),
        ("branch", manifest.branch.clone().into()),
        ("timestamp", time(manifest.timestamp)),
        ("writer", manifest.writer_version.as_ref().map(ToString::to_string).into()),
        ("storage_version", manifest.data_storage_version.to_string().into()),
        ("reader_flags", flags::names(manifest.reader_flags).into()),
        ("writer_flags", flags::names(manifest.writer_flags).into()),
        ("max_fragment_id", manifest.max_fragment_id.into()),
        ("next_row_id", manifest.next_row_id.into()),
        ("transaction_file", manifest.transaction_file.clone().into()),
        ("unknown_fields", described.unknown_fields.into()),
        ("config", texts(&manifest.config)),
        ("table_metadata", texts(&manifest.table_metadata)),
        ("schema_metadata", bytes(&manifest.schema.metadata)),
        ("base_paths", records(bases)),
        ("fields", field_facts(&described.fields, false)),
        ("fragments", records(manifest.fragments.iter().map(fragment))),
        ("data_files", records(manifest.fragments.iter().flat_map(data_files))),
        ("indices", described.indices.as_ref().map_or(Fact::Null, |list| records(list.iter().map(index)))),
        ("transaction", transaction.map(transaction::facts).into()),
        ("errors", error_facts(described.errors())),
    ]
}

fn fragment(fragment: &Fragment) -> Record {
    let deletion = fragment.deletion.as_ref();
    vec![
        ("fragment", fragment.id.into()),
        ("rows", fragment.physical_rows.into()),
        ("deletion_file", deletion.map(|file| file.file_name(fragment.id)).into()),
        ("deletion_base", deletion.and_then(|file| file.base_id).into()),
        ("deleted_rows", deletion.and_then(|file| file.num_deleted_rows).into()),
        ("row_ids", lineage(fragment, fragment.row_ids.as_ref(), row_ids)),
        ("created_at", lineage(fragment, fragment.created_at.as_ref(), versions)),
        ("last_updated_at", lineage(fragment, fragment.last_updated_at.as_ref(), versions)),
    ]
}

/// One number for each row, told by `sequence` if the manifest holds it: a word, a list, or what is wrong.
fn lineage(
    fragment: &Fragment,
    lineage: Option<&Lineage>,
    sequence: fn(&lancet::storage::Bytes, u64) -> Result<Fact, FormatError>,
) -> Fact {
    match lineage {
        None => Fact::Null,
        Some(Lineage::Column) => "column".into(),
        Some(Lineage::Inline(bytes)) => match fragment.physical_rows {
            Some(rows) => sequence(bytes, rows).unwrap_or_else(|error| error.to_string().into()),
            None => "the number of rows is not known".into(),
        },
    }
}

fn row_ids(bytes: &lancet::storage::Bytes, rows: u64) -> Result<Fact, FormatError> {
    let sequence = RowIdSequence::parse(bytes, rows)?;
    Ok(records(sequence.segments().map(|segment| {
        vec![
            ("kind", segment.kind.to_string().into()),
            ("rows", segment.rows.into()),
            ("min", segment.min.into()),
            ("max", segment.max.into()),
        ]
    })))
}

fn versions(bytes: &lancet::storage::Bytes, rows: u64) -> Result<Fact, FormatError> {
    let versions = RowVersions::parse(bytes, rows)?;
    Ok(records(
        versions.runs().map(|(rows, version)| {
            vec![("rows", (rows.end - rows.start).into()), ("version", version.into())]
        }),
    ))
}

fn data_files(fragment: &Fragment) -> impl Iterator<Item = Record> {
    fragment.files.iter().map(|file| data_file(fragment.id, file))
}

fn data_file(fragment: u32, file: &DataFile) -> Record {
    vec![
        ("fragment", fragment.into()),
        ("path", file.path.clone().into()),
        ("base", file.base_id.into()),
        ("version", file.version.to_string().into()),
        ("size", file.size.into()),
        ("fields", file.fields.to_vec().into()),
        ("columns", file.column_indices.to_vec().into()),
    ]
}

pub(super) fn index(index: &IndexMetadata) -> Record {
    let files = index.files.iter().map(|file| {
        let record: Record = vec![("path", file.path.clone().into()), ("size", file.size.into())];
        record
    });
    let created = index.created_at.map(|millis| Timestamp {
        seconds: (millis / 1000) as i64,
        nanos: (millis % 1000) as i32 * 1_000_000,
    });
    vec![
        ("name", index.name.clone().into()),
        ("uuid", index.uuid.to_string().into()),
        ("type", index.details.as_ref().map(|details| details.kind()).into()),
        ("fields", index.fields.clone().into()),
        ("covering_fields", index.covering_fields.clone().into()),
        ("dataset_version", index.dataset_version.into()),
        ("fragments", index.fragments.as_ref().map_or(Fact::Null, ranges)),
        ("version", index.version.into()),
        ("created_at", time(created)),
        ("base", index.base_id.into()),
        ("files", records(files)),
    ]
}
