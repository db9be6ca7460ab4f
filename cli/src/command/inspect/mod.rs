//! `lancet inspect`: everything about one file of a dataset.
//!
//! One object of facts for each kind of file; what a file has many of comes as lists of records.

mod lance;
mod manifest;
mod transaction;

use super::time;
use crate::{
    args::InspectArgs,
    error::Result,
    output::facts::{self, Fact, Record},
};
use lancet::{
    describe::{Content, DeletionsDescription, FieldDescription},
    storage::FormatError,
    table::{Branch, DeletionKind, Roaring, Tag, Timestamp},
};
use std::collections::BTreeMap;

pub(super) fn run(args: &InspectArgs) -> Result<()> {
    let description = lancet::inspect(&args.file)?;
    let (kind, more) = match &description.content {
        Content::File(file) => ("lance", lance::facts(file)),
        Content::Manifest(manifest) => ("manifest", manifest::facts(manifest)),
        Content::Deletions(deletions) => ("deletions", deletion_facts(deletions)),
        Content::Transaction(transaction) => ("transaction", transaction::facts(transaction)),
        Content::Tag(tag) => ("tag", tag_facts(tag)),
        Content::Branch(branch) => ("branch", branch_facts(branch)),
        _ => ("other", Record::new()),
    };
    let file = args.file.to_string_lossy().into_owned();
    let mut record: Record =
        vec![("file", file.into()), ("kind", kind.into()), ("size", description.size.into())];
    record.extend(more);
    facts::one(args.output.format(), &record)
}

fn deletion_facts(deletions: &DeletionsDescription) -> Record {
    let rows = &deletions.rows;
    let form = match deletions.kind {
        DeletionKind::Arrow => "arrow",
        DeletionKind::Bitmap => "bitmap",
    };
    vec![
        ("form", form.into()),
        ("deleted_rows", rows.len().into()),
        ("first", rows.iter().next().into()),
        ("last", rows.max().into()),
        ("ranges", rows.ranges(0).count().into()),
    ]
}

fn tag_facts(tag: &Tag) -> Record {
    vec![
        ("version", tag.version.into()),
        ("branch", tag.branch.clone().into()),
        ("created_at", tag.created_at.clone().into()),
        ("updated_at", tag.updated_at.clone().into()),
        ("manifest_size", tag.manifest_size.into()),
        ("metadata", texts(&tag.metadata)),
    ]
}

fn branch_facts(branch: &Branch) -> Record {
    let identifier = branch.identifier.iter().map(|(version, id)| {
        let part: Record = vec![("version", (*version).into()), ("id", id.clone().into())];
        part
    });
    let created = branch.created_at.and_then(|seconds| i64::try_from(seconds).ok());
    vec![
        ("parent_branch", branch.parent_branch.clone().into()),
        ("parent_version", branch.parent_version.into()),
        ("created_at", time(created.map(|seconds| Timestamp { seconds, nanos: 0 }))),
        ("manifest_size", branch.manifest_size.into()),
        ("identifier", records(identifier)),
        ("metadata", texts(&branch.metadata)),
    ]
}

/// The fields of a schema; `columns` says which columns of the file hold them.
fn field_facts(fields: &[FieldDescription], columns: bool) -> Fact {
    records(fields.iter().map(|described| {
        let field = &described.field;
        let mut record: Record = vec![
            ("id", field.id.into()),
            ("parent", described.parent.into()),
            ("path", described.path.clone().into()),
            ("type", field.data_type.to_string().into()),
            ("nullable", field.nullable.into()),
        ];
        if columns {
            record.push(("column", described.column.into()));
        }
        record.push(("metadata", bytes(&field.metadata)));
        record
    }))
}

/// What is wrong with parts of the file.
fn error_facts<'a>(errors: impl IntoIterator<Item = &'a FormatError>) -> Fact {
    records(errors.into_iter().map(|error| {
        vec![
            ("place", error.place().into()),
            ("offset", error.offset().into()),
            ("message", error.message().into()),
        ]
    }))
}

fn records(records: impl Iterator<Item = Record>) -> Fact {
    Fact::List(records.map(Fact::Record).collect())
}

/// Keys and values.
fn texts(pairs: &BTreeMap<String, String>) -> Fact {
    records(pairs.iter().map(|(key, value)| pair(key, value.clone())))
}

/// Keys and values; those that are no text are shown in hexadecimal.
fn bytes(pairs: &BTreeMap<String, Vec<u8>>) -> Fact {
    records(pairs.iter().map(|(key, value)| match std::str::from_utf8(value) {
        Ok(text) => pair(key, text.into()),
        Err(_) => pair(key, value.iter().fold("0x".into(), |text, byte| format!("{text}{byte:02x}"))),
    }))
}

fn pair(key: &str, value: String) -> Record {
    vec![("key", key.into()), ("value", value.into())]
}

/// The numbers of a set as ranges such as `0-3` and `7`.
fn ranges(set: &Roaring) -> Fact {
    let range = |range: std::ops::Range<u64>| match range.end - range.start {
        1 => Fact::Text(range.start.to_string()),
        _ => Fact::Text(format!("{}-{}", range.start, range.end - 1)),
    };
    Fact::List(set.ranges(0).map(range).collect())
}
