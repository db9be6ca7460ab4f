//! Storages: all give the same rows; mappings are borrowed; ranges are all that is fetched; only so many
//! files are open.

mod common;

use common::{Copy, Ranges, Watched, fixture, in_memory};
use lancet::{Batch, Dataset, ErrorKind, Rows, Values, storage::ReadWhole};
use std::sync::atomic::Ordering;

fn all(dataset: &Dataset) -> Batch {
    dataset.scan().with_row_id().with_row_address().collect().unwrap()
}

#[test]
fn every_storage_gives_the_same_rows() {
    for name in ["events", "types-v20", "types-v21", "types-v22", "types-json-bf16-v21", "words"] {
        let path = fixture(name);
        let expected = all(&Dataset::open(&path).unwrap());
        let options = Dataset::options();
        assert_eq!(all(&options.clone().storage(ReadWhole).open(&path).unwrap()), expected, "{name}, read");
        assert_eq!(
            all(&options.clone().storage(in_memory(&path)).open(&path).unwrap()),
            expected,
            "{name}, memory"
        );
        assert_eq!(all(&options.storage(Ranges::default()).open(&path).unwrap()), expected, "{name}, ranges");
    }
}

#[test]
fn compressed_chunks_expand_to_what_the_options_allow() {
    let path = fixture("types-v21");
    let whole = all(&Dataset::open(&path).unwrap());
    assert_eq!(all(&Dataset::options().max_decompressed(1 << 20).open(&path).unwrap()), whole);
    let strict = Dataset::options().max_decompressed(10);
    let error = strict.open(&path).unwrap().scan().collect().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let findings = strict.open(&path).unwrap().verify(&mut |_| {});
    assert!(findings.iter().all(|finding| finding.error.kind() == ErrorKind::Unsupported));
    let file = format!("{path}/data/{}", strict.open(&path).unwrap().manifest().fragments[0].files[0].path);
    assert_eq!(strict.verify_file(&file, &mut |_| {}).len(), findings.len());
    assert!(!findings.is_empty());
}

#[test]
fn a_flat_vector_column_is_borrowed_from_the_mapping() {
    let storage = Watched::default();
    let dataset = Dataset::options().storage(storage.clone()).open(&fixture("types-v20")).unwrap();
    let mut rows = 0;
    for batch in dataset.scan().columns(["fsl-f32"]).unwrap().batch_size(100).batches().unwrap() {
        let batch = batch.unwrap();
        let vectors = batch.columns()[0].flat::<f32>().unwrap();
        assert_eq!(vectors.len(), batch.len() * 4);
        assert!(storage.holds(vectors), "the vectors were copied");
        rows += batch.len();
    }
    assert_eq!(rows as u64, dataset.count_rows().unwrap());
    // A copy that outlives everything else is still sound.
    let kept = dataset.scan().columns(["fsl-f32"]).unwrap().limit(3).collect().unwrap();
    let expected = kept.columns()[0].flat::<f32>().unwrap().to_vec();
    drop(dataset);
    assert_eq!(kept.columns()[0].flat::<f32>().unwrap(), expected);
}

#[test]
fn one_row_fetches_only_what_it_needs() {
    let path = fixture("words");
    let storage = Ranges::default();
    let dataset = Dataset::options().storage(storage.clone()).open(&path).unwrap();
    let projection = dataset.projection(["word", "initial"]).unwrap();
    dataset.take(Rows::Offsets(&[12_345]), &projection).unwrap();
    let file = &dataset.manifest().fragments[0].files[0];
    let fetched = storage.bytes.load(Ordering::Relaxed);
    assert!(fetched < file.size.unwrap() / 20, "{fetched} bytes fetched of {:?}", file.size);
    // The second row of the same pages needs no tables any more: a chunk of each column at most.
    let before = storage.requests.load(Ordering::Relaxed);
    dataset.take(Rows::Offsets(&[12_346]), &projection).unwrap();
    assert!(storage.requests.load(Ordering::Relaxed) - before <= 2);
}

#[test]
fn only_so_many_files_are_open() {
    let path = fixture("events");
    let expected = all(&Dataset::open(&path).unwrap());
    for limit in [1, 2, 100] {
        let storage = Watched::default();
        let options = Dataset::options().storage(storage.clone()).max_open_files(limit);
        let dataset = options.open(&path).unwrap();
        assert!(storage.opened().is_empty(), "no data file is opened before it is needed");
        assert_eq!(all(&dataset), expected);
        assert_eq!(all(&dataset), expected);
        let files = dataset.manifest().fragments.len();
        let opened = storage.opened().len();
        match limit >= files {
            true => assert_eq!(opened, files),
            false => assert!(opened > files, "{opened} opened with room for {limit}"),
        }
    }
}

#[test]
fn threads_share_one_dataset() {
    let dataset = Dataset::options().max_open_files(2).open(&fixture("events")).unwrap();
    let expected = all(&dataset);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(all(&dataset), expected));
        }
    });
}

#[test]
fn missing_files_are_named() {
    let copy = Copy::of("events-tiny");
    let dataset = Dataset::open(copy.path()).unwrap();
    let name = dataset.manifest().fragments[0].files[0].path.clone();
    let data = copy.path().join("data").join(&name);
    std::fs::rename(&data, data.with_extension("gone")).unwrap();
    let error = dataset.scan().collect().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(error.path(), data.to_str());

    let error = Dataset::open(copy.path().join("data")).unwrap_err();
    assert!(error.to_string().contains("expected a dataset"), "{error}");
    let error = Dataset::open(copy.path().join("nowhere")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
}

#[test]
fn a_file_of_another_size_is_refused() {
    let copy = Copy::of("events-tiny");
    let dataset = Dataset::open(copy.path()).unwrap();
    let data = copy.path().join("data").join(&dataset.manifest().fragments[0].files[0].path);
    let bytes = std::fs::read(&data).unwrap();
    std::fs::write(&data, &bytes[..bytes.len() - 1]).unwrap();
    let error = dataset.scan().collect().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains(&format!("{} bytes", bytes.len())), "{error}");
}

#[test]
fn strings_are_lent_by_value_and_numbers_by_slice() {
    let dataset = Dataset::open(fixture("words")).unwrap();
    let batch = dataset.scan().columns(["word"]).unwrap().limit(2).collect().unwrap();
    let column = &batch.columns()[0];
    assert_eq!((column.str(0), column.str(1)), (Some("the"), Some(",")));
    assert!(matches!(column.values(), Values::Variable { .. }));
}
