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
            assert_eq!(bytes.bytes(row).unwrap().len() as u64, size, "{name}, row {row}");
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
