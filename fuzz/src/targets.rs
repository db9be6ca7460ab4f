//! What each target makes of its input. Anything but an error or a sound value is a panic; so is taking much
//! more memory than there are bytes in the input and in the rows asked for.
//!
//! | target | input |
//! |---|---|
//! | `file`, `page_v20`, `page_v21` | a data or index file; the latter two look at one version only |
//! | `dataset` | [`pieces`]: a manifest, a data file, a deletion file |
//! | `manifest`, `transaction`, `fragment_reuse`, `treemap`, `row_addresses`, `json` | a file, or the part of one |
//! | `index_btree`, `index_bitmap`, `index_zone_map`, `index_bloom_filter`, `index_ngram`, `index_ivf` | [`pieces`]: the files of a segment |
//! | `filter` | the text of a filter |
//! | `planner` | [`pieces`]: the text of a filter, then the path of each file of a dataset and its bytes |
//! | `deletion_arrow`, `deletion_bitmap`, `row_ids`, `row_versions` | u32 rows of the fragment, then the bytes |

#[path = "indices.rs"]
mod indices;
#[path = "planner.rs"]
mod planner;

use crate::{allocations, check, layout, random::Random};
use lancet::{
    Dataset, Schema,
    expr::{Expr, Typed},
    storage::{Bytes, InMemory},
};
use lancet_format::{
    Column, ColumnMap, DataType, Error, Field, File, FileVersion, Physical, Values,
    index::RowAddressSet,
    json,
    table::{
        Branch, Deletions, FragmentReuse, Manifest, Roaring, RowIdSequence, RowVersions, Tag, Transaction,
        Treemap,
    },
};
use lancet_index::row_set::Moved;
use std::{collections::BTreeSet, ops::Range, slice, sync::Arc};

/// A name, and what is done with an input; what comes back is how many bytes of rows were asked for.
type Target = (&'static str, fn(&Bytes) -> usize);

/// Every target.
pub(crate) const ALL: [Target; 22] = [
    ("file", file),
    ("page_v20", page_v20),
    ("page_v21", page_v21),
    ("dataset", dataset),
    ("manifest", manifest),
    ("transaction", transaction),
    ("fragment_reuse", fragment_reuse),
    ("deletion_arrow", deletion_arrow),
    ("deletion_bitmap", deletion_bitmap),
    ("row_ids", row_ids),
    ("row_versions", row_versions),
    ("treemap", treemap),
    ("row_addresses", row_addresses),
    ("index_btree", indices::btree),
    ("index_bitmap", indices::bitmap),
    ("index_zone_map", indices::zone_map),
    ("index_bloom_filter", indices::bloom_filter),
    ("index_ngram", indices::ngram),
    ("index_ivf", indices::ivf),
    ("json", json),
    ("filter", filter),
    ("planner", planner::planner),
];

/// What a target may take: so many times the bytes of the input (messages grow most) and of the rows asked
/// for, and a little more.
const INPUT_FACTOR: usize = 128;
const ROWS_FACTOR: usize = 8;
const SLACK: usize = 4 << 20;

/// Columns of a file that are read, rows that are asked for at once, and their bytes.
const MAX_COLUMNS: usize = 16;
const MAX_ROWS: u64 = 1024;
const MAX_BYTES: usize = 1 << 20;
/// Numbers of a set or sequence that are looked at one by one.
const MAX_NUMBERS: usize = 1024;

/// Runs the target called `name`, and panics if there is a fault in what it reaches.
pub(crate) fn run(name: &str, input: &[u8]) {
    let (_, target) = ALL.iter().find(|(own, _)| *own == name).expect("a target of this name");
    let bytes = Bytes::copy_from_slice(input);
    let (rows, taken) = allocations::measure([input.len() as u64, 0, 0], || target(&bytes));
    let most = input.len() * INPUT_FACTOR + rows.saturating_mul(ROWS_FACTOR).saturating_add(SLACK);
    assert!(taken.peak <= most, "{taken:?} for an input of {} bytes and {rows} bytes of rows", input.len());
}

/// What parses comes back from its own text, and is typed or refused over columns of every kind.
fn filter(bytes: &Bytes) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let Ok(expr) = Expr::parse(&text) else { return 0 };
    let written = expr.to_string();
    assert_eq!(Expr::parse(&written).expect("the text of an expression"), expr, "{written}");
    if let Ok(typed) = expr.bind(&columns_of_every_kind()) {
        assert!(levels(&typed) <= 4 * lancet::expr::MAX_DEPTH, "{written}");
    }
    0
}

fn levels(typed: &Typed) -> usize {
    1 + typed.children().into_iter().map(levels).max().unwrap_or(0)
}

/// Columns with names of one letter, which are found by chance.
fn columns_of_every_kind() -> Schema {
    use lancet::TimeUnit::{Microsecond, Millisecond, Second};
    let field = |name: &str, id, data_type| Arc::new(Field::new(name, id, data_type, true));
    let item = |id, data_type| field("item", id, data_type);
    let mut schema = Schema::default();
    schema.fields = vec![
        field("a", 0, DataType::Int8),
        field("b", 1, DataType::Int64),
        field("c", 2, DataType::UInt64),
        field("d", 3, DataType::Float32),
        field("e", 4, DataType::Float64),
        field("f", 5, DataType::Float16),
        field("g", 6, DataType::Decimal128(12, 2)),
        field("h", 7, DataType::Decimal256(60, -3)),
        field("i", 8, DataType::Boolean),
        field("j", 9, DataType::Utf8),
        field("k", 10, DataType::Binary),
        field("l", 11, DataType::List(item(12, DataType::Int32))),
        field("m", 13, DataType::Dictionary(Arc::new(DataType::Int8), Arc::new(DataType::LargeUtf8))),
        field("n", 14, DataType::Date32),
        field("o", 15, DataType::Time32(Millisecond)),
        field("p", 16, DataType::Timestamp(Second, None)),
        field("q", 17, DataType::Timestamp(Microsecond, Some("America/New_York".into()))),
        field(
            "r",
            18,
            DataType::Struct([field("a", 19, DataType::Int32), field("b", 20, DataType::Utf8)].into()),
        ),
        field("s", 21, DataType::List(item(22, DataType::Utf8))),
        field("t", 23, DataType::FixedSizeBinary(2)),
        field("u", 24, DataType::Json),
    ];
    schema
}

fn file(bytes: &Bytes) -> usize {
    read_file(bytes, |_| true)
}

fn page_v20(bytes: &Bytes) -> usize {
    read_file(bytes, |version| version == FileVersion::V2_0)
}

fn page_v21(bytes: &Bytes) -> usize {
    read_file(bytes, |version| version != FileVersion::V2_0)
}

fn read_file(bytes: &Bytes, wanted: impl Fn(FileVersion) -> bool) -> usize {
    let Ok(file) = File::open(Arc::new(bytes.clone())) else { return 0 };
    let container = file.container();
    if !wanted(container.version()) {
        return 0;
    }
    for index in 0..container.num_global_buffers().min(16) {
        let _ = container.global_buffer(index).and_then(|extent| extent.all().map(drop));
    }
    let Ok((schema, rows)) = container.schema() else { return 0 };
    let columns = ColumnMap::of_schema(&schema.fields, container.version());
    let mut random = Random(bytes.len() as u64);
    let fields = schema.fields.iter().take(MAX_COLUMNS);
    fields.map(|field| read_column(&file, field, &columns, rows, &mut random)).fold(0, usize::saturating_add)
}

/// Reads the first rows of a column and some others, twice.
fn read_column(file: &File, field: &Field, columns: &ColumnMap, rows: u64, random: &mut Random) -> usize {
    let width = check::width(&field.data_type);
    let most = rows.min(MAX_ROWS).min((MAX_BYTES / width) as u64);
    let read = |ranges: &[Range<u64>], reuse| {
        let column = file.read(field, columns, rows, ranges, reuse)?;
        assert_eq!(column.len() as u64, ranges.iter().map(|range| range.end - range.start).sum::<u64>());
        check::check_column(&column, &field.data_type, &field.name);
        Ok::<_, Error>(column)
    };
    let first = read(slice::from_ref(&(0..most)), None);
    // Of what was read already, or from anywhere.
    let end = if random.below(2) == 0 { most } else { rows };
    let ranges = some_ranges(end, most, random);
    let again = read(&ranges, None);
    if end == most
        && is_found_by_arithmetic(&field.data_type)
        && let Ok(first) = &first
    {
        let again = again.as_ref().expect("rows that were read before");
        let rows: Vec<u32> = ranges.iter().flat_map(|range| range.start as u32..range.end as u32).collect();
        assert!(same(&pick(first, &rows), again), "column {}, rows {ranges:?}", field.name);
    }
    // Into buffers that held other rows.
    if let Ok(again) = again {
        let reused = read(&ranges, first.ok()).expect("rows that were read before");
        assert!(same(&again, &reused), "column {}, rows {ranges:?}, again", field.name);
    }
    if rows > 0 {
        let row = random.word() % rows;
        let end = file.lent_page(field, columns, row).map(|page| page.map(|rows| rows.end));
        assert!(end.is_err() || end.is_ok_and(|end| end.is_none_or(|end| end > row)));
    }
    width.saturating_mul(most as usize)
}

/// Whether rows of a type are found without an index in the file. With one, some rows may be had although the
/// index is wrong about others.
fn is_found_by_arithmetic(data_type: &DataType) -> bool {
    match data_type.physical() {
        Physical::Null | Physical::Bits | Physical::Fixed(_) => true,
        Physical::FixedSizeList(_) | Physical::Struct => {
            data_type.children().iter().all(|child| is_found_by_arithmetic(&child.data_type))
        }
        _ => false,
    }
}

/// Up to four ranges below `end`, ascending and disjoint, of at most `most` rows in all.
fn some_ranges(end: u64, most: u64, random: &mut Random) -> Vec<Range<u64>> {
    let (mut ranges, mut at, mut room) = (Vec::new(), 0, most);
    for _ in 0..4 {
        if at < end && room > 0 {
            let start = at + random.word() % (end - at);
            let len = 1 + random.word() % room.min(end - start);
            ranges.push(start..start + len);
            (at, room) = (start + len, room - len);
        }
    }
    ranges
}

fn pick(column: &Column, rows: &[u32]) -> Column {
    let picks: Vec<_> = rows.iter().map(|&row| (0, row)).collect();
    Column::gather(&[column], &picks, None).expect("no more than there is")
}

/// Whether two columns have the same values; what lies under nulls does not count.
fn same(a: &Column, b: &Column) -> bool {
    if a.len() != b.len() || (0..a.len()).any(|row| a.is_null(row) != b.is_null(row)) {
        return false;
    }
    let valid: Vec<u32> = (0..a.len() as u32).filter(|&row| !a.is_null(row as usize)).collect();
    let items = |column: &Column| {
        let ranges = valid.iter().filter_map(|&row| column.range(row as usize));
        let items: Vec<u32> = ranges.flat_map(|range| range.start as u32..range.end as u32).collect();
        column.child().map(|child| pick(child, &items))
    };
    let (a_picked, b_picked) = (pick(a, &valid), pick(b, &valid));
    match (a_picked.values(), b_picked.values()) {
        (Values::Fixed(a), Values::Fixed(b)) => a.as_slice() == b.as_slice(),
        (Values::FixedSizeList(a), Values::FixedSizeList(b)) => same(a, b),
        (Values::Struct(a), Values::Struct(b)) => a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Values::Bits(_), _) => valid.iter().all(|&row| a.boolean(row as usize) == b.boolean(row as usize)),
        (Values::Variable { .. } | Values::LargeVariable { .. }, _) => {
            valid.iter().all(|&row| a.bytes(row as usize) == b.bytes(row as usize))
        }
        (Values::List { .. } | Values::LargeList { .. }, _) => {
            let len = |column: &Column, row: u32| column.range(row as usize).map(|range| range.len());
            valid.iter().all(|&row| len(a, row) == len(b, row))
                && items(a).zip(items(b)).is_some_and(|(a, b)| same(&a, &b))
        }
        _ => true,
    }
}

/// The files that an input is made of: `u32 length | bytes` for each.
pub(crate) fn pieces(mut input: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    while let Some((length, rest)) = input.split_first_chunk() {
        let length = rest.len().min(u32::from_le_bytes(*length) as usize);
        pieces.push(rest[..length].to_vec());
        input = &rest[length..];
    }
    pieces
}

/// Every file that the manifest names is there: all data files are alike, and so are all deletion files.
fn dataset(bytes: &Bytes) -> usize {
    let [manifest, data, deletions] = &pieces(bytes)[..] else { return 0 };
    let manifest = layout::without_sizes(manifest).unwrap_or_else(|| manifest.clone());
    let manifest = Bytes::from(manifest);
    let Ok(parsed) = Manifest::parse(&manifest) else { return 0 };
    let mut storage = InMemory::new();
    let (data, deletions) = (Bytes::from(data.clone()), Bytes::from(deletions.clone()));
    for fragment in &parsed.fragments {
        for file in &fragment.files {
            storage.insert(format!("d/data/{}", file.path), data.clone());
        }
        if let Some(file) = &fragment.deletion {
            let name = file.file_name(fragment.id);
            storage.insert(format!("d/_deletions/{name}"), deletions.clone());
        }
    }
    storage.insert(format!("d/_versions/{}.manifest", parsed.version), manifest);
    let Ok(dataset) = Dataset::options().storage(storage).open("d") else { return 0 };
    let widths = || parsed.schema.fields.iter().map(|field| check::width(&field.data_type));
    let row = widths().fold(16, usize::saturating_add);
    if row > MAX_BYTES / check::BATCH * 8 || parsed.schema.fields.len() > MAX_COLUMNS {
        return 0;
    }
    let _ = check::read(&dataset, &[]);
    row.saturating_mul(check::BATCH)
}

fn manifest(bytes: &Bytes) -> usize {
    if let Ok(manifest) = Manifest::parse(bytes) {
        check::read_manifest(&manifest);
        let _ = (manifest.unknown_fields(), manifest.has_stable_row_ids());
        for (position, fragment) in manifest.fragments.iter().enumerate().take(MAX_NUMBERS) {
            assert_eq!(manifest.position_of(fragment.id), Some(position));
        }
    }
    0
}

fn transaction(bytes: &Bytes) -> usize {
    if let Ok(transaction) = Transaction::parse(bytes) {
        assert!(!transaction.operation.name().is_empty());
    }
    0
}

fn fragment_reuse(bytes: &Bytes) -> usize {
    if let Ok(reuse) = FragmentReuse::parse(bytes) {
        let groups = reuse.versions().iter().flat_map(|version| &version.groups);
        let old: Vec<u64> = groups
            .flat_map(|group| &group.old_fragments)
            .map(|fragment| fragment.id.into())
            .take(MAX_NUMBERS)
            .collect();
        let rows = [0, 1, 1000, u64::from(u32::MAX)];
        let rows: BTreeSet<u64> =
            old.iter().flat_map(|fragment| rows.map(|row| fragment << 32 | row)).collect();
        let moved: BTreeSet<u64> = rows.iter().filter_map(|row| reuse.map(*row)).collect();
        let together = Moved::of(rows.into_iter().collect(), &reuse);
        assert!(together.rows.iter().eq(moved), "rows that move one by one, and together");
        let mut ids: Vec<u32> = old.iter().map(|&id| id as u32).collect();
        ids.sort_unstable();
        ids.dedup();
        reuse.map_fragments(&Roaring::from_sorted(&ids));
    }
    0
}

/// The number of rows and the bytes after it.
fn with_rows(bytes: &Bytes) -> Option<(u64, Bytes)> {
    let (rows, _) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*rows).into(), bytes.slice(4..)))
}

fn deletion_arrow(bytes: &Bytes) -> usize {
    let Some((rows, bytes)) = with_rows(bytes) else { return 0 };
    let rows = rows % (1 << 20);
    if let Ok(deletions) = Deletions::parse_arrow(&bytes, rows) {
        check_deletions(&deletions, rows);
    }
    // A compressed file may hold as many offsets as there are rows.
    rows as usize * 4
}

fn deletion_bitmap(bytes: &Bytes) -> usize {
    let Some((rows, bytes)) = with_rows(bytes) else { return 0 };
    if let Ok(deletions) = Deletions::parse_bitmap(&bytes, rows) {
        check_deletions(&deletions, rows);
    }
    0
}

fn check_deletions(deletions: &Deletions, rows: u64) {
    check_set(deletions.as_set());
    assert_eq!(deletions.len() + deletions.live_rows(), rows);
    let live = deletions.live_rows();
    for n in [0, live / 2, live.saturating_sub(1)] {
        match deletions.select_live(n) {
            Some(row) => {
                assert!(n < live && u64::from(row) < rows && !deletions.contains(row));
                assert_eq!(u64::from(row) - deletions.rank(row), n);
            }
            None => assert!(n >= live),
        }
    }
    let (mut at, mut found, mut all) = (0, 0, true);
    for (count, range) in deletions.live_ranges(0..rows).enumerate() {
        assert!(at <= range.start && range.start < range.end && range.end <= rows);
        (at, found) = (range.end, found + range.end - range.start);
        if count == MAX_NUMBERS {
            all = false;
            break;
        }
    }
    assert!(found == live || !all && found < live, "{found} of {live} rows");
}

fn check_set(set: &Roaring) {
    let mut last = None;
    for (rank, value) in set.iter().enumerate().take(MAX_NUMBERS) {
        assert!(last < Some(value) && set.contains(value));
        assert_eq!(set.rank(value), rank as u64);
        last = Some(value);
    }
    assert!(set.max() >= last && set.max().is_none_or(|max| set.contains(max)));
    assert_eq!(set.max().map(|max| set.rank(max) + 1).unwrap_or(0), set.len());
    let absent = set.nth_absent(0);
    assert!(u32::try_from(absent).is_err() || !set.contains(absent as u32));
}

fn row_ids(bytes: &Bytes) -> usize {
    let Some((rows, bytes)) = with_rows(bytes) else { return 0 };
    let bounds = RowIdSequence::bounds(&bytes);
    if let Ok(ids) = RowIdSequence::parse(&bytes, rows) {
        assert_eq!(ids.len(), rows);
        let (min, max) = bounds.expect("bounds of a sound sequence").unwrap_or((0, 0));
        for row in (0..rows).take(MAX_NUMBERS).chain(rows.saturating_sub(10)..rows) {
            let id = ids.get(row);
            assert!(min <= id && id <= max);
            assert_eq!(ids.iter_from(row).next(), Some(id));
            let found = ids.find(id).expect("an id that is there");
            assert_eq!(ids.get(found), id);
        }
        let _ = (ids.min_max(), ids.is_sorted(), ids.find(0), ids.find(u64::MAX));
    }
    0
}

fn row_versions(bytes: &Bytes) -> usize {
    let Some((rows, bytes)) = with_rows(bytes) else { return 0 };
    if let Ok(versions) = RowVersions::parse(&bytes, rows) {
        let mut at = 0;
        for (range, version) in versions.runs() {
            assert!(range.start == at && range.end > at);
            assert_eq!((versions.get(range.start), versions.get(range.end - 1)), (version, version));
            at = range.end;
        }
        assert_eq!(at, rows);
    }
    0
}

fn treemap(bytes: &Bytes) -> usize {
    if let Ok(set) = Roaring::parse(bytes) {
        check_set(&set);
    }
    if let Ok(set) = Treemap::parse(bytes) {
        assert_eq!(set.parts().map(|(_, part)| part.len()).sum::<u64>(), set.len());
        set.parts().take(MAX_NUMBERS).for_each(|(_, part)| check_set(part));
        for (rank, value) in set.iter().enumerate().take(MAX_NUMBERS) {
            assert!(set.contains(value));
            assert_eq!(set.rank(value), rank as u64);
        }
        let _ = (set.contains(u64::MAX), set.rank(u64::MAX));
    }
    0
}

fn row_addresses(bytes: &Bytes) -> usize {
    if let Ok(set) = RowAddressSet::parse(bytes) {
        let mut last = None;
        for (fragment, rows) in set.fragments().take(MAX_NUMBERS) {
            assert!(last < Some(fragment));
            last = Some(fragment);
            let address = |row: u32| u64::from(fragment) << 32 | u64::from(row);
            match rows {
                Some(rows) => {
                    check_set(rows);
                    assert!(rows.iter().take(MAX_NUMBERS).all(|row| set.contains(address(row))));
                }
                None => assert!(set.contains(address(0)) && set.contains(address(u32::MAX))),
            }
        }
        set.contains(u64::MAX);
    }
    0
}

fn json(bytes: &Bytes) -> usize {
    let _ = json::Value::parse(bytes);
    let _ = (Tag::parse(bytes), Branch::parse(bytes));
    if let Ok(name) = std::str::from_utf8(bytes) {
        let _ = (Tag::name_of(name), Branch::name_of(name), Tag::file_name(name), Branch::file_name(name));
    }
    0
}
