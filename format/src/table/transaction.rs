//! Transactions: what each commit did, for histories and for writers that must not contradict it.
//!
//! A transaction is a bare protobuf message: the whole of a `.txn` file, or a section of a manifest
//! ([`Manifest::transaction`](super::Manifest::transaction)).

use super::{IndexMetadata, Uuid};
use crate::{Error, Result, proto, wire};
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use bytes::{Buf, Bytes};
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use proto::table::DataFragment;
use proto::transaction::{self as message, FIRST_OPERATION, operation};

/// What a commit did.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Transaction {
    /// The version that the commit started from.
    pub read_version: u64,
    /// Makes the file's name unique.
    pub uuid: String,
    /// Anything that users attached to it, such as a message.
    pub properties: BTreeMap<String, String>,
    /// What was done.
    pub operation: Operation,
}

/// The kinds of operations, each with what tells whether two of them contradict each other.
///
/// Fragments are named by id, except new ones, which get their ids when they are committed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Operation {
    /// Rows were added.
    Append {
        /// How many fragments.
        fragments: usize,
        /// How many rows.
        rows: u64,
    },
    /// Rows were deleted.
    Delete {
        /// Fragments with more deleted rows than before.
        updated_fragments: Vec<u64>,
        /// Fragments that lost all rows.
        deleted_fragments: Vec<u64>,
        /// The condition that the rows met.
        predicate: String,
    },
    /// The table was created, or all of its rows replaced.
    Overwrite {
        /// How many fragments.
        fragments: usize,
        /// How many rows.
        rows: u64,
    },
    /// Segments of indices were added or dropped.
    CreateIndex {
        /// The new segments.
        added: Vec<IndexMetadata>,
        /// The segments that are gone.
        removed: Vec<IndexMetadata>,
    },
    /// Fragments were compacted.
    Rewrite {
        /// Which fragments became which.
        groups: Vec<RewriteGroup>,
        /// Segments of indices that were rewritten: old and new.
        indices: Vec<(Uuid, Uuid)>,
    },
    /// Columns were added or changed their type.
    Merge {
        /// How many fragments the table has.
        fragments: usize,
    },
    /// An old version became the newest.
    Restore {
        /// The old version.
        version: u64,
    },
    /// Fragment ids were set aside.
    ReserveFragments {
        /// How many.
        count: u32,
    },
    /// Values were changed.
    Update {
        /// Fragments that lost all rows.
        removed_fragments: Vec<u64>,
        /// Fragments with more deleted rows or other columns than before.
        updated_fragments: Vec<u64>,
        /// How many fragments hold the new values.
        new_fragments: usize,
        /// The fields whose values changed in place.
        fields_modified: Vec<u32>,
    },
    /// Columns were dropped or renamed.
    Project,
    /// Settings or metadata were changed.
    UpdateConfig {
        /// The keys of the table's configuration that were set or removed.
        config_keys: Vec<String>,
        /// Whether metadata of the table was changed.
        table_metadata: bool,
        /// Whether metadata of the schema or its fields was changed.
        schema_metadata: bool,
    },
    /// Data files were replaced.
    DataReplacement {
        /// The fragments that they belong to.
        fragments: Vec<u64>,
    },
    /// The list of rows that are not yet in fragments was changed.
    UpdateMemWalState,
    /// The table began as a copy of another.
    Clone {
        /// Whether the files stayed where they were.
        is_shallow: bool,
        /// The tag or branch that was copied.
        ref_name: Option<String>,
        /// The version that was copied.
        ref_version: u64,
        /// The root of the table that was copied.
        ref_path: String,
        /// The branch that the copy is.
        branch: Option<String>,
    },
    /// Other roots for files were added.
    UpdateBases {
        /// How many.
        bases: usize,
    },
    /// Column values were laid over those of fragments.
    DataOverlay {
        /// The fragments.
        fragments: Vec<u64>,
    },
    /// An operation that is not known, by the number of its field.
    Unknown(u32),
}

/// Fragments whose rows became those of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewriteGroup {
    /// The fragments that are gone.
    pub old_fragments: Vec<u64>,
    /// The fragments that hold their rows.
    pub new_fragments: Vec<u64>,
}

impl Transaction {
    /// Parses a whole transaction.
    ///
    /// # Errors
    /// Corrupt if it is not a message with one operation, or the operation is not what its number says. An
    /// unknown number is no error.
    pub fn parse(bytes: &Bytes) -> Result<Self> {
        let header: message::Transaction = proto::decode_shared(bytes.clone(), 0, "transaction")?;
        let (number, operation) = find_operation(bytes.clone())?;
        Ok(Transaction {
            read_version: header.read_version,
            uuid: header.uuid,
            properties: header.properties,
            operation: Operation::parse(number, operation)?,
        })
    }
}

impl Operation {
    fn parse(number: u32, bytes: Bytes) -> Result<Self> {
        let what = "operation of a transaction";
        Ok(match number {
            operation::APPEND => {
                let append: message::Fragments = proto::decode_shared(bytes, 0, what)?;
                Operation::Append { fragments: append.fragments.len(), rows: rows(&append.fragments) }
            }
            operation::DELETE => {
                let delete: message::Delete = proto::decode_shared(bytes, 0, what)?;
                Operation::Delete {
                    updated_fragments: ids(&delete.updated_fragments),
                    deleted_fragments: delete.deleted_fragment_ids,
                    predicate: delete.predicate,
                }
            }
            operation::OVERWRITE => {
                let overwrite: message::Fragments = proto::decode_shared(bytes, 0, what)?;
                Operation::Overwrite {
                    fragments: overwrite.fragments.len(),
                    rows: rows(&overwrite.fragments),
                }
            }
            operation::CREATE_INDEX => {
                let create: message::CreateIndex = proto::decode_shared(bytes.clone(), 0, what)?;
                let segments = |entries: Vec<proto::table::IndexMetadata>, number| {
                    let entries = entries.into_iter().zip(wire::values(&bytes, number));
                    entries.map(IndexMetadata::from_proto).collect::<Result<_>>()
                };
                Operation::CreateIndex {
                    added: segments(create.new_indices, 1)?,
                    removed: segments(create.removed_indices, 2)?,
                }
            }
            operation::REWRITE => {
                let rewrite: message::Rewrite = proto::decode_shared(bytes, 0, what)?;
                let group = |group: &message::RewriteGroup| RewriteGroup {
                    old_fragments: ids(&group.old_fragments),
                    new_fragments: ids(&group.new_fragments),
                };
                let index = |index: &message::RewrittenIndex| {
                    Ok((Uuid::from_proto(index.old_id.as_ref())?, Uuid::from_proto(index.new_id.as_ref())?))
                };
                Operation::Rewrite {
                    groups: rewrite.groups.iter().map(group).collect(),
                    indices: rewrite.rewritten_indices.iter().map(index).collect::<Result<_>>()?,
                }
            }
            operation::MERGE => {
                let merge: message::Fragments = proto::decode_shared(bytes, 0, what)?;
                Operation::Merge { fragments: merge.fragments.len() }
            }
            operation::RESTORE => {
                let restore: message::Restore = proto::decode_shared(bytes, 0, what)?;
                Operation::Restore { version: restore.version }
            }
            operation::RESERVE_FRAGMENTS => {
                let reserve: message::ReserveFragments = proto::decode_shared(bytes, 0, what)?;
                Operation::ReserveFragments { count: reserve.num_fragments }
            }
            operation::UPDATE => {
                let update: message::Update = proto::decode_shared(bytes, 0, what)?;
                Operation::Update {
                    removed_fragments: update.removed_fragment_ids,
                    updated_fragments: ids(&update.updated_fragments),
                    new_fragments: update.new_fragments.len(),
                    fields_modified: update.fields_modified,
                }
            }
            operation::PROJECT => Operation::Project,
            operation::UPDATE_CONFIG => {
                let update: message::UpdateConfig = proto::decode_shared(bytes, 0, what)?;
                let config = update.config.map(|update| update.entries).unwrap_or_default();
                Operation::UpdateConfig {
                    config_keys: config.into_iter().map(|entry| entry.key).collect(),
                    table_metadata: update.table_metadata.is_some(),
                    schema_metadata: update.schema_metadata.is_some() || !update.field_metadata.is_empty(),
                }
            }
            operation::DATA_REPLACEMENT => {
                let replacement: message::DataReplacement = proto::decode_shared(bytes, 0, what)?;
                let fragments = replacement.replacements.iter().map(|file| file.fragment_id);
                Operation::DataReplacement { fragments: fragments.collect() }
            }
            operation::UPDATE_MEM_WAL_STATE => Operation::UpdateMemWalState,
            operation::CLONE => {
                let clone: message::Clone = proto::decode_shared(bytes, 0, what)?;
                Operation::Clone {
                    is_shallow: clone.is_shallow,
                    ref_name: clone.ref_name,
                    ref_version: clone.ref_version,
                    ref_path: clone.ref_path,
                    branch: clone.branch_name,
                }
            }
            operation::UPDATE_BASES => {
                let update: message::UpdateBases = proto::decode_shared(bytes, 0, what)?;
                Operation::UpdateBases { bases: update.new_bases.len() }
            }
            operation::DATA_OVERLAY => {
                let overlay: message::DataOverlay = proto::decode_shared(bytes, 0, what)?;
                let fragments = overlay.overlays.iter().map(|overlay| overlay.fragment_id);
                Operation::DataOverlay { fragments: fragments.collect() }
            }
            other => Operation::Unknown(other),
        })
    }

    /// The name of the operation in Lance's own words.
    pub fn name(&self) -> &'static str {
        match self {
            Operation::Append { .. } => "append",
            Operation::Delete { .. } => "delete",
            Operation::Overwrite { .. } => "overwrite",
            Operation::CreateIndex { .. } => "create_index",
            Operation::Rewrite { .. } => "rewrite",
            Operation::Merge { .. } => "merge",
            Operation::Restore { .. } => "restore",
            Operation::ReserveFragments { .. } => "reserve_fragments",
            Operation::Update { .. } => "update",
            Operation::Project => "project",
            Operation::UpdateConfig { .. } => "update_config",
            Operation::DataReplacement { .. } => "data_replacement",
            Operation::UpdateMemWalState => "update_mem_wal_state",
            Operation::Clone { .. } => "clone",
            Operation::UpdateBases { .. } => "update_bases",
            Operation::DataOverlay { .. } => "data_overlay",
            Operation::Unknown(_) => "unknown",
        }
    }
}

fn ids(fragments: &[DataFragment]) -> Vec<u64> {
    fragments.iter().map(|fragment| fragment.id).collect()
}

fn rows(fragments: &[DataFragment]) -> u64 {
    fragments.iter().fold(0, |rows, fragment| rows.saturating_add(fragment.physical_rows))
}

/// The only field of the message with the number of an operation, be it known or not.
fn find_operation(mut message: Bytes) -> Result<(u32, Bytes)> {
    let malformed =
        |error| Error::corrupt(format!("transaction: expected a protobuf message, found {error}"));
    let mut found = None;
    while message.has_remaining() {
        let (number, wire_type) = decode_key(&mut message).map_err(malformed)?;
        if number < FIRST_OPERATION || wire_type != WireType::LengthDelimited {
            skip_field(wire_type, number, &mut message, DecodeContext::default()).map_err(malformed)?;
            continue;
        }
        let length = decode_varint(&mut message).map_err(malformed)?;
        let Some(length) = usize::try_from(length).ok().filter(|length| *length <= message.remaining())
        else {
            return Err(Error::corrupt(format!("transaction: expected an operation of {length} bytes")));
        };
        let operation = message.copy_to_bytes(length);
        if let Some((other, _)) = found.replace((number, operation)) {
            return Err(Error::corrupt(format!(
                "transaction: expected one operation, found {other} and {number}"
            )));
        }
    }
    found.ok_or_else(|| Error::corrupt("transaction: expected an operation, found none"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::{Message, encoding};

    fn encode(number: u32, operation: &impl Message) -> Bytes {
        let header =
            message::Transaction { read_version: 7, uuid: "u".into(), ..message::Transaction::default() };
        let mut out = header.encode_to_vec();
        encoding::bytes::encode(number, &operation.encode_to_vec(), &mut out);
        out.into()
    }

    fn fragment(id: u64, physical_rows: u64) -> DataFragment {
        DataFragment { id, physical_rows, ..DataFragment::default() }
    }

    #[test]
    fn tells_what_was_done() {
        let append = message::Fragments { fragments: [fragment(0, 5), fragment(0, 6)].into() };
        let transaction = Transaction::parse(&encode(operation::APPEND, &append)).unwrap();
        assert_eq!((transaction.read_version, &*transaction.uuid), (7, "u"));
        assert!(matches!(transaction.operation, Operation::Append { fragments: 2, rows: 11 }));
        assert_eq!(transaction.operation.name(), "append");

        let group = message::RewriteGroup {
            old_fragments: [fragment(1, 1), fragment(2, 1)].into(),
            new_fragments: [fragment(9, 2)].into(),
        };
        let rewrite = message::Rewrite { groups: [group].into(), rewritten_indices: [].into() };
        match Transaction::parse(&encode(operation::REWRITE, &rewrite)).unwrap().operation {
            Operation::Rewrite { groups, indices } => {
                assert!(indices.is_empty());
                assert_eq!(
                    groups,
                    [RewriteGroup { old_fragments: [1, 2].into(), new_fragments: [9].into() }]
                );
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn keeps_unknown_operations_as_numbers() {
        let transaction = Transaction::parse(&encode(999, &message::Restore { version: 4 })).unwrap();
        assert!(matches!(transaction.operation, Operation::Unknown(999)));
    }

    #[test]
    fn refuses_damage() {
        let bytes = encode(operation::RESTORE, &message::Restore { version: 4 });
        assert!(matches!(Transaction::parse(&bytes).unwrap().operation, Operation::Restore { version: 4 }));
        for len in 0..bytes.len() {
            assert!(Transaction::parse(&bytes.slice(..len)).is_err(), "{len}");
        }
        let twice: Bytes = [&bytes[..], &bytes[..]].concat().into();
        assert!(Transaction::parse(&twice).is_err());
        let without_uuid =
            message::CreateIndex { new_indices: [Default::default()].into(), removed_indices: [].into() };
        assert!(Transaction::parse(&encode(operation::CREATE_INDEX, &without_uuid)).is_err());
    }
}
