//! Facts of a Lance file: tables of fields, columns, pages and buffers, each with the numbers of what it lies in.

use super::{bytes, error_facts, field_facts, records};
use crate::output::facts::{Fact, Record};
use lancet::describe::{BufferDescription, FileDescription};

pub(super) fn facts(file: &FileDescription) -> Record {
    let schema = file.schema.as_ref().ok();
    vec![
        ("version", file.version.to_string().into()),
        ("rows", schema.map(|schema| schema.rows).into()),
        ("column_metadata_offset", file.column_metadata_position.into()),
        ("column_table_offset", file.column_table_position.into()),
        ("global_buffer_table_offset", file.global_buffer_table_position.into()),
        ("footer_offset", file.footer_position.into()),
        ("schema_metadata", schema.map(|schema| bytes(&schema.metadata)).unwrap_or(Fact::Null)),
        ("fields", schema.map(|schema| field_facts(&schema.fields, true)).unwrap_or(Fact::Null)),
        ("global_buffers", global_buffers(file)),
        ("columns", columns(file)),
        ("pages", pages(file)),
        ("buffers", buffers(file)),
        ("errors", error_facts(file.errors())),
    ]
}

fn global_buffers(file: &FileDescription) -> Fact {
    let buffers = file.global_buffers.iter().enumerate();
    records(buffers.filter_map(|(index, buffer)| {
        let mut record: Record = vec![("buffer", index.into())];
        record.extend(place(buffer.as_ref().ok()?));
        Some(record)
    }))
}

fn columns(file: &FileDescription) -> Fact {
    let fields = file.fields_by_column();
    let sound =
        file.columns.iter().enumerate().filter_map(|(index, column)| Some((index, column.as_ref().ok()?)));
    records(sound.map(|(index, column)| {
        let field = fields.get(&(index as u32));
        vec![
            ("column", index.into()),
            ("field_id", field.map(|field| field.field.id).into()),
            ("field", field.map(|field| field.path.clone()).into()),
            ("encoding", column.encoding.as_ref().ok().map(ToString::to_string).into()),
            ("rows", column.rows.into()),
            ("pages", column.pages.len().into()),
            ("metadata_offset", column.metadata.position.into()),
            ("metadata_size", column.metadata.size.into()),
        ]
    }))
}

fn pages(file: &FileDescription) -> Fact {
    let mut all: Vec<Fact> = Vec::new();
    for (index, column) in file.columns.iter().enumerate() {
        for (number, page) in column.iter().flat_map(|column| &column.pages).enumerate() {
            let layers: Vec<String> = page.layers.iter().map(ToString::to_string).collect();
            let encoding = page.encoding.as_ref().ok();
            let record: Record = vec![
                ("column", index.into()),
                ("page", number.into()),
                ("first_row", page.first_row.into()),
                ("rows", page.rows.into()),
                ("layers", layers.into()),
                ("layout", encoding.map(|encoding| encoding.name).into()),
                ("encoding", encoding.map(ToString::to_string).into()),
            ];
            all.push(record.into());
        }
    }
    Fact::List(all)
}

/// Those of pages, and before them those of their column.
fn buffers(file: &FileDescription) -> Fact {
    let mut all: Vec<Fact> = Vec::new();
    let mut add = |column: usize, page: Option<usize>, buffers: &[BufferDescription]| {
        for (index, buffer) in buffers.iter().enumerate() {
            let mut record: Record =
                vec![("column", column.into()), ("page", page.into()), ("buffer", index.into())];
            record.extend(place(buffer));
            all.push(record.into());
        }
    };
    for (index, column) in file.columns.iter().enumerate() {
        let Ok(column) = column else { continue };
        add(index, None, column.buffers.as_deref().unwrap_or_default());
        for (number, page) in column.pages.iter().enumerate() {
            add(index, Some(number), page.buffers.as_deref().unwrap_or_default());
        }
    }
    Fact::List(all)
}

fn place(buffer: &BufferDescription) -> Record {
    vec![
        ("offset", buffer.position.into()),
        ("size", buffer.size.into()),
        ("alignment", buffer.alignment().into()),
    ]
}
