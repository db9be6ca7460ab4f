//! The parts of manifests and data files that hold messages, to be damaged and put together again.

use crate::{random::Random, wire};

const MANIFEST_FOOTER: usize = 16;
const FILE_FOOTER: usize = 40;

/// `fragments.files.file_size_bytes` of a manifest.
const FILE_SIZES: [u64; 3] = [2, 2, 6];

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

/// A manifest file that `change` has changed.
fn change_manifest(file: &[u8], change: impl FnOnce(&mut Vec<wire::Field>)) -> Option<Vec<u8>> {
    let footer = file.len().checked_sub(MANIFEST_FOOTER)?;
    let start = usize::try_from(u64_at(file, footer)?).ok()?;
    let mut fields = wire::parse(file.get(start.checked_add(4)?..footer)?)?;
    change(&mut fields);
    let message = wire::encode(&fields);
    let mut out = file[..start].to_vec();
    out.extend((message.len() as u32).to_le_bytes());
    out.extend(message);
    out.extend(&file[footer..]);
    Some(out)
}

/// The manifest without the sizes of the data files: a reader would look at nothing else in a file that was
/// cut short.
pub(crate) fn without_sizes(file: &[u8]) -> Option<Vec<u8>> {
    change_manifest(file, |fields| wire::remove(fields, &FILE_SIZES))
}

pub(crate) fn damage_manifest(file: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    change_manifest(file, |fields| wire::damage(fields, random))
}

/// A data file with a field or two damaged in the metadata of one of its columns, and where that was.
pub(crate) fn damage_columns(file: &[u8], random: &mut Random) -> Option<(Vec<u8>, u64)> {
    let footer = file.len().checked_sub(FILE_FOOTER)?;
    let [metadata, table, globals] = [0, 8, 16].map(|at| u64_at(file, footer + at));
    let (metadata, table, globals) = (metadata? as usize, table? as usize, globals? as usize);
    let columns = u32_at(file, footer + 28)? as usize;
    let victim = random.below(columns.max(1));
    let mut place = 0;
    let mut out = file.get(..metadata)?.to_vec();
    let mut entries = Vec::new();
    for column in 0..columns {
        let at = u64_at(file, table + column * 16)? as usize;
        let size = u64_at(file, table + column * 16 + 8)? as usize;
        let mut message = file.get(at..at.checked_add(size)?)?.to_vec();
        if column == victim {
            place = at as u64;
            let mut fields = wire::parse(&message)?;
            for _ in 0..1 + random.below(2) {
                wire::damage(&mut fields, random);
            }
            message = wire::encode(&fields);
        }
        entries.extend((out.len() as u64).to_le_bytes());
        entries.extend((message.len() as u64).to_le_bytes());
        out.extend(message);
    }
    let table = out.len();
    out.extend(entries);
    let moved = out.len();
    out.extend(file.get(globals..footer)?);
    out.extend((metadata as u64).to_le_bytes());
    out.extend((table as u64).to_le_bytes());
    out.extend((moved as u64).to_le_bytes());
    out.extend(&file[footer + 24..]);
    Some((out, place))
}

/// One field of a message that holds bytes.
pub(crate) fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    wire::length_delimited(number.into(), bytes)
}

/// A manifest file of which this is the message.
pub(crate) fn manifest(message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u32).to_le_bytes();
    [&length, message, &[0; 8], &[0, 0, 2, 0], b"LANC"].concat()
}

/// A data file of version 2.1 with one column of numbers, of which this is the metadata.
pub(crate) fn file_of_one_column(metadata: &[u8]) -> Vec<u8> {
    // Number 0, `n`, at the top, `uint8`.
    let top = [0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    let number = [field(2, b"n"), top.to_vec(), field(5, b"uint8")].concat();
    let schema = field(1, &field(1, &number));
    let columns = schema.len();
    let table = columns + metadata.len();
    let mut out = [&schema[..], metadata].concat();
    for number in [columns, metadata.len(), 0, schema.len(), columns, table, table + 16] {
        out.extend((number as u64).to_le_bytes());
    }
    out.extend([1u32, 1].iter().flat_map(|number| number.to_le_bytes()));
    out.extend([2u16, 1].iter().flat_map(|number| number.to_le_bytes()));
    out.extend(b"LANC");
    out
}
