//! First inputs, made of the stored datasets: small files as they are, and columns cut out of larger ones.

use crate::{layout, mutate::join, parts::Parts};
use lancet::storage::Bytes;
use lancet_format::{
    Column, ColumnMap, Field, File, FileVersion,
    index::{SET_BUFFERS, SetLayout, set_buffer},
    table::{Lineage, Manifest},
};
use std::{
    collections::BTreeSet,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    slice,
    sync::Arc,
};

/// Larger inputs are left out: libFuzzer makes most of small ones.
const MAX_SIZE: usize = 16 << 10;
/// For each target.
const MAX_SEEDS: usize = 400;

/// Writes seeds from the datasets below `fixtures` to a folder below `corpora` for each target, and returns
/// how many there are.
///
/// # Errors
/// Those of the file system.
pub fn write(fixtures: &Path, corpora: &Path) -> io::Result<usize> {
    let mut seeds = BTreeSet::new();
    for path in files(fixtures)? {
        let bytes = fs::read(&path)?;
        collect(&path, &bytes, &mut |target, seed| {
            if seed.len() <= MAX_SIZE {
                seeds.insert((target, seed.len(), seed));
            }
        });
    }
    let mut written = 0;
    for target in crate::names() {
        let folder = corpora.join(target);
        fs::create_dir_all(&folder)?;
        // The smallest first, of which many are much alike: every so many in order of size.
        let own: Vec<_> = seeds.iter().filter(|(name, ..)| *name == target).collect();
        for (_, _, seed) in own.iter().step_by(own.len().div_ceil(MAX_SEEDS).max(1)) {
            let mut hasher = DefaultHasher::new();
            seed.hash(&mut hasher);
            fs::write(folder.join(format!("seed-{:016x}", hasher.finish())), seed)?;
            written += 1;
        }
    }
    Ok(written)
}

/// All files below a folder, in order.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => found.extend(files(&entry.path())?),
            false => found.push(entry.path()),
        }
    }
    found.sort();
    Ok(found)
}

fn collect(path: &Path, bytes: &[u8], add: &mut impl FnMut(&'static str, Vec<u8>)) {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("lance" | "idx") => {
            add("file", bytes.to_vec());
            for (version, column) in columns(bytes).unwrap_or_default() {
                add(if version == FileVersion::V2_0 { "page_v20" } else { "page_v21" }, column);
            }
            of_index(path, bytes, add);
        }
        Some("manifest") => {
            add("manifest", bytes.to_vec());
            if let Ok(manifest) = Manifest::parse(&Bytes::copy_from_slice(bytes)) {
                of_manifest(path, bytes, &manifest, add);
                of_planner(path, &manifest, add);
            }
        }
        Some("txn") => add("transaction", bytes.to_vec()),
        Some("arrow") => add("deletion_arrow", with_rows(1 << 16, bytes)),
        Some("bin") => {
            add("deletion_bitmap", with_rows(1 << 16, bytes));
            add("treemap", bytes.to_vec());
            add("treemap", [&1u64.to_le_bytes()[..], &7u32.to_le_bytes(), bytes].concat());
        }
        Some("binpb") => add("fragment_reuse", bytes.to_vec()),
        Some("json") if path.to_str().is_some_and(|path| path.ends_with(".expected.json")) => {
            filters(&String::from_utf8_lossy(bytes)).for_each(|filter| add("filter", filter.into_bytes()));
        }
        Some("json") if bytes.len() < 1 << 10 => add("json", bytes.to_vec()),
        _ => {}
    }
}

/// The files of an index, and the sets of rows in them.
fn of_index(path: &Path, bytes: &[u8], add: &mut impl FnMut(&'static str, Vec<u8>)) -> Option<()> {
    let name = path.file_name()?.to_str()?;
    match name {
        "page_lookup.lance" => {
            let data = fs::read(path.with_file_name("page_data.lance")).ok()?;
            add("index_btree", join(&[bytes.to_vec(), data]));
        }
        "index.idx" => {
            let auxiliary = fs::read(path.with_file_name("auxiliary.idx")).ok()?;
            add("index_ivf", join(&[bytes.to_vec(), auxiliary]));
        }
        "bitmap_page_lookup.lance" => add("index_bitmap", bytes.to_vec()),
        "zonemap.lance" => add("index_zone_map", bytes.to_vec()),
        "bloomfilter.lance" => add("index_bloom_filter", bytes.to_vec()),
        "ngram_postings.lance" => add("index_ngram", bytes.to_vec()),
        _ => {}
    }
    let file = File::open(Arc::new(Bytes::copy_from_slice(bytes))).ok()?;
    let (schema, rows) = file.container().schema().ok()?;
    for (key, value) in SET_BUFFERS.iter().filter_map(|key| Some((key, schema.metadata.get(*key)?))) {
        let buffer = file.container().global_buffer(set_buffer(key, value).ok()?).ok()?;
        add("row_addresses", buffer.all().ok()?.to_vec());
    }
    let columns = ColumnMap::of_schema(&schema.fields, file.container().version());
    for field in &schema.fields {
        let Some(layout) = SetLayout::of_column(name, &field.name) else { continue };
        let target = if layout == SetLayout::RowAddresses { "row_addresses" } else { "treemap" };
        let sets = file.read(field, &columns, rows, slice::from_ref(&(0..rows)), None).ok()?;
        (0..sets.len()).filter_map(|row| sets.bytes(row)).for_each(|set| add(target, set.to_vec()));
    }
    Some(())
}

/// The filters in a list of cases.
fn filters(cases: &str) -> impl Iterator<Item = String> {
    let quoted = cases.split("\"--filter\", \"").skip(1);
    quoted
        .filter_map(|rest| rest.split_once("\", \"").or(rest.split_once("\"]")))
        .map(|(text, _)| text.replace("\\\"", "\"").replace("\\\\", "\\"))
}

fn with_rows(rows: u64, bytes: &[u8]) -> Vec<u8> {
    [&(rows as u32).to_le_bytes(), bytes].concat()
}

fn of_manifest(
    path: &Path,
    bytes: &[u8],
    manifest: &Manifest,
    add: &mut impl FnMut(&'static str, Vec<u8>),
) -> Option<()> {
    for index in manifest.indices().unwrap_or_default() {
        if let Some(fragments) = index.fragments {
            add("treemap", fragments.as_bytes().to_vec());
        }
        if let Some(details) = index.details {
            add("fragment_reuse", details.value.to_vec());
        }
    }
    if let Ok(Some(transaction)) = manifest.transaction() {
        add("transaction", transaction.to_vec());
    }
    for fragment in &manifest.fragments {
        let rows = fragment.physical_rows.unwrap_or(0);
        if let Some(Lineage::Inline(bytes)) = &fragment.row_ids {
            add("row_ids", with_rows(rows, bytes));
        }
        for lineage in [&fragment.created_at, &fragment.last_updated_at] {
            if let Some(Lineage::Inline(bytes)) = lineage {
                add("row_versions", with_rows(rows, bytes));
            }
        }
    }
    // A dataset with the first fragment that has a deletion file, or the first of all.
    let fragments = || manifest.fragments.iter();
    let fragment = fragments().find(|fragment| fragment.deletion.is_some()).or(fragments().next())?;
    let root = path.parent()?.parent()?;
    let data = fs::read(root.join("data").join(&fragment.files.first()?.path)).ok()?;
    let deletions = fragment
        .deletion
        .map(|file| fs::read(root.join("_deletions").join(file.file_name(fragment.id))).unwrap_or_default());
    let manifest = layout::without_sizes(bytes)?;
    add("dataset", join(&[manifest, data, deletions.unwrap_or_default()]));
    Some(())
}

/// The newest version of a small dataset with scalar indices, and each filter of its cases.
fn of_planner(path: &Path, manifest: &Manifest, add: &mut impl FnMut(&'static str, Vec<u8>)) -> Option<()> {
    let root = path.parent()?.parent()?;
    let newest = files(path.parent()?).ok()?.into_iter().find(|file| file.extension() == path.extension())?;
    let indices = manifest.indices().ok().filter(|indices| !indices.is_empty() && newest == path)?;
    let deletions = manifest.fragments.iter().filter_map(|fragment| {
        Some(root.join("_deletions").join(fragment.deletion.as_ref()?.file_name(fragment.id)))
    });
    let data = manifest.fragments.iter().flat_map(|fragment| &fragment.files);
    let mut found = vec![path.to_owned()];
    for index in indices {
        found.extend(files(&root.join("_indices").join(index.uuid.to_string())).unwrap_or_default());
    }
    found.extend(data.map(|file| root.join("data").join(&file.path)).chain(deletions));
    let mut pieces = vec![Vec::new()];
    for file in found {
        pieces.push(file.strip_prefix(root).ok()?.to_str()?.into());
        pieces.push(fs::read(file).ok()?);
    }
    let cases = fs::read_to_string(root.with_extension("expected.json")).ok()?;
    for filter in filters(&cases).collect::<BTreeSet<_>>() {
        pieces[0] = filter.into_bytes();
        add("planner", join(&pieces));
    }
    Some(())
}

/// Files of one column each, those of several pages with the first page only.
fn columns(bytes: &[u8]) -> Option<Vec<(FileVersion, Vec<u8>)>> {
    let file = File::open(Arc::new(Bytes::copy_from_slice(bytes))).ok()?;
    let version = file.container().version();
    let (schema, _) = file.container().schema().ok()?;
    let map = ColumnMap::of_schema(&schema.fields, version);
    let mut found = Vec::new();
    for field in &schema.fields {
        let (mut fields, mut columns) = (BTreeSet::new(), BTreeSet::new());
        visit(field, &mut |field| {
            fields.insert(field.id as u64);
            columns.extend(map.get(field.id));
        });
        let mut parts = Parts::of(bytes)?;
        parts.keep(&fields, &columns)?;
        if parts.file().len() > MAX_SIZE && parts.keep_first_page().is_none() {
            continue;
        }
        let column = parts.file();
        if reads(&column).is_some() {
            found.push((version, column));
        }
    }
    Some(found)
}

fn visit(field: &Field, found: &mut impl FnMut(&Field)) {
    found(field);
    field.data_type.children().iter().for_each(|child| visit(child, found));
}

/// The only column of a file.
fn reads(bytes: &[u8]) -> Option<Column> {
    let file = File::open(Arc::new(Bytes::copy_from_slice(bytes))).ok()?;
    let (schema, rows) = file.container().schema().ok()?;
    let columns = ColumnMap::of_schema(&schema.fields, file.container().version());
    file.read(schema.fields.first()?, &columns, rows, slice::from_ref(&(0..rows)), None).ok()
}
