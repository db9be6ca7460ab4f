//! The values of a column by row, to which an index is held.

use crate::{datasets, folder, reuse, segments};
use lancet::{
    Column, DataType, Dataset,
    table::{FragmentReuse, IndexMetadata, Roaring},
};
use lancet_format::{
    Key,
    index::{
        BTreeIndex, BitmapIndex, BloomFilterIndex, BloomHash, IdDomain, IndexKind, LabelListIndex, MAX_TOKEN,
        NGramIndex, NULL_TOKEN, RowAddressSet, Zone, ZoneMapIndex, needle_tokens,
    },
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Datasets that were compacted once more after indices had been left behind, and fragments from then.
const LOST: [(&str, &[u64]); 3] = [
    ("deferred-remap-compacted-btree", &[9, 10]),
    ("deferred-remap-compacted-ngram", &[9, 10]),
    ("label-list-rewritten", &[0]),
];

/// The rows that a segment must know: live ones of the fragments that it covers.
pub(crate) struct Truth {
    pub(crate) values: Column,
    /// Row of `values` by row id and by address.
    by_id: HashMap<u64, usize>,
    by_address: BTreeMap<u64, usize>,
    reuse: Option<FragmentReuse>,
    pub(crate) stable: bool,
}

impl Truth {
    pub(crate) fn of(dataset: &Dataset, entry: &IndexMetadata, column: &str) -> Self {
        let reuse = reuse(dataset);
        let stored = entry.fragments.clone().expect("fragments");
        let covered = reuse.as_ref().map_or_else(|| stored.clone(), |reuse| reuse.map_fragments(&stored));
        let stable = dataset.manifest().has_stable_row_ids();
        let mut columns = vec![column, "_rowid", "_rowaddr"];
        columns.extend(stable.then_some("_row_created_at_version"));
        let batch = dataset.scan().columns(columns).unwrap().collect().unwrap();
        let numbers = |index: usize| batch.columns()[index].primitive::<u64>().unwrap().to_vec();
        let (values, ids, addresses) = (&batch.columns()[0], numbers(1), numbers(2));
        // A merge may add to a fragment that Lance then counts as covered rows that the index was never told of.
        let created = if stable { numbers(3) } else { vec![0; values.len()] };
        let own = |row: &usize| {
            covered.contains((addresses[*row] >> 32) as u32) && created[*row] <= entry.dataset_version
        };
        let rows = || (0..values.len()).filter(own);
        Truth {
            by_id: rows().map(|row| (ids[row], row)).collect(),
            by_address: rows().map(|row| (addresses[row], row)).collect(),
            values: values.clone(),
            reuse,
            stable,
        }
    }

    fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Leaves out the rows of fragments that Lance lost to an index: it says that they are covered.
    pub(crate) fn without_lost(mut self, dataset: &str) -> Self {
        let lost = LOST.iter().filter(|(name, _)| dataset.contains(name)).flat_map(|(_, lost)| *lost);
        for fragment in lost {
            let is_kept = |address: u64| address >> 32 != *fragment;
            self.by_address.retain(|address, _| is_kept(*address));
            // Without stable ids these are addresses.
            self.by_id.retain(|id, _| is_kept(*id));
        }
        self
    }

    /// Leaves only the rows of these fragments, or of those that took their place.
    pub(crate) fn retain_fragments(&mut self, fragments: impl Iterator<Item = u32>) {
        let known = Roaring::from_sorted(&fragments.collect::<Vec<_>>());
        let known = self.reuse.as_ref().map_or_else(|| known.clone(), |reuse| reuse.map_fragments(&known));
        self.by_address.retain(|address, _| known.contains((address >> 32) as u32));
    }

    /// The row that an index names by `id`, if the segment counts for it.
    pub(crate) fn find(&self, domain: IdDomain, id: u64) -> Option<usize> {
        match domain {
            IdDomain::RowId if self.stable => self.by_id.get(&id).copied(),
            _ => {
                let address = self.reuse.as_ref().map_or(Some(id), |reuse| reuse.map(id))?;
                self.by_address.get(&address).copied()
            }
        }
    }

    fn find_all(&self, domain: IdDomain, rows: &RowAddressSet) -> BTreeSet<usize> {
        all(rows).into_iter().filter_map(|id| self.find(domain, id)).collect()
    }

    pub(crate) fn rows_where(&self, holds: impl Fn(usize) -> bool) -> BTreeSet<usize> {
        self.by_address.values().copied().filter(|&row| holds(row)).collect()
    }

    /// The rows of a zone; a zone of a fragment that was compacted away has none.
    fn rows_of(&self, zone: &Zone) -> Vec<usize> {
        self.by_address.range(zone.addresses()).map(|(_, row)| *row).collect()
    }
}

fn all(rows: &RowAddressSet) -> Vec<u64> {
    let offsets = |(fragment, rows): (u32, Option<&Roaring>)| {
        let rows = rows.expect("no stored index has whole fragments").iter();
        rows.map(|row| u64::from(fragment) << 32 | u64::from(row)).collect::<Vec<_>>()
    };
    rows.fragments().flat_map(offsets).collect()
}

/// Which segments were judged, and how many rows of them.
type Judged = BTreeMap<&'static str, (usize, usize)>;

#[test]
fn indices_say_what_the_columns_say() {
    let mut judged = Judged::new();
    for path in datasets("").into_iter().chain(datasets("bugs")) {
        let dataset = Dataset::open(&path).unwrap();
        for (entry, kind) in segments(&dataset) {
            let [field] = entry.fields[..] else { continue };
            let Some(column) = dataset.schema().path_of(field) else { continue };
            let truth = || Truth::of(&dataset, &entry, &column).without_lost(&path.to_string_lossy());
            let name = format!("{}, index {}, segment {}", path.display(), entry.name, entry.uuid);
            let files = folder(&path, &entry);
            let domain = kind.domain();
            let (kind, rows) = match kind {
                IndexKind::BTree(_) => {
                    let index = BTreeIndex::open(&files).unwrap();
                    ("BTree", btree(&index, domain, &truth(), &name))
                }
                IndexKind::Bitmap => {
                    let index = BitmapIndex::open(&files).unwrap();
                    ("Bitmap", bitmap(&index, domain, &truth(), &name))
                }
                IndexKind::LabelList { version } => {
                    let index = LabelListIndex::open(&files).unwrap();
                    assert_eq!(version > 0, index.null_lists().is_some());
                    ("LabelList", label_list(&index, domain, &truth(), &name))
                }
                IndexKind::NGram => {
                    let index = NGramIndex::open(&files).unwrap();
                    ("NGram", ngram(&index, domain, &truth(), &name))
                }
                IndexKind::ZoneMap(details) => {
                    let index = ZoneMapIndex::open(&files).unwrap();
                    assert!(details.rows_per_zone.is_none_or(|rows| rows == index.rows_per_zone()));
                    assert!(!details.has_null_bitmap || index.null_rows().is_some());
                    ("ZoneMap", zone_map(&index, domain, &truth(), &name))
                }
                IndexKind::BloomFilter => {
                    let index = BloomFilterIndex::open(&files).unwrap();
                    ("BloomFilter", bloom_filter(&index, domain, &truth(), &name))
                }
                IndexKind::Inverted(details) => {
                    assert_eq!(details.language, "English");
                    ("Inverted", 0)
                }
                _ => continue,
            };
            let (segments, sum) = judged.entry(kind).or_default();
            (*segments, *sum) = (*segments + 1, *sum + rows);
        }
    }
    println!("{judged:?}");
    for (kind, least) in [
        ("BTree", 70),
        ("Bitmap", 30),
        ("ZoneMap", 20),
        ("BloomFilter", 10),
        ("LabelList", 5),
        ("NGram", 4),
        ("Inverted", 4),
    ] {
        assert!(judged[kind].0 >= least, "{kind}: {judged:?}");
    }
}

fn btree(index: &BTreeIndex, domain: IdDomain, truth: &Truth, name: &str) -> usize {
    let mut found = BTreeSet::new();
    let mut nulls = 0;
    let (mut page_column, mut id_column) = (None, None);
    let mut last: Option<Vec<u8>> = None;
    for page in 0..index.num_pages() {
        let rows = index.page_rows(page);
        let values = index.read_page(page, page_column.take()).unwrap();
        let ids = index.read_ids(rows.clone(), id_column.take()).unwrap();
        nulls += values.null_count() as u64;
        for (row, &id) in ids.primitive::<u64>().unwrap().iter().enumerate() {
            if let Some(own) = truth.find(domain, id) {
                assert_eq!(values.key(row), truth.values.key(own), "{name}: row {row} of page {page}");
                assert!(found.insert(own), "{name}: {id} twice");
            }
        }
        // Between pages the order goes on.
        let bound = |key: Option<Key<'_>>| format!("{key:?}").into_bytes();
        if let Some(last) = &last {
            assert!(page > 0 && *last == bound(index.max().get(page - 1)), "{name}");
        }
        last = Some(bound(values.key(values.len() - 1)));
        (page_column, id_column) = (Some(values), Some(ids));
    }
    assert_eq!(nulls, index.num_nulls());
    assert_eq!(found.len(), truth.len(), "{name}: rows that are missing");
    found.len()
}

fn bitmap(index: &BitmapIndex, domain: IdDomain, truth: &Truth, name: &str) -> usize {
    let mut sum = 0;
    let mut distinct = BTreeSet::new();
    for position in 0..index.num_keys() {
        let key = index.key(position);
        assert!(position == 0 || index.key(position - 1) < key, "{name}");
        assert_eq!(index.find(key), position..position + 1);
        let found = truth.find_all(domain, &index.rows(position).unwrap());
        assert_eq!(found, truth.rows_where(|row| truth.values.key(row) == Some(key)), "{name}: {key:?}");
        sum += found.len();
        distinct.extend(found);
    }
    let nulls: BTreeSet<usize> = (0..index.num_null_sets())
        .flat_map(|set| truth.find_all(domain, &index.null_rows(set).unwrap()))
        .collect();
    assert_eq!(nulls, truth.rows_where(|row| truth.values.is_null(row)), "{name}");
    assert_eq!(distinct.len() + nulls.len(), truth.len(), "{name}: rows that are missing");
    sum + nulls.len()
}

/// With stable row ids Lance leaves entries of updated rows in the segment: then more rows may be found.
fn compare(found: &BTreeSet<usize>, expected: &BTreeSet<usize>, truth: &Truth, what: &str) {
    match truth.stable {
        true => assert!(found.is_superset(expected), "{what}"),
        false => assert_eq!(found, expected, "{what}"),
    }
}

fn label_list(index: &LabelListIndex, domain: IdDomain, truth: &Truth, name: &str) -> usize {
    let items = truth.values.child().unwrap();
    let holds = |row: usize, key: Option<Key<'_>>| {
        !truth.values.is_null(row) && truth.values.range(row).unwrap().any(|item| items.key(item) == key)
    };
    let elements = index.elements();
    let mut keyed = BTreeSet::new();
    for position in 0..elements.num_keys() {
        let key = elements.key(position);
        let found = truth.find_all(domain, &elements.rows(position).unwrap());
        let expected = truth.rows_where(|row| holds(row, Some(key)));
        compare(&found, &expected, truth, &format!("{name}: {key:?}"));
        keyed.extend(expected);
    }
    let nulls: BTreeSet<usize> = (0..elements.num_null_sets())
        .flat_map(|set| truth.find_all(domain, &elements.null_rows(set).unwrap()))
        .collect();
    compare(&nulls, &truth.rows_where(|row| holds(row, None)), truth, name);
    let lists = truth.find_all(domain, index.null_lists().unwrap());
    compare(&lists, &truth.rows_where(|row| truth.values.is_null(row)), truth, name);
    let any = truth.rows_where(|row| {
        let mut items_of = truth.values.range(row).unwrap_or_default();
        !truth.values.is_null(row) && items_of.any(|item| !items.is_null(item))
    });
    assert_eq!(keyed, any, "{name}: elements that are missing");
    truth.len()
}

fn ngram(index: &NGramIndex, domain: IdDomain, truth: &Truth, name: &str) -> usize {
    let mut expected: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    let mut sound = true;
    for &row in truth.by_address.values() {
        match truth.values.str(row) {
            None => drop(expected.entry(NULL_TOKEN).or_default().insert(row)),
            Some(text) => {
                sound &= text.is_ascii();
                for token in needle_tokens(text).unwrap_or_default() {
                    expected.entry(token).or_default().insert(row);
                }
            }
        }
    }
    for (token, rows) in &expected {
        assert!(*token <= MAX_TOKEN);
        let ids = index.rows(*token).unwrap().expect("a token that is there");
        let found: BTreeSet<usize> = ids.iter().filter_map(|id| truth.find(domain, id)).collect();
        match sound {
            true => compare(&found, rows, truth, &format!("{name}: token {token}")),
            // Texts that are not all ASCII have tokens that are not looked for here.
            false => assert!(found.is_superset(rows), "{name}: token {token}"),
        }
    }
    for &token in index.tokens() {
        assert!(index.rows(token).unwrap().is_some_and(|rows| !rows.is_empty()), "{name}: {token}");
    }
    assert!(index.rows(MAX_TOKEN - 1).unwrap().is_none());
    truth.len()
}

/// Every row lies in a zone, unless the zones are of fragments that are gone.
fn check_zones(zones: &[Zone], truth: &Truth, name: &str) -> usize {
    assert!(zones.is_sorted_by(|a, b| a.addresses().end <= b.addresses().start), "{name}");
    let rows: BTreeSet<usize> = zones.iter().flat_map(|zone| truth.rows_of(zone)).collect();
    let fragments: BTreeSet<u64> = zones.iter().map(|zone| u64::from(zone.fragment)).collect();
    let expected = truth.by_address.iter().filter(|(address, _)| fragments.contains(&(*address >> 32)));
    assert_eq!(rows.len(), expected.count(), "{name}: rows that are missing");
    rows.len()
}

fn check_nulls(nulls: Option<&RowAddressSet>, zones: &[Zone], truth: &Truth, name: &str) {
    let Some(nulls) = nulls else { return };
    for zone in zones {
        for (address, &row) in truth.by_address.range(zone.addresses()) {
            assert_eq!(nulls.contains(*address), truth.values.is_null(row), "{name}");
        }
    }
}

fn zone_map(index: &ZoneMapIndex, _: IdDomain, truth: &Truth, name: &str) -> usize {
    let is_nan = |row: usize| truth.values.scalar(row).is_some_and(|value| value.is_nan());
    for (position, zone) in index.zones().iter().enumerate() {
        let rows = truth.rows_of(zone);
        let (min, max) = (index.min().get(position), index.max().get(position));
        let nans = rows.iter().filter(|&&row| is_nan(row)).count();
        assert!(nans <= index.nan_counts()[position] as usize, "{name}: {zone:?}");
        let nulls = rows.iter().filter(|&&row| truth.values.is_null(row)).count();
        assert!(nulls <= index.null_counts()[position] as usize, "{name}: {zone:?}");
        for row in rows.into_iter().filter(|&row| !is_nan(row)) {
            let Some(key) = truth.values.key(row) else { continue };
            // Of fixed-size binary Lance knows no bounds.
            let unknown = matches!(index.data_type(), DataType::FixedSizeBinary(_)) && min.is_none();
            assert!(unknown || min <= Some(key) && max >= Some(key), "{name}: {zone:?}");
        }
    }
    check_nulls(index.null_rows(), index.zones(), truth, name);
    check_zones(index.zones(), truth, name)
}

fn bloom_filter(index: &BloomFilterIndex, _: IdDomain, truth: &Truth, name: &str) -> usize {
    let data_type = truth.values.data_type();
    for (position, zone) in index.zones().iter().enumerate() {
        for row in truth.rows_of(zone) {
            match truth.values.scalar(row) {
                None => assert!(index.has_null()[position], "{name}: {zone:?}"),
                Some(value) => {
                    let hash = BloomHash::of(value, data_type).expect("a type that has filters");
                    let mut zones = index.may_hold(hash).unwrap();
                    assert!(zones.any(|own| own == position), "{name}: {zone:?}, {value:?}");
                }
            }
        }
    }
    check_nulls(index.null_rows(), index.zones(), truth, name);
    check_zones(index.zones(), truth, name)
}
