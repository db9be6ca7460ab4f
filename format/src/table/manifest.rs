//! Manifests: one immutable file for each version of a table.
//!
//! ```text
//! [ u32 length | IndexSection ]   optional, where the manifest says
//! [ u32 length | Transaction ]    optional, where the manifest says
//!   u32 length | Manifest         at P
//!   u64 P | u16 0 | u16 2 | "LANC"
//! ```

use super::{Fragment, IndexMetadata, ManifestName, flags, fragment};
use crate::{Error, FileVersion, Result, Schema, cursor::Cursor, ensure, proto, wire};
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use bytes::Bytes;
use core::fmt;

const MAGIC: &[u8] = b"LANC";
/// Position, two version numbers, magic.
const FOOTER: usize = 16;
/// The length before a message.
const LENGTH: usize = 4;
/// The numbers of the fields that [`Manifest`] holds; a writer must carry all others as they are.
const KNOWN_FIELDS: [u32; 19] = [1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 23];
/// The largest manifest that is read.
const MAX_SIZE: usize = 1 << 31;

/// One version of a table: its columns, its fragments, and what else belongs to it.
#[derive(Clone)]
#[non_exhaustive]
pub struct Manifest {
    /// The number of the version.
    pub version: u64,
    /// The branch that the version lies on; `None` is the main one.
    pub branch: Option<String>,
    /// When it was committed.
    pub timestamp: Option<Timestamp>,
    /// The columns.
    pub schema: Schema,
    /// The fragments in the order in which a scan visits them.
    pub fragments: Vec<Fragment>,
    /// [Flags](flags) that a reader must know; all of them are in [`flags::READABLE`].
    pub reader_flags: u64,
    /// [Flags](flags) that a writer must know as well.
    pub writer_flags: u64,
    /// The highest fragment id that was ever used or reserved; `None` if there never was any.
    pub max_fragment_id: Option<u32>,
    /// The next stable row id to give out.
    pub next_row_id: u64,
    /// The name in `_transactions` of the file that tells what the commit did.
    pub transaction_file: Option<String>,
    /// The program that wrote the version.
    pub writer_version: Option<WriterVersion>,
    /// The format of the table's data files.
    pub data_storage_version: FileVersion,
    /// Settings of the table.
    pub config: BTreeMap<String, String>,
    /// Anything that users attached to the table.
    pub table_metadata: BTreeMap<String, String>,
    /// Other roots under which files of the table lie, by the id that files name.
    pub base_paths: BTreeMap<u32, BasePath>,
    /// Ids and positions of the fragments, ascending; empty if `fragments` itself is ascending.
    by_id: Vec<(u32, usize)>,
    index_section: Option<u64>,
    transaction_section: Option<u64>,
    file: Bytes,
    /// Where the manifest's own message begins, and sections end.
    position: usize,
}

/// A point in time, in seconds and nanoseconds since 1970 (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Whole seconds.
    pub seconds: i64,
    /// Nanoseconds on top of them.
    pub nanos: i32,
}

impl Timestamp {
    /// The whole in nanoseconds.
    pub fn as_nanos(self) -> i128 {
        i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos)
    }
}

/// The program that wrote a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriterVersion {
    /// The name of the library.
    pub library: String,
    /// Its version.
    pub version: String,
    /// What follows the version after a hyphen.
    pub prerelease: Option<String>,
    /// What follows the version after a plus.
    pub build_metadata: Option<String>,
}

impl fmt::Display for WriterVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.library, self.version)?;
        if let Some(prerelease) = &self.prerelease {
            write!(f, "-{prerelease}")?;
        }
        if let Some(metadata) = &self.build_metadata {
            write!(f, "+{metadata}")?;
        }
        Ok(())
    }
}

/// Another root under which files may lie.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BasePath {
    /// A name for people.
    pub name: Option<String>,
    /// Whether `path` is a dataset (with folders `data`, `_indices`), not a folder of bare files.
    pub is_dataset_root: bool,
    /// An absolute path or a URI.
    pub path: String,
}

impl Manifest {
    /// Parses a whole manifest file. Row ids share its bytes.
    ///
    /// # Errors
    /// Corrupt if the file contradicts the format; unsupported, with the feature's name, if it needs a
    /// feature that this crate does not know.
    pub fn parse(file: &Bytes) -> Result<Self> {
        let position = locate(file)?;
        let start = position + LENGTH;
        let offset = start as u64;
        let message = proto::decode_shared(file.slice(start..file.len() - FOOTER), offset, "manifest")?;
        Self::build(message, file, position).map_err(|error| error.at(offset))
    }

    fn build(message: proto::table::Manifest, file: &Bytes, position: usize) -> Result<Self> {
        let reader_flags = message.reader_feature_flags;
        flags::check(reader_flags, flags::READABLE, "reader")?;
        ensure!(message.fragment_tree.is_none(), "expected no fragment tree without the flag for it");

        let fields = message.fields;
        let schema =
            Schema::from_proto(&fields, message.schema_metadata).map_err(|error| error.within("schema"))?;
        let data_storage_version =
            storage_version(message.data_format, &message.fragments, message.writer_feature_flags)?;
        let mut builder = fragment::Builder::default();
        let bytes = file.slice(position + LENGTH..file.len() - FOOTER);
        let raw = wire::values(&bytes, 2);
        let fragments = message
            .fragments
            .into_iter()
            .zip(raw)
            .map(|(fragment, raw)| builder.fragment(fragment, raw, reader_flags));
        let fragments = fragments.collect::<Result<Vec<_>>>()?;
        let by_id = positions(&fragments)?;

        let transaction_file = message.transaction_file;
        ensure!(
            !transaction_file.contains(['/', '\\', '\0']),
            "transaction file: expected a file name, found `{}`",
            transaction_file.escape_debug()
        );
        let timestamp = message.timestamp;
        Ok(Manifest {
            version: message.version,
            branch: message.branch,
            timestamp: timestamp.map(|time| Timestamp { seconds: time.seconds, nanos: time.nanos }),
            schema,
            fragments,
            reader_flags,
            writer_flags: message.writer_feature_flags,
            max_fragment_id: message.max_fragment_id,
            next_row_id: message.next_row_id,
            transaction_file: Some(transaction_file).filter(|name| !name.is_empty()),
            writer_version: message.writer_version.map(|writer| WriterVersion {
                library: writer.library,
                version: writer.version,
                prerelease: writer.prerelease,
                build_metadata: writer.build_metadata,
            }),
            data_storage_version,
            config: message.config,
            table_metadata: message.table_metadata,
            base_paths: base_paths(message.base_paths)?,
            by_id,
            index_section: message.index_section,
            transaction_section: message.transaction_section.or(message.transaction_section_before_12),
            file: file.clone(),
            position,
        })
    }

    /// Checks that the file's name and the version inside agree.
    ///
    /// # Errors
    /// Corrupt if they do not.
    pub fn check_name(&self, name: ManifestName) -> Result<()> {
        name.check(self.version)
    }

    /// Whether rows have ids that they keep when they move.
    pub fn has_stable_row_ids(&self) -> bool {
        self.reader_flags & flags::STABLE_ROW_IDS != 0
    }

    /// The fragment with this id.
    pub fn fragment(&self, id: u32) -> Option<&Fragment> {
        self.fragments.get(self.position_of(id)?)
    }

    /// The position among [`fragments`](Self::fragments) of the fragment with this id.
    pub fn position_of(&self, id: u32) -> Option<usize> {
        if self.by_id.is_empty() {
            return self.fragments.binary_search_by_key(&id, |fragment| fragment.id).ok();
        }
        let found = self.by_id.binary_search_by_key(&id, |entry| entry.0).ok()?;
        Some(self.by_id[found].1)
    }

    /// Parses the index list: one entry for each segment. The bitmaps share the manifest's bytes.
    ///
    /// # Errors
    /// Corrupt if the section or one of its entries contradicts the format.
    pub fn indices(&self) -> Result<Vec<IndexMetadata>> {
        let Some(position) = self.index_section else { return Ok(Vec::new()) };
        let (bytes, offset) = self.section(position, "index section")?;
        let section: proto::table::IndexSection =
            proto::decode_shared(bytes.clone(), offset, "index section")?;
        let entries = section.indices.into_iter().zip(wire::values(&bytes, 1)).map(IndexMetadata::from_proto);
        entries.collect::<Result<_>>().map_err(|error| error.at(offset))
    }

    /// The fields that this version of lancet does not know, key and value each, in their order. Whoever
    /// writes the next version must carry them.
    ///
    /// # Errors
    /// None for a manifest that was parsed.
    pub fn unknown_fields(&self) -> Result<Vec<Bytes>> {
        let message = self.file.slice(self.position + LENGTH..self.file.len() - FOOTER);
        let unknown = wire::fields(&message).filter(|field| match field {
            Ok(field) => !KNOWN_FIELDS.contains(&field.number),
            Err(_) => true,
        });
        unknown.map(|field| field.map(|field| field.bytes)).collect()
    }

    /// The message that tells what the commit did, if the file holds one; it may use operations of the future.
    ///
    /// # Errors
    /// Corrupt if the section does not lie within the file.
    pub fn transaction(&self) -> Result<Option<Bytes>> {
        let section = self.transaction_section.map(|position| self.section(position, "transaction section"));
        Ok(section.transpose()?.map(|(bytes, _)| bytes))
    }

    /// The message that lies behind its length at `position`, and its offset.
    fn section(&self, position: u64, what: &str) -> Result<(Bytes, u64)> {
        let Some(start) = usize::try_from(position).ok().filter(|start| *start <= self.position) else {
            return Err(Error::corrupt(format!(
                "{what}: expected a position before the manifest at {}",
                self.position
            ))
            .at(position));
        };
        let mut cursor = Cursor::new(&self.file[start..self.position], position);
        let length = cursor.u32(what)?;
        let offset = cursor.offset();
        let bytes = cursor.take(length as usize, what)?;
        Ok((self.file.slice_ref(bytes), offset))
    }
}

impl fmt::Debug for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manifest")
            .field("version", &self.version)
            .field("schema", &self.schema)
            .field("fragments", &self.fragments)
            .finish_non_exhaustive()
    }
}

/// Checks the container and finds the position of the manifest's length.
fn locate(file: &[u8]) -> Result<usize> {
    let size = file.len();
    ensure!(
        (FOOTER + LENGTH..=MAX_SIZE).contains(&size),
        "manifest: expected {} bytes to 2 GiB, found {size}",
        FOOTER + LENGTH
    );
    let footer_at = size - FOOTER;
    let mut footer = Cursor::new(&file[footer_at..], footer_at as u64);
    let position = footer.u64("manifest position")?;
    // The container's version, which says nothing: readers go by the feature flags.
    footer.take(4, "manifest footer")?;
    let magic = footer.take(MAGIC.len(), "manifest magic")?;
    if magic != MAGIC {
        let message = format!("expected the magic `LANC`, found `{}`", magic.escape_ascii());
        return Err(Error::corrupt(message).at((size - MAGIC.len()) as u64));
    }
    let last = footer_at - LENGTH;
    let Some(start) = usize::try_from(position).ok().filter(|start| *start <= last) else {
        let message = format!("manifest position: expected at most {last}, found {position}");
        return Err(Error::corrupt(message).at(footer_at as u64));
    };
    let length = Cursor::new(&file[start..], position).u32("manifest length")? as usize;
    let expected = last - start;
    if length != expected {
        let message = format!("manifest length: expected {expected} bytes up to the footer, found {length}");
        return Err(Error::corrupt(message).at(position));
    }
    Ok(start)
}

fn storage_version(
    format: Option<proto::table::DataStorageFormat>,
    fragments: &[proto::table::DataFragment],
    writer_flags: u64,
) -> Result<FileVersion> {
    if let Some(format) = format {
        return FileVersion::parse(&format.version);
    }
    // Tables from before the field: the files say it, and without files the flag of old writers does.
    match fragments.iter().flat_map(|fragment| &fragment.files).next() {
        Some(file) => FileVersion::from_numbers(file.file_major_version, file.file_minor_version),
        None if writer_flags & flags::V2_FORMAT != 0 => Ok(FileVersion::V2_0),
        None => Err(FileVersion::legacy()),
    }
}

/// The positions of the fragments by id, or nothing if the fragments ascend.
fn positions(fragments: &[Fragment]) -> Result<Vec<(u32, usize)>> {
    if fragments.is_sorted_by(|a, b| a.id < b.id) {
        return Ok(Vec::new());
    }
    let mut by_id: Vec<_> = fragments.iter().enumerate().map(|(at, fragment)| (fragment.id, at)).collect();
    by_id.sort_unstable();
    match by_id.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(Error::corrupt(format!("expected each fragment once, found {} twice", pair[0].0))),
        None => Ok(by_id),
    }
}

fn base_paths(messages: Vec<proto::table::BasePath>) -> Result<BTreeMap<u32, BasePath>> {
    let mut paths = BTreeMap::new();
    for base in messages {
        let path = BasePath { name: base.name, is_dataset_root: base.is_dataset_root, path: base.path };
        let id = base.id;
        ensure!(paths.insert(id, path).is_none(), "expected each base path once, found {id} twice");
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use prost::Message;
    use proto::table as message;

    type Change = fn(&mut message::Manifest);

    fn fragment(id: u64) -> message::DataFragment {
        let file = message::DataFile {
            path: format!("{id}.lance"),
            fields: [Bytes::from_static(&[0])].into(),
            column_indices: [Bytes::from_static(&[0])].into(),
            file_major_version: 2,
            file_minor_version: 1,
            ..Default::default()
        };
        message::DataFragment { id, files: [file].into(), physical_rows: 10, ..Default::default() }
    }

    fn manifest() -> message::Manifest {
        let field = proto::Field {
            name: "a".into(),
            id: 0,
            parent_id: -1,
            logical_type: "int32".into(),
            ..Default::default()
        };
        let format = message::DataStorageFormat { file_format: "lance".into(), version: "2.1".into() };
        message::Manifest {
            fields: [field].into(),
            fragments: [fragment(0), fragment(4)].into(),
            version: 6,
            data_format: Some(format),
            max_fragment_id: Some(4),
            ..Default::default()
        }
    }

    /// A file of sections, each behind its length, and a manifest that knows their positions.
    fn file(sections: &[&[u8]], build: impl FnOnce(&[u64]) -> message::Manifest) -> Vec<u8> {
        let (mut out, mut positions) = (Vec::new(), Vec::new());
        for section in sections {
            positions.push(out.len() as u64);
            out.extend((section.len() as u32).to_le_bytes());
            out.extend(*section);
        }
        let position = out.len() as u64;
        let message = build(&positions).encode_to_vec();
        out.extend((message.len() as u32).to_le_bytes());
        out.extend(message);
        out.extend(position.to_le_bytes());
        out.extend(b"\0\0\x02\0LANC");
        out
    }

    fn parse(file: Vec<u8>) -> Result<Manifest> {
        Manifest::parse(&file.into())
    }

    /// Parses a sound manifest after a change.
    fn change(change: impl FnOnce(&mut message::Manifest)) -> Result<Manifest> {
        parse(file(&[], |_| {
            let mut message = manifest();
            change(&mut message);
            message
        }))
    }

    fn index(uuid: &'static [u8]) -> message::IndexMetadata {
        message::IndexMetadata {
            uuid: Some(message::Uuid { uuid: Bytes::from_static(uuid) }),
            name: "a_idx".into(),
            fields: [0].into(),
            fragment_bitmap: super::super::Roaring::from_sorted(&[0, 4]).as_bytes().clone(),
            ..Default::default()
        }
    }

    fn with_index(entry: message::IndexMetadata) -> Result<Vec<IndexMetadata>> {
        let section = message::IndexSection { indices: [entry].into() }.encode_to_vec();
        let build = |positions: &[u64]| message::Manifest { index_section: Some(positions[0]), ..manifest() };
        parse(file(&[&section], build)).unwrap().indices()
    }

    #[test]
    fn reads_what_a_table_has() {
        let manifest = change(|it| {
            it.timestamp = Some(message::Timestamp { seconds: 2, nanos: 5 });
            it.config.insert("k".into(), "v".into());
            it.transaction_file = "5-u.txn".into();
            it.writer_version = Some(message::WriterVersion {
                library: "lance".into(),
                version: "10.0.0".into(),
                prerelease: Some("beta.1".into()),
                build_metadata: None,
            });
            it.base_paths.push(message::BasePath { id: 7, path: "/elsewhere".into(), ..Default::default() });
        })
        .unwrap();
        assert_eq!((manifest.version, manifest.max_fragment_id), (6, Some(4)));
        assert_eq!(manifest.schema.fields.len(), 1);
        assert_eq!(manifest.data_storage_version, FileVersion::V2_1);
        assert_eq!(manifest.timestamp.map(Timestamp::as_nanos), Some(2_000_000_005));
        assert_eq!(manifest.config["k"], "v");
        assert_eq!(manifest.transaction_file.as_deref(), Some("5-u.txn"));
        assert_eq!(format!("{}", manifest.writer_version.as_ref().unwrap()), "lance 10.0.0-beta.1");
        assert_eq!(manifest.base_paths[&7].path, "/elsewhere");
        assert_eq!(manifest.position_of(4), Some(1));
        assert_eq!(manifest.fragment(3), None);
        assert!(!manifest.has_stable_row_ids());
        assert!(manifest.indices().unwrap().is_empty());
        assert!(manifest.transaction().unwrap().is_none());
        assert!(manifest.check_name(ManifestName::parse("6.manifest").unwrap()).is_ok());
        assert!(manifest.check_name(ManifestName::parse("7.manifest").unwrap()).is_err());
    }

    #[test]
    fn reads_sections() {
        let section = message::IndexSection { indices: [index(b"0123456789abcdef")].into() }.encode_to_vec();
        let bytes = file(&[&section, b"\xff garbage"], |positions| message::Manifest {
            index_section: Some(positions[0]),
            transaction_section_before_12: Some(positions[1]),
            ..manifest()
        });
        let manifest = parse(bytes).unwrap();
        let indices = manifest.indices().unwrap();
        assert_eq!(indices[0].uuid.0, *b"0123456789abcdef");
        assert!(indices[0].fragments.as_ref().unwrap().iter().eq([0, 4]));
        // A transaction that means nothing does not keep a table from opening.
        assert_eq!(manifest.transaction().unwrap().as_deref(), Some(&b"\xff garbage"[..]));
    }

    #[test]
    fn finds_fragments_in_any_order() {
        let manifest = change(|it| it.fragments = [fragment(9), fragment(2), fragment(5)].into()).unwrap();
        assert_eq!([2, 5, 9, 3].map(|id| manifest.position_of(id)), [Some(1), Some(2), Some(0), None]);
        assert_eq!(manifest.fragment(5).map(|fragment| fragment.id), Some(5));
        assert!(change(|it| it.fragments = [fragment(9), fragment(2), fragment(9)].into()).is_err());
        assert!(change(|it| it.fragments = [fragment(2), fragment(2)].into()).is_err());
    }

    #[test]
    fn refuses_features_by_name() {
        for flags in [1, 4, 8, 16, 32, 256, 2048] {
            assert!(change(|it| it.reader_feature_flags = flags).is_ok(), "{flags}");
        }
        for (flags, name) in [
            (64, "data overlays"),
            (128, "covering index metadata"),
            (512, "fragment reuse"),
            (1024, "tagged fragment reuse index"),
            (4096, "fragment tree"),
            (16384, "managed blobs"),
            (32768, "non-reusable field ids"),
            (1 << 63, "flag 9223372036854775808"),
        ] {
            let error = change(|it| it.reader_feature_flags = flags).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.message().contains(name), "{error}");
        }
        // What only writers must know does not concern a reader.
        assert!(change(|it| it.writer_feature_flags = 1 << 63).is_ok());
        // Row ids are promised, but there are none.
        assert!(change(|it| it.reader_feature_flags = 2).is_err());
    }

    #[test]
    fn knows_the_storage_version() {
        let version = |text: &str| {
            let format = message::DataStorageFormat { file_format: String::new(), version: text.into() };
            change(|it| it.data_format = Some(format)).map(|manifest| manifest.data_storage_version)
        };
        assert_eq!(version("2.0").unwrap(), FileVersion::V2_0);
        assert_eq!(version("2.2").unwrap(), FileVersion::V2_2);
        for text in ["0.1", "legacy", "2.3", "", "stable"] {
            let error = version(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{text}");
        }
        let without = |fragments: Vec<_>, writer_feature_flags| {
            change(|it| {
                (it.data_format, it.fragments) = (None, fragments);
                it.writer_feature_flags = writer_feature_flags;
            })
            .map(|manifest| manifest.data_storage_version)
        };
        assert_eq!(without([fragment(0)].into(), 0).unwrap(), FileVersion::V2_1);
        assert_eq!(without([].into(), flags::V2_FORMAT).unwrap(), FileVersion::V2_0);
        assert_eq!(without([].into(), 0).unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn refuses_messages_that_contradict_themselves() {
        let changes: [(Change, &str); 6] = [
            (|it| it.fields[0].parent_id = 8, "a parent that is not there"),
            (|it| it.fields = [it.fields[0].clone(), it.fields[0].clone()].into(), "a field id twice"),
            (|it| it.base_paths = [Default::default(), Default::default()].into(), "a base path twice"),
            (|it| it.transaction_file = "../a".into(), "a transaction elsewhere"),
            (|it| it.fragment_tree = Some(Bytes::new()), "fragments elsewhere"),
            (|it| it.fragments[1].files.clear(), "a fragment without files"),
        ];
        for (damage, why) in changes {
            let error = change(damage).expect_err(why);
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{why}");
            assert!(error.offset().is_some(), "{error}");
        }
    }

    #[test]
    fn refuses_damaged_containers() {
        let sound = file(&[b"section"], |_| manifest());
        let size = sound.len();
        assert!(parse(sound.clone()).is_ok());
        for len in 0..size {
            assert!(parse(sound[..len].to_vec()).is_err(), "{len}");
            assert!(parse(sound[size - len..].to_vec()).is_err(), "the last {len}");
        }
        let with = |at: usize, bytes: &[u8]| {
            let mut file = sound.clone();
            file[at..at + bytes.len()].copy_from_slice(bytes);
            parse(file)
        };
        let footer = size - FOOTER;
        assert!(with(footer + 8, &[9, 0, 9, 0]).is_ok(), "the container's version says nothing");
        assert!(with(size - 1, b"X").is_err(), "magic");
        assert!(with(footer, &[0xff; 8]).is_err(), "negative position");
        assert!(with(footer, &(footer as u64 - 3).to_le_bytes()).is_err(), "position behind the last length");
        assert!(with(footer, &0u64.to_le_bytes()).is_err(), "position of something else");
        assert!(with(11, &[0xff; 4]).is_err(), "length");
        let mut longer = sound.clone();
        longer.insert(footer, 0);
        assert!(parse(longer).is_err(), "bytes between the manifest and the footer");
    }

    #[test]
    fn refuses_sections_outside_the_file() {
        let at = |position| {
            move |_: &[u64]| message::Manifest {
                index_section: Some(position),
                transaction_section: Some(position),
                ..manifest()
            }
        };
        for (section, position) in [(&b"abc"[..], 7), (b"abc", 4), (b"abc", 8), (b"abc", u64::MAX), (b"", 1)]
        {
            let manifest = parse(file(&[section], at(position))).unwrap();
            assert!(manifest.indices().is_err(), "{position}");
            assert!(manifest.transaction().is_err(), "{position}");
        }
        let mut long = file(&[b"abc"], at(0));
        long[..4].fill(0xff);
        assert!(parse(long).unwrap().indices().is_err());
    }

    #[test]
    fn refuses_index_entries_that_contradict_the_format() {
        assert!(with_index(index(b"0123456789abcdef")).is_ok());
        assert!(with_index(message::IndexMetadata { uuid: None, ..index(b"") }).is_err());
        assert!(with_index(index(b"0123456789abcde")).is_err());
        let bitmap = Bytes::from_static(b"no bitmap");
        assert!(
            with_index(message::IndexMetadata { fragment_bitmap: bitmap, ..index(b"0123456789abcdef") })
                .is_err()
        );
        let file = message::IndexFile { path: "../a".into(), size_bytes: 1 };
        assert!(
            with_index(message::IndexMetadata { files: [file].into(), ..index(b"0123456789abcdef") })
                .is_err()
        );
        let unknown = message::IndexMetadata { fragment_bitmap: Bytes::new(), ..index(b"0123456789abcdef") };
        assert_eq!(with_index(unknown).unwrap()[0].fragments, None);
    }

    #[test]
    fn keeps_what_it_does_not_know() {
        // Field 200, a number, and field 201, bytes, in the manifest; field 77 in a fragment.
        let unknown = [&[0xc0, 0x0c, 5][..], &[0xca, 0x0c, 2, 8, 9]];
        let mut raw = fragment(3).encode_to_vec();
        raw.extend([0xe8, 0x04, 1]);
        let mut bytes = message::Manifest { fragments: Vec::new(), ..manifest() }.encode_to_vec();
        prost::encoding::bytes::encode(2, &raw, &mut bytes);
        bytes.extend(unknown.concat());
        let mut file = (bytes.len() as u32).to_le_bytes().to_vec();
        file.extend(bytes);
        file.extend(0u64.to_le_bytes());
        file.extend(b"\0\0\x02\0LANC");
        let manifest = parse(file).unwrap();
        assert_eq!(manifest.unknown_fields().unwrap(), unknown);
        assert_eq!(manifest.fragments[0].raw, raw);
    }
}
