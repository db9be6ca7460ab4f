//! Verification: everything that a version of a dataset holds is read once, and what is wrong with it is told.
//!
//! A read of some rows touches only what these rows need, so damage elsewhere goes unnoticed. Here every page of
//! every column is read, deletion files, row ids and versions of rows, and every file of every index, column by
//! column, with the sets of rows in them. What the format keeps no check of, a changed bit in a number say, cannot
//! be found.

use crate::{
    Dataset, Error, ErrorKind, Result,
    fragment::Fragment,
    nearest, plan,
    storage::{Bytes, Storage},
};
use lancet_format::{
    Column, ColumnMap, DEFAULT_MAX_DECOMPRESSED, Error as FormatError, Field, File, Source,
    describe::{Content, FileDescription, describe, file as describe_file},
    index::{SET_BUFFERS, SetLayout, set_buffer},
    table::{Fragment as FragmentMeta, IndexMetadata, MAX_ROWS, Transaction},
};
use std::{collections::HashSet, fmt, io, ops::Range, slice, sync::Arc};

/// Rows that are read at once.
const BATCH: u64 = 8192;
/// After so many damaged batches a column is left: rows that are a mere claim cost no bytes.
const MAX_DAMAGED: u32 = 1000;

/// Something that is wrong.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finding {
    /// The fragment that it was found in, if it was in one.
    pub fragment: Option<u32>,
    /// The column that was read, of the dataset or of an index file, if there was one.
    pub column: Option<String>,
    /// What is wrong, with the file, the page and the offset. Something that this version of lancet does not
    /// read ([`ErrorKind::Unsupported`]) may well be sound, but is not known to be.
    pub error: Error,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// How far a verification has come: columns of fragments, and files of indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How many were read.
    pub done: u64,
    /// How many there are.
    pub total: u64,
}

/// See [`Dataset::verify`].
pub(crate) fn dataset(dataset: &Dataset, progress: &mut dyn FnMut(Progress)) -> Vec<Finding> {
    let columns = dataset.fragments().len() * dataset.schema().fields.len();
    let files = dataset.index_segments().iter().map(|segment| segment.files.len()).sum::<usize>();
    let mut verifier = Verifier::new((columns + files) as u64, dataset.pool().max_decompressed(), progress);
    verifier.manifest(dataset);
    for fragment in dataset.fragments() {
        verifier.fragment = Some(fragment.meta.id);
        verifier.fragment(dataset, fragment);
    }
    verifier.fragment = None;
    for segment in dataset.index_segments() {
        verifier.index(dataset, segment);
    }
    verifier.findings
}

/// Reads a file that stands alone and tells what is wrong with it: every column of a data or index file, by its
/// own schema; a manifest, a deletion file, a transaction, a tag or a branch. The kind is told as
/// [`inspect`](crate::inspect) tells it. `progress` is called after each column.
///
/// [`OpenOptions::verify_file`](crate::OpenOptions::verify_file) does it with other bounds.
pub fn verify_file(storage: &dyn Storage, path: &str, progress: &mut dyn FnMut(Progress)) -> Vec<Finding> {
    file(storage, path, DEFAULT_MAX_DECOMPRESSED, progress)
}

/// See [`verify_file`].
pub(crate) fn file(
    storage: &dyn Storage,
    path: &str,
    max_decompressed: usize,
    progress: &mut dyn FnMut(Progress),
) -> Vec<Finding> {
    let mut verifier = Verifier::new(0, max_decompressed, progress);
    let source = storage.open(path).map_err(|error| Error::io(path, error));
    let Some(source) = verifier.note(None, source) else { return verifier.findings };
    let within = |error| Error::format(path, error);
    let described = describe(path, &source).map_err(within);
    match verifier.note(None, described).map(|description| description.content) {
        Some(Content::File(_)) => verifier.file(path, source, true),
        Some(Content::Manifest(found)) => {
            verifier.note(None, found.indices.map_err(within));
            let transaction = found.manifest.transaction();
            let parsed =
                transaction.and_then(|bytes| bytes.map(|bytes| Transaction::parse(&bytes)).transpose());
            verifier.note(None, parsed.map_err(within));
        }
        // The others are read whole to be described.
        _ => {}
    }
    verifier.findings
}

struct Verifier<'a> {
    findings: Vec<Finding>,
    /// What was told before: one fault in a table may be met again with every row.
    told: HashSet<String>,
    /// The most bytes that a compressed buffer of a file may expand to.
    max_decompressed: usize,
    fragment: Option<u32>,
    at: Progress,
    progress: &'a mut dyn FnMut(Progress),
}

impl<'a> Verifier<'a> {
    fn new(total: u64, max_decompressed: usize, progress: &'a mut dyn FnMut(Progress)) -> Self {
        let at = Progress { done: 0, total };
        Verifier {
            findings: Vec::new(),
            told: HashSet::new(),
            max_decompressed,
            fragment: None,
            at,
            progress,
        }
    }

    fn note<T>(&mut self, column: Option<&str>, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                if self.told.insert(error.to_string()) {
                    let (fragment, column) = (self.fragment, column.map(String::from));
                    self.findings.push(Finding { fragment, column, error });
                }
                None
            }
        }
    }

    fn step(&mut self) {
        self.at.done += 1;
        (self.progress)(self.at);
    }

    /// What was not read when the dataset was opened.
    fn manifest(&mut self, dataset: &Dataset) {
        let transaction = dataset
            .manifest()
            .transaction()
            .and_then(|bytes| bytes.map(|bytes| Transaction::parse(&bytes)).transpose());
        self.note(None, transaction.map_err(|error| Error::format(dataset.manifest_path(), error)));
        if let Some(name) = &dataset.manifest().transaction_file {
            let path = format!("{}/_transactions/{name}", dataset.folder());
            match dataset.pool().storage().read(&path) {
                Ok(bytes) => {
                    let parsed = Transaction::parse(&bytes);
                    self.note(None, parsed.map_err(|error| Error::format(path, error)));
                }
                // A cleanup may have taken it, and a clone has none.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => drop(self.note::<()>(None, Err(Error::io(path, error)))),
            }
        }
        for tag in self.note(None, dataset.tags()).unwrap_or_default().keys() {
            self.note(None, dataset.at_tag(tag));
        }
        for branch in self.note(None, dataset.branches()).unwrap_or_default().keys() {
            self.note(None, dataset.at_branch(branch));
        }
    }

    fn fragment(&mut self, dataset: &Dataset, fragment: &Fragment) {
        let pool = dataset.pool();
        for slot in fragment.files() {
            let open = pool
                .get(slot)
                .and_then(|file| global_buffers(&file).map_err(|error| Error::format(slot.path(), error)));
            self.note(None, open);
        }
        self.note(None, fragment.deletions(pool));
        self.note(None, fragment.live_rows(pool));
        let FragmentMeta { row_ids, .. } = &fragment.meta;
        if row_ids.is_some() || dataset.manifest().has_stable_row_ids() {
            self.note(None, fragment.row_ids(pool));
        }
        for created in [true, false] {
            self.note(None, fragment.extend_versions(pool, created, &[], &mut Vec::new()));
        }
        let rows = fragment.physical_rows(pool);
        let rows = self.note(None, rows).unwrap_or(0);
        for field in &dataset.schema().fields {
            self.column(field, rows, |ranges| fragment.read(pool, field, ranges, None));
            self.step();
        }
    }

    fn index(&mut self, dataset: &Dataset, segment: &IndexMetadata) {
        for file in &segment.files {
            if let Some((path, source)) = self.note(None, dataset.open_index_file(segment, &file.path)) {
                let found = source.len();
                let size = match file.size {
                    Some(size) if size != found => Err(Error::corrupt(
                        &*path,
                        format!("expected a file of {size} bytes, as the manifest says, found {found}"),
                    )),
                    _ => Ok(()),
                };
                // The details of the fragment reuse index are no such file; they are read with the list.
                if self.note(None, size).is_some() && !segment.is_system() {
                    self.file(&path, source, false);
                }
            }
            self.step();
        }
        self.note(None, plan::check_segment(dataset, segment));
        self.note(None, nearest::check_segment(dataset, segment));
        self.note(None, dataset.indices());
    }

    /// All columns of a file by its own schema; if it stands `alone`, they are the progress.
    fn file(&mut self, path: &str, source: Arc<dyn Source>, alone: bool) {
        let within = |error: FormatError| Error::format(path, error);
        let file = File::open(source).map(|file| file.with_max_decompressed(self.max_decompressed));
        let Some(file) = self.note(None, file.map_err(within)) else { return };
        self.note(None, global_buffers(&file).map_err(within));
        let schema = file.container().schema().map_err(within);
        let schema = schema.and_then(|(schema, rows)| match rows <= MAX_ROWS {
            true => Ok((schema, rows)),
            false => Err(Error::corrupt(path, format!("expected at most 2^32 rows, found {rows}"))),
        });
        let Some((schema, rows)) = self.note(None, schema) else { return };
        let columns = ColumnMap::of_schema(&schema.fields, file.container().version());
        if alone {
            self.at.total = schema.fields.len() as u64;
        }
        for key in SET_BUFFERS {
            if let Some(value) = schema.metadata.get(key) {
                self.note(None, check_set_buffer(&file, key, value).map_err(within));
            }
        }
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let description = describe_file(file.container());
        for field in &schema.fields {
            let sets = SetLayout::of_column(name, &field.name).map(|layout| Sets {
                layout,
                column: columns.get(field.id).unwrap_or_default() as usize,
                file: &description,
            });
            self.column(field, rows, |ranges| {
                let values = file.read(field, &columns, rows, ranges, None).map_err(within)?;
                sets.as_ref().map_or(Ok(()), |sets| sets.check(field, ranges, &values)).map_err(within)?;
                Ok(values)
            });
            if alone {
                self.step();
            }
        }
    }

    /// Reads a column in batches, those behind a damaged one too.
    fn column(&mut self, field: &Field, rows: u64, read: impl Fn(&[Range<u64>]) -> Result<Column>) {
        let (mut row, mut batch, mut damaged) = (0, BATCH, 0);
        // Even without rows there may be something wrong.
        loop {
            let end = rows.min(row + batch);
            match read(slice::from_ref(&(row..end))) {
                Err(error) if error.kind() == ErrorKind::TooLarge && end - row > 1 => {
                    batch = (end - row) / 2;
                    continue;
                }
                result => damaged += u32::from(self.note(Some(&field.name), result).is_none()),
            }
            if end == rows || damaged == MAX_DAMAGED {
                break;
            }
            row = end;
        }
    }
}

/// A column of an index file whose values are sets of rows.
struct Sets<'a> {
    layout: SetLayout,
    column: usize,
    file: &'a FileDescription,
}

impl Sets<'_> {
    /// Checks the sets in the rows of one range.
    fn check(&self, field: &Field, ranges: &[Range<u64>], values: &Column) -> Result<(), FormatError> {
        let sets = ranges.iter().cloned().flatten().zip((0..values.len()).map(|i| values.bytes(i)));
        for (row, set) in sets.filter_map(|(row, set)| Some((row, set?))) {
            // A copy is kept for no longer than the check takes.
            self.layout.check(&Bytes::copy_from_slice(set)).map_err(|error| {
                let message = format!("expected a set of rows in row {row}, found: {error}");
                self.place(row, FormatError::corrupt(message)).within(format!("column `{}`", field.name))
            })?;
        }
        Ok(())
    }

    /// The error with the page that holds `row`, and where that begins.
    fn place(&self, row: u64, error: FormatError) -> FormatError {
        let column = self.file.columns.get(self.column).and_then(|column| column.as_ref().ok());
        let pages = column.map_or(&[][..], |column| &column.pages);
        // Its pages were read, so they hold the row.
        let index = pages.partition_point(|page| page.first_row <= row).saturating_sub(1);
        let start = pages.get(index).and_then(|page| Some(page.buffers.as_ref().ok()?.first()?.position));
        start.map_or(error.clone(), |start| error.at(start)).within(format!("page {index}"))
    }
}

/// Checks the set of rows in the global buffer that the value of `key` in the schema's metadata names.
fn check_set_buffer(file: &File, key: &str, value: &[u8]) -> Result<(), FormatError> {
    let extent = file.container().global_buffer(set_buffer(key, value)?)?;
    let bytes = Bytes::copy_from_slice(&extent.all()?);
    SetLayout::RowAddresses.check(&bytes).map_err(|error| {
        let error = FormatError::corrupt(format!("expected a set of rows, found: {error}"));
        error.at(extent.position()).within(format!("global buffer of `{key}`"))
    })
}

fn global_buffers(file: &File) -> Result<(), FormatError> {
    let container = file.container();
    (0..container.num_global_buffers()).try_for_each(|index| container.global_buffer(index)?.all().map(drop))
}
