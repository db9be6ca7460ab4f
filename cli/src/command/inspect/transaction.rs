//! Facts of a transaction: who, then what.

use super::{manifest, records, texts};
use crate::output::facts::Record;
use lancet::table::{Operation, Transaction};

pub(super) fn facts(transaction: &Transaction) -> Record {
    let mut record: Record = vec![
        ("read_version", transaction.read_version.into()),
        ("uuid", transaction.uuid.clone().into()),
        ("properties", texts(&transaction.properties)),
        ("operation", transaction.operation.name().into()),
    ];
    record.extend(operation(&transaction.operation));
    record
}

/// What is particular to the operation.
fn operation(operation: &Operation) -> Record {
    match operation {
        Operation::Append { fragments, rows } | Operation::Overwrite { fragments, rows } => {
            vec![("fragments", (*fragments).into()), ("rows", (*rows).into())]
        }
        Operation::Delete { updated_fragments, deleted_fragments, predicate } => vec![
            ("updated_fragments", updated_fragments.clone().into()),
            ("deleted_fragments", deleted_fragments.clone().into()),
            ("predicate", predicate.clone().into()),
        ],
        Operation::CreateIndex { added, removed } => vec![
            ("added", records(added.iter().map(manifest::index))),
            ("removed", records(removed.iter().map(manifest::index))),
        ],
        Operation::Rewrite { groups, indices } => vec![
            (
                "groups",
                records(groups.iter().map(|group| {
                    vec![
                        ("old_fragments", group.old_fragments.clone().into()),
                        ("new_fragments", group.new_fragments.clone().into()),
                    ]
                })),
            ),
            (
                "indices",
                records(indices.iter().map(|(old, new)| {
                    vec![("old", old.to_string().into()), ("new", new.to_string().into())]
                })),
            ),
        ],
        Operation::Merge { fragments } => vec![("fragments", (*fragments).into())],
        Operation::Restore { version } => vec![("version", (*version).into())],
        Operation::ReserveFragments { count } => vec![("count", (*count).into())],
        Operation::Update { removed_fragments, updated_fragments, new_fragments, fields_modified } => vec![
            ("removed_fragments", removed_fragments.clone().into()),
            ("updated_fragments", updated_fragments.clone().into()),
            ("new_fragments", (*new_fragments).into()),
            ("fields_modified", fields_modified.clone().into()),
        ],
        Operation::UpdateConfig { config_keys, table_metadata, schema_metadata } => vec![
            ("config_keys", config_keys.clone().into()),
            ("table_metadata", (*table_metadata).into()),
            ("schema_metadata", (*schema_metadata).into()),
        ],
        Operation::DataReplacement { fragments } | Operation::DataOverlay { fragments } => {
            vec![("fragments", fragments.clone().into())]
        }
        Operation::Clone { is_shallow, ref_name, ref_version, ref_path, branch } => vec![
            ("is_shallow", (*is_shallow).into()),
            ("ref_name", ref_name.clone().into()),
            ("ref_version", (*ref_version).into()),
            ("ref_path", ref_path.clone().into()),
            ("branch", branch.clone().into()),
        ],
        Operation::UpdateBases { bases } => vec![("bases", (*bases).into())],
        Operation::Unknown(number) => vec![("number", (*number).into())],
        _ => Record::new(),
    }
}
