//! Manifests that Lance does not write, or that are wrong: what opens all the same, what fails only when it is
//! used, and what the error says.
//!
//! Numbers of fields are those of `docs/format/table.md`.

#[path = "../common/mod.rs"]
mod common;
mod message;
mod table;

use common::in_memory;
use lancet::{
    Batch, Dataset, Error, ErrorKind, Rows,
    table::{ManifestName, Scheme},
};
use message::Message;
use table::Table;

/// `events-tiny` has four fragments, a deletion file, and two segments of one index.
const TINY: &str = "events-tiny";
const STABLE: &str = "events-stable";

/// Fields of `Manifest`.
mod manifest {
    pub(crate) const FIELDS: u64 = 1;
    pub(crate) const FRAGMENTS: u64 = 2;
    pub(crate) const READER_FLAGS: u64 = 9;
    pub(crate) const DATA_FORMAT: u64 = 15;
    pub(crate) const TRANSACTION_SECTIONS: [u64; 2] = [21, 23];
}

/// Fields of `DataFragment`.
mod fragment {
    pub(crate) const ID: u64 = 1;
    pub(crate) const FILES: u64 = 2;
    pub(crate) const DELETION_FILE: u64 = 3;
    pub(crate) const PHYSICAL_ROWS: u64 = 4;
    pub(crate) const ROW_IDS: u64 = 5;
}

/// Fields of `DataFile`.
mod file {
    pub(crate) const SIZE: u64 = 6;
    pub(crate) const BASE: u64 = 7;
}

/// Fields of `DeletionFile`.
mod deletion {
    pub(crate) const FILE_TYPE: u64 = 1;
    pub(crate) const NUM_DELETED_ROWS: u64 = 4;
    pub(crate) const BASE: u64 = 7;
}

/// Fields of `IndexMetadata`.
mod index {
    pub(crate) const UUID: u64 = 1;
    pub(crate) const FRAGMENTS: u64 = 5;
    pub(crate) const DETAILS: u64 = 6;
    pub(crate) const VERSION: u64 = 7;
    pub(crate) const BASE: u64 = 9;
}

fn all(dataset: &Dataset) -> Result<Batch, Error> {
    dataset.scan().with_row_id().with_row_address().collect()
}

/// All rows of the dataset as it is stored.
fn sound(name: &str) -> Batch {
    all(&Table::of(name).open().unwrap()).unwrap()
}

/// Changes every fragment of the newest manifest that has a deletion file.
fn change_deletions(change: impl Fn(&mut Message)) -> Table {
    let mut changed = 0;
    let table = Table::changed(TINY, |manifest| {
        manifest.each(manifest::FRAGMENTS, |_, fragment| {
            fragment.each(fragment::DELETION_FILE, |_, deletion| {
                change(deletion);
                changed += 1;
            });
        });
    });
    assert!(changed > 0, "a dataset with deleted rows");
    table
}

#[track_caller]
fn assert_corrupt(error: &Error, path: &str, text: &str) {
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(error.path(), Some(path), "{error}");
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn a_change_of_nothing_changes_nothing() {
    let table = Table::changed(TINY, |_| {});
    assert!(all(&table.open().unwrap()).unwrap() == sound(TINY));
    let table = Table::changed_indices(TINY, |_, _| {});
    assert_eq!(table.open().unwrap().indices().unwrap()[0].rows_covered, 5);
}

#[test]
fn name_and_version_that_differ() {
    let mut table = Table::of(TINY);
    let newest = table.newest();
    let wrong = ManifestName { version: newest.version + 2, ..newest };
    table.store.insert(table.path(wrong), table.bytes());
    let text = format!("expected version {}", wrong.version);
    assert_corrupt(&table.open().unwrap_err(), &table.path(wrong), &text);
    let sound = Dataset::options().version(newest.version).storage(table.store.clone());
    let sound = sound.open(&table.root).unwrap();
    assert_corrupt(&sound.at_version(wrong.version).unwrap_err(), &table.path(wrong), &text);
    assert_corrupt(&sound.versions().unwrap_err(), &table.path(wrong), &text);
}

#[test]
fn names_of_two_schemes() {
    let mut table = Table::of(TINY);
    let newest = table.newest();
    table.store.insert(table.path(ManifestName { scheme: Scheme::V1, version: 1 }), &b""[..]);
    let folder = format!("{}/_versions", table.root);
    assert_corrupt(&table.open().unwrap_err(), &folder, "scheme");
    // By its number a version is found without a look at the others.
    let dataset = Dataset::options().version(newest.version).storage(table.store.clone());
    let dataset = dataset.open(&table.root).unwrap();
    assert!(all(&dataset).unwrap() == sound(TINY));
    assert_corrupt(&dataset.versions().unwrap_err(), &folder, "scheme");
    assert_corrupt(&dataset.refresh().unwrap_err(), &folder, "scheme");
}

#[test]
fn no_versions() {
    let root = format!("{}/data", Table::of(TINY).root);
    let error = Dataset::options().storage(in_memory(&root)).open(&root).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Io, Some(&*root)));
    assert!(error.to_string().contains("a folder `_versions`"), "{error}");
}

#[test]
fn garbage_for_a_transaction() {
    let mut table = Table::of(TINY);
    let (mut positions, mut bytes) = (Vec::new(), table.bytes());
    Table::changed(TINY, |manifest| {
        positions.extend(manifest::TRANSACTION_SECTIONS.map(|field| manifest.number(field) as usize));
    });
    let position = *positions.iter().max().unwrap();
    let length = u32::from_le_bytes(bytes[position..position + 4].try_into().unwrap()) as usize;
    assert!(length > 0, "a manifest with its transaction inside");
    bytes[position + 4..][..length].fill(0xff);
    table.replace(bytes);
    let dataset = table.open().unwrap();
    assert!(all(&dataset).unwrap() == sound(TINY));
    let versions = dataset.versions().unwrap();
    let operations: Vec<_> = versions.iter().map(|version| version.operation.is_some()).collect();
    let (last, others) = operations.split_last().unwrap();
    assert!(!last && others.iter().all(|known| *known), "{versions:?}");
}

#[test]
fn unknown_reader_flags() {
    for (flag, name) in [(64, "data overlays (flag 64)"), (1 << 40, "flag 1099511627776")] {
        let table = Table::changed(TINY, |manifest| {
            manifest.set(manifest::READER_FLAGS, manifest.number(manifest::READER_FLAGS) | flag);
        });
        let error = table.open().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert_eq!(error.path(), Some(&*table.path(table.newest())));
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn what_contradicts_the_format_is_refused_at_once() {
    type Change = fn(&mut Message);
    let changes: [(&str, Change, &str); 7] = [
        (
            "duplicate fragment id",
            |it| it.each(manifest::FRAGMENTS, |_, fragment| fragment.set(fragment::ID, 3)),
            "found 3 twice",
        ),
        ("two fields with one id", |it| it.each(manifest::FIELDS, |_, field| field.set(3, 1)), "field"),
        ("unknown parent", |it| it.first(manifest::FIELDS, |field| field.set(4, 77)), "77"),
        (
            "no files in a fragment",
            |it| it.first(manifest::FRAGMENTS, |fragment| fragment.remove(fragment::FILES)),
            "data file",
        ),
        (
            "column indices shorter than fields",
            |it| it.first(manifest::FRAGMENTS, |fragment| fragment.first(fragment::FILES, |it| it.remove(3))),
            "column index",
        ),
        (
            "stable row ids without any",
            |it| it.set(manifest::READER_FLAGS, it.number(manifest::READER_FLAGS) | 2),
            "row ids",
        ),
        (
            "a position behind the rows",
            |it| it.first(manifest::FRAGMENTS, |fragment| fragment.set(fragment::ID, 1 << 32)),
            "id below",
        ),
    ];
    for (name, change, text) in changes {
        let table = Table::changed(TINY, change);
        let error = table.open().expect_err(name);
        assert_corrupt(&error, &table.path(table.newest()), text);
    }
    let table = change_deletions(|deletion| deletion.set(deletion::FILE_TYPE, 2));
    assert_corrupt(&table.open().unwrap_err(), &table.path(table.newest()), "type 0 or 1");
    let table = Table::changed_indices(TINY, |_, entry| entry.remove(index::UUID));
    assert_corrupt(&table.open().unwrap_err(), &table.path(table.newest()), "UUID");
    let table = Table::changed(TINY, |it| {
        it.first(manifest::DATA_FORMAT, |format| format.set_bytes(2, *b"9.9"));
    });
    let error = table.open().unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Unsupported, Some(&*table.path(table.newest()))));
}

#[test]
fn fragments_out_of_order() {
    let table = Table::changed(TINY, |manifest| manifest.reverse(manifest::FRAGMENTS));
    let (dataset, sound) = (table.open().unwrap(), sound(TINY));
    let ids = |dataset: &Dataset| dataset.manifest().fragments.iter().map(|it| it.id).collect::<Vec<_>>();
    let mut expected = ids(&Table::of(TINY).open().unwrap());
    expected.reverse();
    assert_eq!(ids(&dataset), expected, "as stored, and so are the rows of a scan");
    let rows = all(&dataset).unwrap();
    let addresses = |rows: &Batch| rows.column("_rowaddr").unwrap().primitive::<u64>().unwrap().to_vec();
    let fragment = |address: &u64| (address >> 32) as u32;
    assert!(
        addresses(&rows).iter().map(fragment).is_sorted_by_key(|id| expected.iter().position(|it| *it == id))
    );
    let projection = dataset.full_projection();
    let taken = dataset.take(Rows::Addresses(&addresses(&sound)), &projection).unwrap();
    assert!(taken.columns() == &sound.columns()[..taken.columns().len()]);
}

#[test]
fn an_unknown_base_is_an_error_when_it_is_used() {
    let table = Table::changed(TINY, |manifest| {
        manifest.first(manifest::FRAGMENTS, |fragment| {
            fragment.first(fragment::FILES, |file| file.set(file::BASE, 99));
        });
    });
    let (dataset, sound) = (table.open().unwrap(), sound(TINY));
    assert_eq!(dataset.count_rows().unwrap(), sound.len() as u64);
    assert_eq!(dataset.indices().unwrap().len(), 1);
    let path = table.path(table.newest());
    assert_corrupt(&all(&dataset).unwrap_err(), &path, "a base path with id 99");
    // Another fragment's rows do not need it.
    let last = dataset.take(Rows::Offsets(&[sound.len() as u64 - 1]), &dataset.full_projection()).unwrap();
    assert_eq!(last.len(), 1);

    let table = change_deletions(|deletion| deletion.set(deletion::BASE, 98));
    let dataset = table.open().unwrap();
    assert_eq!(dataset.count_rows().unwrap(), sound.len() as u64);
    assert_corrupt(&all(&dataset).unwrap_err(), &table.path(table.newest()), "a base path with id 98");

    let table = Table::changed_indices(TINY, |_, entry| entry.set(index::BASE, 97));
    assert_eq!(table.open().unwrap().indices().unwrap().len(), 1, "searches look under other bases too");
}

#[test]
fn an_unknown_type_is_an_error_when_its_column_is_read() {
    let table = Table::changed(TINY, |manifest| {
        manifest.each(manifest::FIELDS, |place, field| {
            if place == 1 {
                field.set_bytes(5, *b"quaternion");
            }
        });
    });
    let (dataset, sound) = (table.open().unwrap(), sound(TINY));
    let id = dataset.scan().columns(["id"]).unwrap().collect().unwrap();
    assert!(id.column("id") == sound.column("id"));
    let error = all(&dataset).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("quaternion"), "{error}");
}

#[test]
fn sizes_of_data_files() {
    let table = |change: fn(&mut Message)| {
        Table::changed(TINY, |manifest| {
            manifest.each(manifest::FRAGMENTS, |_, fragment| {
                fragment.each(fragment::FILES, |_, file| change(file));
            });
        })
    };
    let unknown = table(|file| file.remove(file::SIZE)).open().unwrap();
    assert!(all(&unknown).unwrap() == sound(TINY));
    for change in [
        (|file: &mut Message| file.set(file::SIZE, file.number(file::SIZE) + 1)) as fn(&mut Message),
        |file| file.set(file::SIZE, 1),
    ] {
        let table = table(change);
        let error = all(&table.open().unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.path().is_some_and(|path| path.contains("/data/")), "{error}");
        assert!(error.to_string().contains("as the manifest says"), "{error}");
    }
}

#[test]
fn physical_rows_that_are_not_told() {
    for name in [TINY, STABLE] {
        let table = Table::changed(name, |manifest| {
            manifest.each(manifest::FRAGMENTS, |_, fragment| fragment.remove(fragment::PHYSICAL_ROWS));
        });
        let (dataset, sound) = (table.open().unwrap(), sound(name));
        assert_eq!(dataset.count_rows().unwrap(), sound.len() as u64);
        assert!(all(&dataset).unwrap() == sound);
        let ids = sound.column("_rowid").unwrap().primitive::<u64>().unwrap();
        let taken = dataset.take(Rows::Ids(ids), &dataset.full_projection()).unwrap();
        assert!(taken.columns() == &sound.columns()[..taken.columns().len()]);
        let covered = |dataset: &Dataset| dataset.indices().unwrap()[0].rows_covered;
        assert_eq!(covered(&dataset), covered(&Table::of(name).open().unwrap()));
    }
}

#[test]
fn physical_rows_that_are_wrong() {
    for difference in [-1, 1] {
        let table = Table::changed(TINY, |manifest| {
            manifest.each(manifest::FRAGMENTS, |_, fragment| {
                let rows = fragment.number(fragment::PHYSICAL_ROWS).wrapping_add_signed(difference);
                fragment.set(fragment::PHYSICAL_ROWS, rows);
            });
        });
        let error = all(&table.open().unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.path().is_some_and(|path| path.contains("/data/")), "{error}");
    }
}

#[test]
fn numbers_of_deleted_rows() {
    let sound = sound(TINY);
    let dataset = change_deletions(|it| it.remove(deletion::NUM_DELETED_ROWS)).open().unwrap();
    assert_eq!(dataset.count_rows().unwrap(), sound.len() as u64);
    assert!(all(&dataset).unwrap() == sound);
    let newest = dataset.versions().unwrap().pop().unwrap();
    assert_eq!(newest.rows, None, "what the manifest does not say");

    let more =
        |it: &mut Message| it.set(deletion::NUM_DELETED_ROWS, it.number(deletion::NUM_DELETED_ROWS) + 1);
    let dataset = change_deletions(more).open().unwrap();
    for error in [
        all(&dataset).unwrap_err(),
        dataset.take(Rows::Addresses(&[1 << 32 | 1]), &dataset.full_projection()).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.path().is_some_and(|path| path.contains("/_deletions/")), "{error}");
        assert!(error.to_string().contains("as in the manifest"), "{error}");
    }
}

/// A sequence of one range from 0.
fn range(end: u64) -> Vec<u8> {
    let mut range = Message::default();
    range.set(2, end);
    let wrap = |inner: Message| {
        let mut outer = Message::default();
        outer.set_bytes(1, inner.encode());
        outer
    };
    wrap(wrap(range)).encode()
}

#[test]
fn row_ids_more_or_fewer_than_rows() {
    for difference in [-1, 1] {
        let table = Table::changed(STABLE, |manifest| {
            manifest.first(manifest::FRAGMENTS, |fragment| {
                let rows = fragment.number(fragment::PHYSICAL_ROWS).wrapping_add_signed(difference);
                fragment.set_bytes(fragment::ROW_IDS, range(rows));
            });
        });
        let path = table.path(table.newest());
        let dataset = table.open().unwrap();
        assert_corrupt(&all(&dataset).unwrap_err(), &path, "row ids: expected");
        let taken = dataset.take(Rows::Ids(&[0]), &dataset.full_projection());
        assert_corrupt(&taken.unwrap_err(), &path, "row ids: expected");
    }
}

/// A Roaring bitmap of `ids`.
fn bitmap(ids: &[u16]) -> Vec<u8> {
    let mut out = [12346u32, 1].map(u32::to_le_bytes).concat();
    out.extend([0, ids.len() as u16 - 1].map(u16::to_le_bytes).concat());
    out.extend(16u32.to_le_bytes());
    out.extend(ids.iter().flat_map(|id| id.to_le_bytes()));
    out
}

#[test]
fn segments_that_overlap() {
    let table =
        Table::changed_indices(TINY, |_, entry| entry.set_bytes(index::FRAGMENTS, bitmap(&[0, 1, 2, 9])));
    let found = table.open().unwrap().indices().unwrap().remove(0);
    let sound = Table::of(TINY).open().unwrap().indices().unwrap().remove(0);
    assert_eq!(found.segments.len(), 2);
    assert_eq!(found.fragments, [0, 1, 2], "each once, and none that is gone");
    assert_eq!(found.rows_covered + found.rows_uncovered, sound.rows_covered + sound.rows_uncovered);
}

#[test]
fn segments_without_details() {
    let table = Table::changed_indices(TINY, |_, entry| entry.remove(index::DETAILS));
    let dataset = table.open().unwrap();
    let found = dataset.indices().unwrap().remove(0);
    assert_eq!((found.kind.as_str(), found.segments.len()), ("Unknown", 2));
    assert_eq!(found.columns, ["event_time"]);
    assert!(all(&dataset).unwrap() == sound(TINY));
}

#[test]
fn segments_of_a_later_layout() {
    let table = Table::changed_indices(TINY, |_, entry| entry.set(index::VERSION, 1000));
    let dataset = table.open().unwrap();
    let found = dataset.indices().unwrap().remove(0);
    assert!(found.segments.iter().all(|segment| segment.version == 1000));
    assert!(found.segments.iter().all(|segment| Message::parse(&segment.raw).number(index::VERSION) == 1000));
    assert!(all(&dataset).unwrap() == sound(TINY));
}
