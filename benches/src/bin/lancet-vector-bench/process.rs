//! What a new process sees that opens a dataset and searches its vector index: the time until the first answer, and the
//! memory that many queries take.

use super::{COLUMN, K};
use lancet::{Dataset, Prefilter, SearchParams};
use lancet_benches::segment;
use lancet_index::{ivf::Scratch, vector::Vector};
use std::{collections::BTreeSet, error::Error, fs, path::Path, time::Instant};

/// Queries after which memory is looked at.
pub(crate) const QUERIES: usize = 1000;

const PROBES: usize = 10;

/// The times until dataset and index are open, and until the first query is answered.
pub(crate) fn first(dataset: &str, query: &[f32]) -> lancet::Result<String> {
    let start = Instant::now();
    let index = Dataset::open(dataset)?.vector_index(COLUMN)?;
    let open = start.elapsed();
    let params = SearchParams::default().k(K).nprobes(PROBES);
    let (mut scratch, mut hits) = (index.scratch(), Vec::new());
    index.search(query, &params, &Prefilter::default(), &mut scratch, &mut hits)?;
    let [open, both] = [open, start.elapsed()].map(|time| time.as_secs_f64() * 1e6);
    Ok(format!("{{\"open_us\": {open:.1}, \"first_query_us\": {both:.1}}}"))
}

/// By how much memory that no file backs grows with `queries`, asked at ten probes; what the cache of the index takes; and
/// the partitions that were touched, with the rows and the bytes of codes or vectors in them.
pub(crate) fn growth(path: &str, queries: &[f32]) -> Result<String, Box<dyn Error>> {
    let dataset = Dataset::open(path)?;
    let index = dataset.vector_index(COLUMN)?;
    let params = SearchParams::default().k(K).nprobes(PROBES);
    let before = anonymous()?;
    let (mut scratch, mut hits) = (index.scratch(), Vec::new());
    for query in queries.chunks_exact(index.dimension()) {
        index.search(query, &params, &Prefilter::default(), &mut scratch, &mut hits)?;
    }
    let growth = anonymous()?.saturating_sub(before);
    let cached = dataset.index_cache().bytes;

    let ivf = segment::of_dataset(Path::new(path))?;
    let (mut scratch, mut touched) = (Scratch::default(), BTreeSet::new());
    for query in queries.chunks_exact(index.dimension()) {
        let numbers: Vec<f64> = query.iter().map(|&x| x.into()).collect();
        let query = ivf.query(&Vector::new(&numbers, ivf.file().centroids().item())?)?;
        ivf.rank(&query, PROBES, &mut scratch);
        touched.extend(scratch.ranked().iter().map(|&(_, number)| number as usize));
    }
    let partitions = ivf.file().partitions();
    let rows: u64 = touched.iter().map(|&number| partitions[number].end - partitions[number].start).sum();
    let bytes = rows * ivf.file().row_bytes() as u64;
    let touched = touched.len();
    Ok(format!(
        "{{\"growth\": {growth}, \"cached\": {cached}, \"partitions\": {touched}, \"rows\": {rows}, \"bytes\": {bytes}}}"
    ))
}

/// Bytes of memory of this process that no file backs.
fn anonymous() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes =
        line.and_then(|line| line.split_whitespace().next()).ok_or("expected a line `RssAnon`")?;
    Ok(kilobytes.parse::<u64>()? * 1024)
}
