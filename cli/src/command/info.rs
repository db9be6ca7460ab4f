//! `lancet info`: what a dataset is, as facts with a name and a value.

use super::{open, time};
use crate::{
    args::InfoArgs,
    error::Result,
    output::facts::{self, Fact, Record},
};
use lancet::{Dataset, Field, Index};

pub(super) fn run(args: &InfoArgs) -> Result<()> {
    let dataset = open(&args.dataset)?;
    facts::one(args.output.format(), &facts(&dataset)?)
}

fn facts(dataset: &Dataset) -> Result<Record> {
    let manifest = dataset.manifest();
    let rows = dataset.count_rows()?;
    let physical: Option<u64> = manifest.fragments.iter().map(|fragment| fragment.physical_rows).sum();
    let sizes = manifest.fragments.iter().flat_map(|fragment| &fragment.files);
    let bytes: Option<u64> = sizes.map(|file| file.size).sum();
    let indices = dataset.indices()?;
    Ok(vec![
        ("version", dataset.version().into()),
        ("branch", dataset.branch().into()),
        ("timestamp", time(manifest.timestamp)),
        ("rows", rows.into()),
        ("deleted_rows", physical.map(|physical| physical - rows).into()),
        ("fragments", manifest.fragments.len().into()),
        ("storage_version", manifest.data_storage_version.to_string().into()),
        ("row_ids", if manifest.has_stable_row_ids() { "stable" } else { "address" }.into()),
        ("data_bytes", bytes.into()),
        ("columns", Fact::List(dataset.schema().fields.iter().map(|field| column(field)).collect())),
        ("indices", Fact::List(indices.iter().map(|index| index_facts(index).into()).collect())),
    ])
}

fn column(field: &Field) -> Fact {
    let facts: Record = vec![
        ("name", (*field.name).into()),
        ("type", field.data_type.to_string().into()),
        ("nullable", field.nullable.into()),
    ];
    facts.into()
}

/// One index, for `info` and `index list`.
pub(super) fn index_facts(index: &Index) -> Record {
    vec![
        ("name", index.name.clone().into()),
        ("type", index.kind.clone().into()),
        ("columns", index.columns.clone().into()),
        ("segments", index.segments.len().into()),
        ("fragments", index.fragments.len().into()),
        ("rows_covered", index.rows_covered.into()),
        ("rows_uncovered", index.rows_uncovered.into()),
        ("bytes", index.bytes.into()),
    ]
}
