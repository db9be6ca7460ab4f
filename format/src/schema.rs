//! Fields and schemas: the flat list of a manifest or a file, made into a tree.

use crate::{DataType, Error, ErrorKind, Result, ensure, proto};
use alloc::{collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};

/// Fields may lie in so many others.
const MAX_DEPTH: usize = 64;

/// Metadata of a field or a schema: text keys, values that are nearly always text.
pub type Metadata = BTreeMap<String, Vec<u8>>;

/// A named column, or a part of a nested one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The name at this level, without the parents' names.
    pub name: Arc<str>,
    /// The table-wide id that data files refer to; −1 for the items of a fixed-size list of primitives.
    pub id: i32,
    /// The type, which holds the child fields.
    pub data_type: DataType,
    /// Whether values may be null.
    pub nullable: bool,
    /// The Arrow field metadata.
    pub metadata: Arc<Metadata>,
}

impl Field {
    /// A field without metadata.
    pub fn new(name: &str, id: i32, data_type: DataType, nullable: bool) -> Self {
        Field { name: name.into(), id, data_type, nullable, metadata: Default::default() }
    }

    /// The same field with another type: a struct cut down to some of its fields, say.
    #[must_use]
    pub fn with_type(&self, data_type: DataType) -> Self {
        Field { data_type, ..self.clone() }
    }

    /// Whether this struct is stored row by row in one column.
    pub fn is_packed(&self) -> bool {
        matches!(self.data_type, DataType::Struct(_))
            && (self.metadata.get("packed").is_some_and(|value| value.eq_ignore_ascii_case(b"true"))
                || self.metadata.contains_key("lance-encoding:packed")
                || self.is_blob())
    }

    /// The child field called `name`: an exact match, else the only match without regard to case.
    pub fn child(&self, name: &str) -> Result<Option<&Arc<Field>>> {
        find(self.data_type.children(), name)
    }
}

/// The columns of a table or a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schema {
    /// The top-level fields in order.
    pub fields: Vec<Arc<Field>>,
    /// Metadata of the whole.
    pub metadata: Metadata,
}

impl Schema {
    /// Makes the tree of a flat list in which parents precede their children.
    ///
    /// # Errors
    /// Corrupt if a parent is missing or comes later, an id occurs twice, or fields are nested more than 64
    /// deep. A type that is not known becomes [`DataType::Unknown`]: the other columns can be read all the same.
    pub(crate) fn from_proto(fields: &[proto::Field], metadata: Metadata) -> Result<Self> {
        // Children lie behind their parents, so one pass from the back finds them complete.
        let mut depths = BTreeMap::new();
        for field in fields {
            let depth = match (field.parent_id, depths.get(&field.parent_id)) {
                (-1, _) => 0,
                (_, Some(depth)) => depth + 1,
                (parent, None) => {
                    return Err(Error::corrupt(format!(
                        "field `{}` (id {}): expected its parent {parent} before it",
                        field.name, field.id
                    )));
                }
            };
            ensure!(
                depth < MAX_DEPTH,
                "field `{}`: expected at most {MAX_DEPTH} levels of fields",
                field.name
            );
            // Blob descriptions of a file's own schema all have id −1 and no columns.
            if field.id >= 0 && depths.insert(field.id, depth).is_some() {
                return Err(Error::corrupt(format!(
                    "field `{}`: expected an id of its own, found {} twice",
                    field.name, field.id
                )));
            }
        }
        let mut children: BTreeMap<i32, Vec<Arc<Field>>> = BTreeMap::new();
        for field in fields.iter().rev() {
            let mut own =
                if field.id >= 0 { children.remove(&field.id).unwrap_or_default() } else { Vec::new() };
            own.reverse();
            let built = Field::from_proto(field, own)?;
            children.entry(field.parent_id).or_default().push(Arc::new(built));
        }
        let mut roots = children.remove(&-1).unwrap_or_default();
        roots.reverse();
        Ok(Schema { fields: roots, metadata })
    }

    /// The top-level field called `name`: an exact match, else the only match without regard to case.
    ///
    /// # Errors
    /// Invalid input if several names match without regard to case and none exactly.
    pub fn field(&self, name: &str) -> Result<Option<&Arc<Field>>> {
        find(&self.fields, name)
    }

    /// The dotted path of the field with this id.
    pub fn path_of(&self, id: i32) -> Option<String> {
        let path = self.path_to(id)?;
        Some(path.iter().map(|field| &*field.name).collect::<Vec<_>>().join("."))
    }

    /// The fields on the way to the one with this id, from the top.
    pub fn path_to(&self, id: i32) -> Option<Vec<Arc<Field>>> {
        fn find(fields: &[Arc<Field>], id: i32, path: &mut Vec<Arc<Field>>) -> bool {
            fields.iter().any(|field| {
                path.push(field.clone());
                let found = field.id == id || find(field.data_type.children(), id, path);
                if !found {
                    path.pop();
                }
                found
            })
        }
        let mut path = Vec::new();
        find(&self.fields, id, &mut path).then_some(path)
    }

    /// The fields on the way to `path`, which joins names with dots; a name that itself holds dots is
    /// found whole first, and may be quoted with backticks.
    ///
    /// # Errors
    /// Invalid input if there is no such field, or more than one.
    pub fn resolve(&self, path: &str) -> Result<Vec<Arc<Field>>> {
        let mut found = Vec::new();
        if resolve(&self.fields, path, &mut found)? {
            return Ok(found);
        }
        let names: Vec<&str> = self.fields.iter().map(|field| &*field.name).collect();
        Err(Error::invalid_input(format!("no column `{path}`: expected one of {}", names.join(", "))))
    }
}

fn resolve(fields: &[Arc<Field>], path: &str, found: &mut Vec<Arc<Field>>) -> Result<bool> {
    if let Some(rest) = path.strip_prefix('`')
        && let Some((name, rest)) = rest.split_once('`')
    {
        let Some(field) = find(fields, name)? else { return Ok(false) };
        found.push(field.clone());
        return match rest.strip_prefix('.') {
            Some(rest) => resolve(field.data_type.children(), rest, found),
            None => Ok(rest.is_empty()),
        };
    }
    if let Some(field) = find(fields, path)? {
        found.push(field.clone());
        return Ok(true);
    }
    for (dot, _) in path.match_indices('.') {
        if let Some(field) = find(fields, &path[..dot])? {
            found.push(field.clone());
            if resolve(field.data_type.children(), &path[dot + 1..], found)? {
                return Ok(true);
            }
            found.pop();
        }
    }
    Ok(false)
}

fn find<'a>(fields: &'a [Arc<Field>], name: &str) -> Result<Option<&'a Arc<Field>>> {
    if let Some(field) = fields.iter().find(|field| &*field.name == name) {
        return Ok(Some(field));
    }
    let same = |field: &&Arc<Field>| field.name.to_lowercase() == name.to_lowercase();
    let mut matches = fields.iter().filter(same);
    match (matches.next(), matches.next()) {
        (Some(first), Some(second)) => Err(Error::invalid_input(format!(
            "column `{name}` is ambiguous: `{}` and `{}` both match without regard to case",
            first.name, second.name
        ))),
        (found, _) => Ok(found),
    }
}

impl Field {
    fn from_proto(field: &proto::Field, children: Vec<Arc<Field>>) -> Result<Self> {
        let extension = field.metadata.get("ARROW:extension:name").map(Vec::as_slice);
        let data_type = match (field.logical_type.as_str(), extension) {
            ("fixed_size_binary:2", Some(b"lance.bfloat16")) => DataType::BFloat16,
            ("large_binary", Some(b"lance.json")) => DataType::Json,
            // The child fields are those that a writer was given; the file has descriptions instead.
            ("struct", Some(b"lance.blob.v2")) => DataType::LargeBinary,
            (logical, _) => match DataType::parse(logical, children) {
                Err(error) if error.kind() == ErrorKind::Unsupported => DataType::Unknown(logical.into()),
                parsed => parsed.map_err(|error| error.within(format!("field `{}`", field.name)))?,
            },
        };
        Ok(Field {
            name: field.name.as_str().into(),
            id: field.id,
            data_type,
            nullable: field.nullable,
            metadata: Arc::new(field.metadata.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn field(name: &str, id: i32, parent_id: i32, logical_type: &str) -> proto::Field {
        proto::Field {
            name: name.into(),
            id,
            parent_id,
            logical_type: logical_type.into(),
            nullable: true,
            ..Default::default()
        }
    }

    fn schema() -> Schema {
        let fields = [
            field("Id", 0, -1, "int32"),
            field("s", 1, -1, "struct"),
            field("a.b", 2, 1, "string"),
            field("l", 3, 1, "list"),
            field("item", 4, 3, "int8"),
            field("x", 5, -1, "float"),
            field("X", 6, -1, "float"),
        ];
        Schema::from_proto(&fields, Metadata::new()).unwrap()
    }

    #[test]
    fn builds_the_tree() {
        let schema = schema();
        let names: Vec<_> = schema.fields.iter().map(|f| &*f.name).collect();
        assert_eq!(names, ["Id", "s", "x", "X"]);
        assert_eq!(alloc::format!("{}", schema.fields[1].data_type), "struct<a.b: utf8, l: list<int8>>");
    }

    #[test]
    fn resolves_paths_exactly_first_then_without_case() {
        let schema = schema();
        let ids =
            |path: &str| schema.resolve(path).map(|found| found.iter().map(|f| f.id).collect::<Vec<_>>());
        assert_eq!(ids("id").unwrap(), [0]);
        assert_eq!(ids("s.a.b").unwrap(), [1, 2]);
        assert_eq!(ids("s.`a.b`").unwrap(), [1, 2]);
        assert_eq!(ids("S.L").unwrap(), [1, 3]);
        assert_eq!(ids("X").unwrap(), [6]);
        assert!(ids("nope").is_err());
        assert!(ids("s.q").is_err());
    }

    #[test]
    fn refuses_impossible_trees() {
        for fields in [
            vec![field("a", 0, 7, "int8")],
            vec![field("a", 0, -1, "int8"), field("b", 0, -1, "int8")],
            vec![field("c", 1, 0, "int8"), field("p", 0, -1, "struct")],
        ] {
            assert!(Schema::from_proto(&fields, Metadata::new()).is_err());
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: i32| -> Vec<proto::Field> {
            (0..depth).map(|id| field("f", id, id - 1, "struct")).collect()
        };
        assert!(Schema::from_proto(&nested(64), Metadata::new()).is_ok());
        assert!(Schema::from_proto(&nested(65), Metadata::new()).is_err());
        let many = if cfg!(miri) { 1 << 10 } else { 1 << 17 };
        assert!(Schema::from_proto(&nested(many), Metadata::new()).is_err());
    }

    #[test]
    fn values_are_not_larger_than_memory() {
        // Vectors of vectors of structs of nothing: 2^62 items a row.
        let fields = [
            field("f", 0, -1, "fixed_size_list:struct:2147483647"),
            field("item", 1, 0, "struct"),
            field("g", 2, 1, "fixed_size_list:struct:2147483647"),
            field("item", 3, 2, "struct"),
        ];
        let schema = Schema::from_proto(&fields, Metadata::new()).unwrap();
        assert!(matches!(schema.fields[0].data_type, DataType::Unknown(_)));
    }
}
