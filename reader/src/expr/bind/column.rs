//! Names → columns.

use super::super::Place;
use super::super::typed::{ColumnRef, Node, Typed};
use super::Binder;
use crate::{DataType, Error, Field, Result};
use std::sync::Arc;

/// Longer paths lead nowhere: fields are nested less deep, and names that hold so many dots are not looked for.
const MAX_PATH: usize = 256;

/// The columns besides those of the schema.
const SYSTEM: [(&str, ColumnRef); 4] = [
    ("_rowid", ColumnRef::RowId),
    ("_rowaddr", ColumnRef::RowAddress),
    ("_row_created_at_version", ColumnRef::CreatedAtVersion),
    ("_row_last_updated_at_version", ColumnRef::LastUpdatedAtVersion),
];

/// The name of a column with those of the structs around it.
pub(super) fn path(column: &ColumnRef) -> String {
    match column {
        ColumnRef::Field(path) => path.iter().map(|field| &*field.name).collect::<Vec<_>>().join("."),
        other => SYSTEM.iter().find(|(_, column)| column == other).map_or("", |(name, _)| name).into(),
    }
}

impl Binder<'_> {
    pub(super) fn column(&self, names: &[Arc<str>], place: &Place) -> Result<Typed> {
        if let [name] = names
            && let Some((_, column)) = SYSTEM.iter().find(|(system, _)| *system == &**name)
            // A column of the schema with the very same name comes first.
            && !self.schema.fields.iter().any(|field| field.name == *name)
        {
            return Ok(Typed::new(Node::Column(column.clone()), DataType::UInt64));
        }
        let mut path = Vec::new();
        if names.len() > MAX_PATH
            || !self.walk(&DataType::Struct(self.schema.fields.clone().into()), names, &mut path, place)?
        {
            return Err(self.no_column(names, place));
        }
        self.column_at(path, place)
    }

    /// The column below `operand`, or a field of its values if it is no column.
    pub(super) fn field(&self, operand: Typed, name: &Arc<str>, place: &Place) -> Result<Typed> {
        let mut found = Vec::new();
        let names = std::slice::from_ref(name);
        if !self.walk(&operand.data_type, names, &mut found, place)? {
            let fields: Vec<&str> = operand.data_type.children().iter().map(|field| &*field.name).collect();
            return Err(place.error(format_args!("no field `{name}`: expected one of {}", fields.join(", "))));
        }
        if let Node::Column(ColumnRef::Field(path)) = &operand.node {
            return self.column_at(path.iter().cloned().chain(found).collect(), place);
        }
        let children = operand.data_type.children();
        let index = children.iter().position(|field| Arc::ptr_eq(field, &found[0])).unwrap_or_default();
        let data_type = children[index].data_type.clone();
        Ok(Typed::new(Node::Field { operand: Box::new(operand), index }, data_type))
    }

    fn column_at(&self, path: Vec<Arc<Field>>, place: &Place) -> Result<Typed> {
        let data_type = path.last().map_or(DataType::Null, |field| field.data_type.clone());
        let column = ColumnRef::Field(path.into());
        if let DataType::Unknown(logical) = &data_type {
            let name = self::path(&column);
            return Err(Error::unsupported(format!("column `{name}`: type `{logical}` is not known{place}")));
        }
        if let DataType::Timestamp(_, Some(name)) = &data_type
            && super::super::temporal::zone(name).is_none()
        {
            let column = self::path(&column);
            return Err(Error::unsupported(format!(
                "column `{column}`: time zone `{name}` is not known{place}"
            )));
        }
        Ok(Typed::new(Node::Column(column), data_type))
    }

    /// Finds `names` below a struct; a name that holds dots is found whole first.
    fn walk(
        &self,
        within: &DataType,
        names: &[Arc<str>],
        path: &mut Vec<Arc<Field>>,
        place: &Place,
    ) -> Result<bool> {
        let DataType::Struct(fields) = within else { return Ok(false) };
        for taken in (1..=names.len()).rev() {
            let (name, rest) = (names[..taken].join("."), &names[taken..]);
            let Some(field) = find(fields, &name, place)? else { continue };
            path.push(field.clone());
            if rest.is_empty() || self.walk(&field.data_type, rest, path, place)? {
                return Ok(true);
            }
            path.pop();
        }
        Ok(false)
    }

    fn no_column(&self, names: &[Arc<str>], place: &Place) -> Error {
        const SHOWN: usize = 12;
        let known = &self.schema.fields;
        let mut list: Vec<&str> = known.iter().take(SHOWN).map(|field| &*field.name).collect();
        if known.len() > SHOWN {
            list.push("…");
        }
        place.error(format_args!("no column `{}`: expected one of {}", names.join("."), list.join(", ")))
    }
}

/// The field with this name, or else the only one with it but for its case.
fn find<'f>(fields: &'f [Arc<Field>], name: &str, place: &Place) -> Result<Option<&'f Arc<Field>>> {
    if let Some(field) = fields.iter().find(|field| &*field.name == name) {
        return Ok(Some(field));
    }
    let wanted = name.to_lowercase();
    let mut alike = fields.iter().filter(|field| field.name.to_lowercase() == wanted);
    match (alike.next(), alike.next()) {
        (Some(first), Some(second)) => Err(place.error(format_args!(
            "column `{name}` is ambiguous: `{}` and `{}` both match without regard to case",
            first.name, second.name
        ))),
        (found, _) => Ok(found),
    }
}
