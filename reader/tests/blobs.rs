//! Blobs: their bytes and their descriptions, wherever they lie; files that are not there or too short; batches of
//! bounded size.

mod common;

use common::{Copy, Ranges, fixture, in_memory};
use lancet::{Batch, Column, DataType, Dataset, ErrorKind, Rows, Values};
use std::{fs, path::PathBuf};

/// The columns of a fixture that can be read where only its own folder is at hand.
fn columns(dataset: &Dataset) -> Vec<String> {
    let names = dataset.schema().fields.iter().map(|field| field.name.to_string());
    names.filter(|name| name != "external").collect()
}

fn all(dataset: &Dataset) -> Batch {
    dataset.scan().columns(columns(dataset)).unwrap().collect().unwrap()
}

/// The files beside data files, the largest last.
fn blob_files(root: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir(format!("{root}/data")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort_by_key(|path| fs::metadata(path).unwrap().len());
    files
}

#[test]
fn every_way_gives_the_same_bytes() {
    for name in ["types-blob-v20", "types-blob-v21", "types-blob-v22"] {
        let path = fixture(name);
        let dataset = Dataset::open(&path).unwrap();
        let projection = dataset.projection(columns(&dataset)).unwrap();
        let expected = all(&dataset);
        let small = dataset.scan().project(projection.clone()).batch_size(3).collect().unwrap();
        assert_eq!(small, expected, "{name}, small batches");
        let rows: Vec<u64> = (0..expected.len() as u64).collect();
        assert_eq!(dataset.take(Rows::Offsets(&rows), &projection).unwrap(), expected, "{name}, take");
        let mut reused = small;
        dataset.take_into(Rows::Offsets(&rows), &projection, &mut reused).unwrap();
        assert_eq!(reused, expected, "{name}, into a used batch");
        let memory = Dataset::options().storage(in_memory(&path)).open(&path).unwrap();
        assert_eq!(all(&memory), expected, "{name}, memory");
        let ranges = Dataset::options().storage(Ranges::default()).open(&path).unwrap();
        assert_eq!(all(&ranges), expected, "{name}, ranges");
    }
}

#[test]
fn descriptions_say_where_the_bytes_lie() {
    for (name, version) in [("types-blob-v20", 1), ("types-blob-v21", 1), ("types-blob-v22", 2)] {
        let dataset = Dataset::open(fixture(name)).unwrap();
        let read = |scan: lancet::Scan| scan.collect().unwrap().columns()[0].clone();
        let bytes = read(dataset.scan().columns(["blob"]).unwrap());
        let described = read(dataset.scan().columns(["blob"]).unwrap().with_blob_descriptions());
        assert_eq!(*bytes.data_type(), DataType::LargeBinary);
        let DataType::Struct(fields) = described.data_type() else { panic!("expected structs") };
        let names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
        match version {
            1 => assert_eq!(names, ["position", "size"]),
            _ => assert_eq!(names, ["kind", "position", "size", "blob_id", "blob_uri"]),
        }
        let sizes = names.iter().position(|name| *name == "size").unwrap();
        let sizes: &[u64] = described.children()[sizes].primitive().unwrap();
        for (row, &size) in sizes.iter().enumerate() {
            assert_eq!(bytes.is_null(row), described.is_null(row), "{name}, row {row}");
            assert_eq!(bytes.bytes(row).unwrap_or_default().len() as u64, size, "{name}, row {row}");
        }
        assert_eq!(bytes.validity(), described.validity(), "{name}");
    }
}

#[test]
fn descriptions_cost_none_of_the_bytes() {
    let storage = Ranges::default();
    let dataset = Dataset::options().storage(storage.clone()).open(&fixture("types-blob-v20")).unwrap();
    let read = |scan: lancet::Scan| {
        let before = storage.bytes.load(std::sync::atomic::Ordering::Relaxed);
        scan.collect().unwrap();
        storage.bytes.load(std::sync::atomic::Ordering::Relaxed) - before
    };
    // Once to open what is kept open.
    read(dataset.scan().columns(["blob"]).unwrap().with_blob_descriptions());
    let described = read(dataset.scan().columns(["blob"]).unwrap().with_blob_descriptions());
    let whole = read(dataset.scan().columns(["blob"]).unwrap());
    let batch = dataset.scan().columns(["blob"]).unwrap().collect().unwrap();
    let Values::LargeVariable { bytes, .. } = batch.columns()[0].values() else { panic!("large binary") };
    assert_eq!(whole, described + bytes.len() as u64);
    assert!(described < 2048, "{described} bytes for descriptions");
}

#[test]
fn external_blobs_come_from_the_storage() {
    let path = fixture("types-blob-v22");
    let dataset = Dataset::open(&path).unwrap();
    let error = dataset.scan().columns(["external"]).unwrap().collect().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("/lancet-fixtures/external blob.bin"), "{error}");

    let mut storage = in_memory(&path);
    storage.insert("/lancet-fixtures/external blob.bin", b"from afar".to_vec());
    let dataset = Dataset::options().storage(storage).open(&path).unwrap();
    let batch = dataset.scan().columns(["external"]).unwrap().limit(4).collect().unwrap();
    let values: Vec<Option<&[u8]>> = (0..4)
        .map(|row| (!batch.columns()[0].is_null(row)).then(|| bytes(&batch.columns()[0], row)))
        .collect();
    assert_eq!(values, [None, None, Some(&b"from afar"[..]), None]);
}

fn bytes(column: &Column, row: usize) -> &[u8] {
    column.bytes(row).expect("binary values")
}

#[test]
fn blob_files_that_are_gone_or_too_short() {
    let copy = Copy::of("types-blob-v22");
    let file = blob_files(copy.str()).pop().expect("the fixture has blob files");
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();
    let whole = fs::read(&file).unwrap();

    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    let dataset = Dataset::open(copy.path().to_str().unwrap()).unwrap();
    let error = dataset.scan().columns(columns(&dataset)).unwrap().collect().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains(&name), "{error}");

    fs::remove_file(&file).unwrap();
    let error = dataset.scan().columns(columns(&dataset)).unwrap().collect().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert!(error.to_string().contains(&name), "{error}");
    // Where the bytes lie can still be told.
    dataset.scan().with_blob_descriptions().collect().unwrap();
}

/// Overwrites the description of the first row of `blob` that has bytes, in the only place where it lies; `change`
/// gets the description.
fn damaged(name: &str, change: impl Fn(&mut [u8])) -> Copy {
    let copy = Copy::of(name);
    let dataset = Dataset::open(copy.str()).unwrap();
    let described = dataset.scan().columns(["blob"]).unwrap().with_blob_descriptions().collect().unwrap();
    let children = described.columns()[0].children();
    let [positions, sizes] = [children.len() / 4, children.len() / 4 + 1].map(|at| {
        let numbers: &[u64] = children[at].primitive().unwrap();
        numbers.to_vec()
    });
    let row = sizes.iter().position(|&size| size > 0).unwrap();
    let mut wanted = if children.len() > 2 { vec![bytes(&children[0], row)[0]] } else { Vec::new() };
    wanted.extend(positions[row].to_le_bytes());
    wanted.extend(sizes[row].to_le_bytes());

    let file = copy.path().join("data").join(&*dataset.manifest().fragments[0].files[0].path);
    let mut whole = fs::read(&file).unwrap();
    let found: Vec<usize> =
        (0..whole.len() - wanted.len()).filter(|&at| whole[at..].starts_with(&wanted)).collect();
    let [at] = found[..] else { panic!("{name}: {} places", found.len()) };
    change(&mut whole[at..at + wanted.len()]);
    fs::write(&file, whole).unwrap();
    copy
}

#[test]
fn descriptions_are_not_trusted() {
    for name in ["types-blob-v20", "types-blob-v21", "types-blob-v22"] {
        let read = |change: &dyn Fn(&mut [u8])| {
            let copy = damaged(name, change);
            let dataset = Dataset::open(copy.str()).unwrap();
            let error = dataset.scan().columns(["blob"]).unwrap().collect().unwrap_err();
            assert!(error.to_string().contains("column `blob`"), "{name}: {error}");
            error.kind()
        };
        let kind = usize::from(name.ends_with("v22"));
        for (position, size) in
            [(u64::MAX, 1), (1, u64::MAX), (u64::MAX, u64::MAX), (1 << 40, 1), (0, 1 << 40)]
        {
            let found = read(&|description| {
                description[kind..kind + 8].copy_from_slice(&position.to_le_bytes());
                description[kind + 8..].copy_from_slice(&size.to_le_bytes());
            });
            assert_eq!(found, ErrorKind::Corrupt, "{name}: {position} {size}");
        }
        if kind == 1 {
            assert_eq!(read(&|description| description[0] = 4), ErrorKind::Unsupported);
            // There is no URI.
            assert_eq!(read(&|description| description[0] = 3), ErrorKind::Corrupt);
        }
    }
    // A null level that the column does not have.
    let copy = damaged("types-blob-v21", |description| {
        description[..8].copy_from_slice(&(7u64 << 16).to_le_bytes());
        description[8..].fill(0);
    });
    let dataset = Dataset::open(copy.str()).unwrap();
    let error = dataset.scan().columns(["blob"]).unwrap().with_blob_descriptions().collect().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}
