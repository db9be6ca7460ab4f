//! BTree: all values in order with the row of each, cut into pages, and a table of the pages.
//!
//! ```text
//! page_data.lance     values: T, NULLs first, then ascending | ids: u64, in no order among equal values
//! page_lookup.lance   for each page  min: T | max: T | null_count: u32 | page_idx: u32
//!                     metadata       batch_size: rows of a page, 4096 if it is absent or no number
//!
//!   row of page_data   0        b        2b       3b    n
//!   values             NULL NULL|NULL 1 1|1 1 1 4|5 8 9 |
//!   page               0        |1       |2       |3    |
//!   min, max           NULL NULL|NULL 1  |1     4 |5  9 |    the first and the last value of the page
//!   null_count         b        |1       |0       |0    |
//! ```
//! Pages have nothing to do with the pages of the file. Since all rows are in order, the rows of an interval of
//! values lie in one piece, and the rows of NULL are the first.
//!
//! Old writers made indices of several parts, `part_{id}_page_data.lance`: metadata `range_partitioned` is `true`
//! and `page_num_per_range_partition` lists `[id, number of pages]` in the order of values; each part is cut into
//! pages by itself. Without a `page_lookup.lance`, the only `part_{id}_page_lookup.lance` is the table of the only
//! part.

use super::files::{IndexFile, IndexFiles};
use crate::{Column, DataType, Error, Field, Key, Keys, Pick, Result, ensure, json, table::partition_point};
use alloc::{format, string::String, sync::Arc, vec, vec::Vec};
use core::ops::Range;

/// The table of pages.
pub(super) const LOOKUP: &str = "page_lookup.lance";
const DATA: &str = "page_data.lance";
const DEFAULT_BATCH_SIZE: u64 = 4096;
/// A page is decoded as a whole, so it has no more rows.
const MAX_BATCH_SIZE: u64 = 1 << 24;

/// An open BTree: the table of pages in memory, the pages in their file.
#[derive(Debug)]
pub struct BTreeIndex {
    data_type: DataType,
    batch_size: u64,
    min: Keys,
    max: Keys,
    null_counts: Vec<u32>,
    parts: Vec<Part>,
    rows: u64,
    null_rows: u64,
}

/// A file of values and ids. All but those of old writers have one.
#[derive(Debug)]
struct Part {
    file: IndexFile,
    values: Arc<Field>,
    ids: Arc<Field>,
    first_page: usize,
    first_row: u64,
}

impl BTreeIndex {
    /// Opens the table of pages and checks it against the number of values.
    ///
    /// # Errors
    /// Corrupt if a file is missing or the table contradicts itself, unsupported if the values have no order.
    pub fn open(files: &dyn IndexFiles) -> Result<Self> {
        match IndexFile::find(files, LOOKUP)? {
            Some(lookup) => {
                let parts = match lookup.metadata("range_partitioned") {
                    Some("true") => parts_listed(&lookup)?,
                    _ => vec![(DATA.into(), None)],
                };
                Self::build(files, &lookup, parts)
            }
            None => {
                let Some(id) = only_part(&files.names()?) else {
                    return Err(Error::corrupt("expected the file, found none").within(LOOKUP));
                };
                let lookup = IndexFile::open(files, &format!("part_{id}_{LOOKUP}"))?;
                Self::build(files, &lookup, vec![(format!("part_{id}_{DATA}"), None)])
            }
        }
    }

    /// `parts` are names of files, with the number of pages if the table says it.
    fn build(files: &dyn IndexFiles, lookup: &IndexFile, names: Vec<(String, Option<u64>)>) -> Result<Self> {
        // Lance takes what is no number for the default.
        let batch_size = lookup.metadata("batch_size").and_then(|text| text.parse().ok());
        let batch_size = batch_size.unwrap_or(DEFAULT_BATCH_SIZE);
        lookup.check((|| {
            ensure!(
                (1..=MAX_BATCH_SIZE).contains(&batch_size),
                "metadata `batch_size`: expected 1 to {MAX_BATCH_SIZE} rows, found {batch_size}"
            );
            Ok(())
        })())?;
        let min_field = lookup.ordered_field("min")?;
        let data_type = min_field.data_type.clone();
        let max_field = lookup.field_of("max", &data_type)?;

        let (mut parts, mut pages, mut rows) = (Vec::with_capacity(names.len()), 0, 0u64);
        for (name, expected) in names {
            let file = IndexFile::open(files, &name)?;
            let values = file.field_of("values", &data_type)?;
            let ids = file.field_of("ids", &DataType::UInt64)?;
            let (own_rows, own_pages) = (file.rows(), file.rows().div_ceil(batch_size));
            if let Some(expected) = expected
                && expected != own_pages
            {
                let message = format!("expected {expected} pages as in `{LOOKUP}`, found {own_pages}");
                return file.check(Err(Error::corrupt(message)));
            }
            parts.push(Part { file, values, ids, first_page: pages as usize, first_row: rows });
            // Bounded by the sizes of the files.
            pages += own_pages;
            rows += own_rows;
        }
        if pages != lookup.rows() {
            let message = format!(
                "expected {pages} pages of {batch_size} rows for {rows} values, found {}",
                lookup.rows()
            );
            return lookup.check(Err(Error::corrupt(message)));
        }
        let ordered = |field: &Field| -> Result<Keys> {
            Ok(Keys::of(lookup.read_all(field)?).expect("a type that was found to have an order"))
        };
        let mut index = BTreeIndex {
            min: ordered(&min_field)?,
            max: ordered(&max_field)?,
            null_counts: lookup.all_u32("null_count")?,
            data_type,
            batch_size,
            parts,
            rows,
            null_rows: 0,
        };
        index.check_pages(lookup)?;
        Ok(index)
    }

    /// Checks the rows of the table, and counts NULLs.
    fn check_pages(&mut self, lookup: &IndexFile) -> Result<()> {
        let positions = lookup.all_u32("page_idx")?;
        let mut last = None;
        for (page, &position) in positions.iter().enumerate() {
            let rows = self.page_rows(page);
            let (min, max) = (self.min.get(page), self.max.get(page));
            let (count, nulls) = (rows.end - rows.start, u64::from(self.null_counts[page]));
            let wrong = if position as usize != page {
                format!("expected page {page}, found {position}")
            } else if nulls > count {
                format!("expected at most {count} nulls, found {nulls}")
            } else if min.is_none() != (nulls > 0) || max.is_none() != (nulls == count) {
                format!("expected bounds of {count} values with {nulls} nulls before all others")
            } else if min > max || last > min {
                "expected bounds that ascend".into()
            } else {
                last = max;
                self.null_rows += nulls;
                continue;
            };
            return Err(lookup.corrupt_row(page, wrong));
        }
        Ok(())
    }

    /// The type of the values.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The rows of a page; the last may have fewer.
    pub fn batch_size(&self) -> u64 {
        self.batch_size
    }

    /// The number of values, NULLs included.
    pub fn num_rows(&self) -> u64 {
        self.rows
    }

    /// The number of NULLs, which are the first rows.
    pub fn num_nulls(&self) -> u64 {
        self.null_rows
    }

    /// The number of pages.
    pub fn num_pages(&self) -> usize {
        self.null_counts.len()
    }

    /// The first value of each page; NULL if there is a NULL in it.
    pub fn min(&self) -> &Keys {
        &self.min
    }

    /// The last value of each page; NULL if there are only NULLs in it.
    pub fn max(&self) -> &Keys {
        &self.max
    }

    /// The number of NULLs in a page.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn null_count(&self, page: usize) -> u32 {
        self.null_counts[page]
    }

    /// The rows of a page.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn page_rows(&self, page: usize) -> Range<u64> {
        assert!(page < self.num_pages(), "page {page} of {}", self.num_pages());
        let part = &self.parts[self.parts.partition_point(|part| part.first_page <= page) - 1];
        let start = (page - part.first_page) as u64 * self.batch_size;
        let end = (start + self.batch_size).min(part.file.rows());
        part.first_row + start..part.first_row + end
    }

    /// The page that holds a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn page_of(&self, row: u64) -> usize {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let (part, within) = self.part_of(&(row..row));
        part.first_page + (within.start / self.batch_size) as usize
    }

    /// The values of a page. The buffers of `reuse` are written again where they fit.
    ///
    /// # Errors
    /// Corrupt if the values are not in order or not within the bounds of the page, or cannot be read.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn read_page(&self, page: usize, reuse: Option<Column>) -> Result<Column> {
        let rows = self.page_rows(page);
        let (part, within) = self.part_of(&rows);
        let column = part.file.read(&part.values, within, reuse)?;
        let (nulls, len) = (self.null_counts[page] as usize, column.len());
        let nulls_first = column.null_count() == nulls && (0..nulls).all(|row| column.is_null(row));
        let key = |row: usize| if row < nulls { None } else { column.key(row) };
        let wrong = if !nulls_first {
            format!("expected {nulls} nulls before all others")
        } else if key(0) != self.min.get(page) || key(len - 1) != self.max.get(page) {
            "expected the bounds that the table of pages says".into()
        } else if !column.ascends(nulls..len) {
            "expected values that ascend".into()
        } else {
            return Ok(column);
        };
        let place = format!("rows {}..{} (page {page})", rows.start, rows.end);
        part.file.check(Err(Error::corrupt(wrong).within(place)))
    }

    /// The values of a page as keys.
    ///
    /// # Errors
    /// Those of [`read_page`](Self::read_page).
    ///
    /// # Panics
    /// If there is no such page.
    pub fn read_keys(&self, page: usize) -> Result<Keys> {
        Ok(Keys::of(self.read_page(page, None)?).expect("a type that was found to have an order"))
    }

    /// The ids of some rows, in a column of `u64` without nulls. The buffers of `reuse` are written again where
    /// they fit.
    ///
    /// # Errors
    /// Corrupt if they cannot be read.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn read_ids(&self, rows: Range<u64>, mut reuse: Option<Column>) -> Result<Column> {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "rows {rows:?} of {}", self.rows);
        let mut columns: Vec<Column> = Vec::new();
        let mut start = rows.start;
        loop {
            let end = match self.part_at(start) {
                Some(part) => rows.end.min(part.first_row + part.file.rows()),
                None => return Ok(Column::from_u64(&[])),
            };
            let (part, within) = self.part_of(&(start..end));
            let column = part.file.read_numbers(&part.ids, within, reuse.take())?;
            if end == rows.end && columns.is_empty() {
                return Ok(column);
            }
            columns.push(column);
            if end == rows.end {
                break;
            }
            start = end;
        }
        // Rows of several parts.
        let parts: Vec<&Column> = columns.iter().collect();
        let picks = |(part, column): (usize, &&Column)| -> Vec<Pick> {
            (0..column.len() as u32).map(|row| (part as u32, row)).collect()
        };
        let picks: Vec<Pick> = parts.iter().enumerate().flat_map(picks).collect();
        Column::gather(&parts, &picks, None)
    }

    /// The part that holds row `row`.
    fn part_at(&self, row: u64) -> Option<&Part> {
        let after = self.parts.partition_point(|part| part.first_row <= row);
        self.parts.get(after.checked_sub(1)?)
    }

    /// The part that holds `rows`, and where.
    fn part_of(&self, rows: &Range<u64>) -> (&Part, Range<u64>) {
        let part = self.part_at(rows.start).expect("rows that are there");
        (part, rows.start - part.first_row..rows.end - part.first_row)
    }

    /// The first page whose largest value is not before what `is_before` looks for; all values of earlier pages
    /// are, NULLs too.
    pub fn page_partition_point(&self, is_before: impl Fn(Key<'_>) -> bool) -> usize {
        partition_point(self.num_pages(), |page| self.max.get(page).is_none_or(&is_before))
    }
}

/// The files of the parts that the table of pages lists, with their numbers of pages.
fn parts_listed(lookup: &IndexFile) -> Result<Vec<(String, Option<u64>)>> {
    const KEY: &str = "page_num_per_range_partition";
    let parse = || {
        let text = lookup.metadata(KEY).ok_or_else(|| Error::corrupt("expected parts, found none"))?;
        let listed = json::Value::parse(text.as_bytes())?;
        let expected = || Error::corrupt("expected pairs of a part and its number of pages");
        let mut parts = Vec::new();
        for pair in listed.as_array().ok_or_else(expected)? {
            match pair.as_array() {
                Some([id, pages]) => {
                    let (id, pages) = id.as_u64().zip(pages.as_u64()).ok_or_else(expected)?;
                    parts.push((format!("part_{id}_{DATA}"), Some(pages)));
                }
                _ => return Err(expected()),
            }
        }
        Ok(parts)
    };
    lookup.check(parse().map_err(|error| error.within(format!("metadata `{KEY}`"))))
}

/// The id of the only part, if there is one table and one file of values, both with that id.
fn only_part(names: &[String]) -> Option<u64> {
    let ids = |ending: &str| -> Vec<u64> {
        let id =
            |name: &String| name.strip_prefix("part_")?.strip_suffix(ending)?.strip_suffix('_')?.parse().ok();
        names.iter().filter_map(id).collect()
    };
    match (&ids(LOOKUP)[..], &ids(DATA)[..]) {
        ([lookup], [data]) if lookup == data => Some(*lookup),
        _ => None,
    }
}
