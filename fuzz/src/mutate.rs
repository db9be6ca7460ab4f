//! Changes that keep most of an input sound: a buffer with all positions right, a field of a message with all
//! lengths right. A change of plain bytes mostly ends at the first check that they meet.

use crate::{layout, parts::Parts, random::Random, targets::pieces, wire};

/// Room for a part of an input to grow when its bytes are changed.
const GROWTH: usize = 64;

/// Changes the plain bytes of a part.
type Plain<'a> = &'a mut dyn FnMut(&mut Vec<u8>);

/// One step of libFuzzer for the target called `name`: changes the first `size` bytes of `data`, of which there
/// are `max_size`, and returns how many bytes there are then. `plain` is libFuzzer's own way to do so.
pub fn step(
    name: &str,
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    plain: impl Fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mut random = Random(seed.into());
    let mut plain_part = |bytes: &mut Vec<u8>| {
        let len = bytes.len();
        bytes.resize(len + GROWTH, 0);
        let len = plain(bytes, len, len + GROWTH);
        bytes.truncate(len);
    };
    if random.below(8) > 0
        && let Some(changed) = change(name, &data[..size], &mut random, &mut plain_part)
        && changed.len() <= max_size
    {
        data[..changed.len()].copy_from_slice(&changed);
        return changed.len();
    }
    plain(data, size, max_size)
}

/// `None` if the input is not sound enough.
fn change(name: &str, input: &[u8], random: &mut Random, plain: Plain) -> Option<Vec<u8>> {
    match name {
        "file" | "page_v20" | "page_v21" | "index_bitmap" | "index_zone_map" | "index_bloom_filter"
        | "index_ngram" => change_file(input, random, plain),
        "manifest" => layout::damage_manifest(input, random),
        "filter" => Some(change_words(input, random)),
        "transaction" | "fragment_reuse" => change_message(input, random),
        "row_ids" | "row_versions" => {
            let (rows, message) = input.split_at_checked(4)?;
            Some([rows, &change_message(message, random)?].concat())
        }
        "dataset" => {
            let mut pieces = pieces(input);
            let [manifest, data, deletions] = &mut pieces[..] else { return None };
            match random.below(3) {
                0 => *manifest = layout::damage_manifest(manifest, random)?,
                1 => *data = change_file(data, random, plain)?,
                _ => plain(deletions),
            }
            Some(join(&pieces))
        }
        "planner" => {
            let mut pieces = pieces(input);
            let (filter, files) = pieces.split_first_mut()?;
            let files: Vec<&mut [Vec<u8>]> =
                files.chunks_exact_mut(2).filter(|file| is_planned(&file[0])).collect();
            let count = files.len().max(1);
            match files.into_iter().nth(random.below(count + 1)) {
                None => *filter = change_words(filter, random),
                Some(file) if file[0].ends_with(b".manifest") => {
                    file[1] = layout::damage_manifest(&file[1], random)?;
                }
                Some(file) => file[1] = change_file(&file[1], random, plain)?,
            }
            Some(join(&pieces))
        }
        "index_btree" | "index_ivf" => {
            let mut pieces = pieces(input);
            let [first, second] = &mut pieces[..] else { return None };
            let file = if random.below(2) == 0 { first } else { second };
            *file = change_file(file, random, plain)?;
            Some(join(&pieces))
        }
        _ => None,
    }
}

/// Whether the planner reads the file at this path: the manifest, or a file of an index.
fn is_planned(path: &[u8]) -> bool {
    path.starts_with(b"_versions/") || path.starts_with(b"_indices/")
}

fn change_file(file: &[u8], random: &mut Random, plain: Plain) -> Option<Vec<u8>> {
    if random.below(2) == 0 {
        return layout::damage_columns(file, random).map(|(file, _)| file);
    }
    let mut parts = Parts::of(file)?;
    if random.below(8) == 0 {
        let schema = parts.globals.first_mut()?;
        *schema = change_message(schema, random)?;
        return Some(parts.file());
    }
    let count = parts.buffers().count();
    if count == 0 {
        return None;
    }
    let buffer = parts.buffers().nth(random.below(count))?;
    match random.below(4) {
        // A number in the tables that many buffers begin with.
        0 if !buffer.is_empty() => {
            let width = *random.pick(&[1, 2, 4, 8]);
            let at = random.below(buffer.len().min(64)) / width * width;
            let end = buffer.len().min(at + width);
            let number = random.pick(&wire::NUMBERS).to_le_bytes();
            buffer[at..end].copy_from_slice(&number[..end - at]);
        }
        1 => buffer.truncate(random.below(buffer.len() + 1)),
        _ => plain(buffer),
    }
    Some(parts.file())
}

fn change_message(message: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut fields = wire::parse(message)?;
    wire::damage(&mut fields, random);
    Some(wire::encode(&fields))
}

/// An input made of files, as [`pieces`] takes it apart.
pub(crate) fn join(pieces: &[Vec<u8>]) -> Vec<u8> {
    pieces.iter().flat_map(|piece| [&(piece.len() as u32).to_le_bytes(), &piece[..]].concat()).collect()
}

/// Words of which filters are made.
const WORDS: [&str; 56] = [
    "AND",
    "OR",
    "NOT",
    "IS",
    "NULL",
    "TRUE",
    "IN",
    "BETWEEN",
    "LIKE",
    "ILIKE",
    "ESCAPE",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST(",
    "AS",
    "BIGINT",
    "DOUBLE",
    "DECIMAL(9, 2)",
    "TIMESTAMP",
    "arrow_cast(",
    "'Date32'",
    "DATE '2020-02-29'",
    "TIMESTAMP '2020-01-01 00:00:00.5'",
    "TIME '01:02'",
    "X'00'",
    "'a%'",
    "'NaN'",
    "5",
    "-0.5",
    "1e40",
    "9999999999999999999",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    "=",
    "<",
    "!=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "||",
    "coalesce(",
    "round(",
    "array_has_any(",
    "date_trunc('day',",
    "now()",
    "to_timestamp(",
    "`a`",
];

/// Takes a word away, or puts one in.
fn change_words(input: &[u8], random: &mut Random) -> Vec<u8> {
    let mut words: Vec<&[u8]> = input.split(|byte| *byte == b' ').collect();
    let at = random.below(words.len());
    match random.below(3) {
        0 => drop(words.remove(at)),
        1 => words[at] = WORDS[random.below(WORDS.len())].as_bytes(),
        _ => words.insert(at, WORDS[random.below(WORDS.len())].as_bytes()),
    }
    words.join(&b' ')
}
