//! Just enough of the Arrow IPC file format to read one column of `u32`.
//!
//! ```text
//! "ARROW1\0\0"
//! messages       each u32 ffffffff | i32 length | flatbuffer, then a body
//! footer         flatbuffer: schema, and a block for each record batch
//! i32 length of the footer | "ARROW1"
//! ```
//!
//! The record batch is found through the footer. Its body holds two buffers, validity and values; a
//! compressed buffer begins with its uncompressed size, or −1 if it is not compressed after all.

use crate::{Error, Result, compress::zstd_of_size, ensure};
use alloc::{borrow::Cow, format, vec::Vec};

const MAGIC: &[u8] = b"ARROW1";
/// What follows the footer: its length and the magic.
const TAIL: usize = 4 + MAGIC.len();
/// What precedes a message: a marker and its length.
const MESSAGE_PREFIX: usize = 8;
const MESSAGE_MARKER: u32 = u32::MAX;
/// Writers may round a buffer up.
const PADDING: u64 = 64;
/// Offsets are all different, and such numbers do not shrink to less than this part of their size:
/// a file that claims it is out to exhaust memory.
const MAX_RATIO: u64 = 256;

/// Values of the flatbuffers' enumerations.
const INT_TYPE: u8 = 2;
const RECORD_BATCH: u8 = 3;
const LZ4_FRAME: u8 = 0;
const ZSTD: u8 = 1;

/// The values of a file's only column, as they come.
pub(super) fn read_offsets(file: &[u8], physical_rows: u64) -> Result<Vec<u32>> {
    let framed = file.starts_with(MAGIC) && file.ends_with(MAGIC) && file.len() >= MAGIC.len() + 2 + TAIL;
    ensure!(framed, "expected an Arrow file, which begins and ends with `ARROW1`");
    let end = file.len() - TAIL;
    let footer_length = u32::from_le_bytes(read(file, end)?) as usize;
    let Some(footer_at) = end.checked_sub(footer_length) else {
        return Err(Error::corrupt(format!(
            "Arrow footer: expected at most {end} bytes, found {footer_length}"
        ))
        .at(end as u64));
    };
    let footer = Table::root(part(file, footer_at, footer_length as u64, "Arrow footer")?);
    let footer = footer.and_then(|footer| {
        check_schema(&footer)?;
        record_batch(&footer)
    });
    let block = footer.map_err(|error| error.within("Arrow footer").at(footer_at as u64))?;
    block
        .read(file, physical_rows)
        .map_err(|error| error.within("Arrow record batch").at(block.offset as u64))
}

/// Requires one field `row_id: uint32 not null`.
fn check_schema(footer: &Table<'_>) -> Result<()> {
    let schema = footer.table(1)?.ok_or_else(|| missing("a schema"))?;
    ensure!(schema.u16(0)? == 0, "expected a little-endian file");
    let fields = schema.vector(1, 4)?;
    ensure!(fields.len() == 1, "expected one field, found {}", fields.len());
    let field = schema.table_at(fields.at(0)?)?;
    let name = field.vector(0, 1)?;
    ensure!(
        name.bytes() == b"row_id",
        "expected the field `row_id`, found `{}`",
        name.bytes().escape_ascii()
    );
    let int = if field.u8(2)? == INT_TYPE { field.table(3)? } else { None };
    let width = int.map(|int| Ok((int.u32(0)?, int.u8(1)?))).transpose()?;
    let plain = field.u8(1)? == 0 && field.slot(4)?.is_none();
    ensure!(width == Some((32, 0)) && plain, "expected `row_id` to be uint32 without nulls");
    Ok(())
}

/// Where a message and its body lie in the file.
struct Block {
    offset: usize,
    message_length: u32,
    body_length: u64,
}

/// Finds the only record batch.
fn record_batch(footer: &Table<'_>) -> Result<Block> {
    let dictionaries = footer.vector(2, 24)?.len();
    ensure!(dictionaries == 0, "expected no dictionaries, found {dictionaries}");
    let blocks = footer.vector(3, 24)?;
    ensure!(blocks.len() == 1, "expected one record batch, found {}", blocks.len());
    let block = blocks.bytes();
    let offset = u64::from_le_bytes(read(block, 0)?);
    let Ok(offset) = usize::try_from(offset) else {
        return Err(Error::corrupt(format!("expected a block in the file, found one at byte {offset}")));
    };
    let message_length = u32::from_le_bytes(read(block, 8)?);
    Ok(Block { offset, message_length, body_length: u64::from_le_bytes(read(block, 16)?) })
}

impl Block {
    fn read(&self, file: &[u8], physical_rows: u64) -> Result<Vec<u32>> {
        let metadata = part(file, self.offset, self.message_length.into(), "message")?;
        ensure!(metadata.len() >= MESSAGE_PREFIX, "expected a message behind its length");
        let body = part(file, self.offset + metadata.len(), self.body_length, "body")?;
        let marker = u32::from_le_bytes(read(metadata, 0)?);
        ensure!(marker == MESSAGE_MARKER, "expected the marker ffffffff, found {marker:08x}");
        let length = u32::from_le_bytes(read(metadata, 4)?);
        let message = Table::root(part(metadata, MESSAGE_PREFIX, length.into(), "message")?)?;
        let kind = message.u8(1)?;
        ensure!(kind == RECORD_BATCH, "expected a record batch (3), found message type {kind}");
        let batch = message.table(2)?.ok_or_else(|| missing("a record batch"))?;

        let rows = batch.u64(0)?;
        ensure!(rows <= physical_rows, "expected at most {physical_rows} deleted rows, found {rows}");
        let nodes = batch.vector(1, 16)?;
        ensure!(nodes.len() == 1, "expected one column, found {}", nodes.len());
        let [length, nulls] = [0, 8].map(|at| read(nodes.bytes(), at).map(u64::from_le_bytes));
        let (length, nulls) = (length?, nulls?);
        ensure!(length == rows && nulls == 0, "expected {rows} values, found {length} with {nulls} nulls");
        let buffers = batch.vector(2, 16)?;
        ensure!(buffers.len() == 2, "expected two buffers, found {}", buffers.len());
        let [at, size] = [16, 24].map(|at| read(buffers.bytes(), at).map(u64::from_le_bytes));
        let (at, size) = (at?, size?);
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let stored = part(body, at, size, "values")?;

        let values = match batch.table(3)? {
            None => Cow::Borrowed(stored),
            Some(_) if stored.is_empty() => Cow::Borrowed(stored),
            Some(compression) => decompress(&compression, stored, 4 * rows)?,
        };
        let end = usize::try_from(4 * rows).ok();
        let Some(values) = end.and_then(|end| values.get(..end)) else {
            return Err(Error::corrupt(format!("expected {rows} values, found {} bytes", values.len())));
        };
        Ok(values.as_chunks().0.iter().map(|value| u32::from_le_bytes(*value)).collect())
    }
}

/// The bytes of a buffer that begins with its uncompressed size, which should be `expected` or a little more.
fn decompress<'a>(compression: &Table<'_>, stored: &'a [u8], expected: u64) -> Result<Cow<'a, [u8]>> {
    ensure!(compression.u8(1)? == 0, "expected each buffer to be compressed by itself");
    let size = i64::from_le_bytes(read(stored, 0)?);
    let payload = &stored[8..];
    if size == -1 {
        return Ok(Cow::Borrowed(payload));
    }
    let plausible = (expected..=expected + PADDING).contains(&(size as u64))
        && size as u64 / MAX_RATIO <= payload.len() as u64;
    let Some(size) = usize::try_from(size).ok().filter(|_| plausible) else {
        return Err(Error::corrupt(format!(
            "expected {expected} bytes of values in {} compressed bytes, found a size of {size}",
            payload.len()
        )));
    };
    match compression.u8(0)? {
        ZSTD => {
            let mut out = Vec::new();
            zstd_of_size(payload, size, &mut out)?;
            Ok(Cow::Owned(out))
        }
        LZ4_FRAME => Err(Error::unsupported("LZ4 compression of a deletion file: expected zstd")),
        other => Err(Error::unsupported(format!("compression codec {other}: expected zstd (1)"))),
    }
}

/// A table of a flatbuffer, read with checked offsets.
///
/// A table begins with the distance back to its list of slots: `u16` size of the list, `u16` size of the
/// table, then for each slot a `u16` offset into the table, 0 if it is absent. Tables, vectors and strings in slots
/// are distances forward. Nothing here follows a distance more than once, so they cannot lead in circles.
#[derive(Clone, Copy)]
struct Table<'a> {
    buffer: &'a [u8],
    at: usize,
    /// The offsets of the slots, two bytes each.
    slots: &'a [u8],
}

impl<'a> Table<'a> {
    fn root(buffer: &'a [u8]) -> Result<Self> {
        Self::new(buffer, follow(buffer, 0)?)
    }

    fn new(buffer: &'a [u8], at: usize) -> Result<Self> {
        let back = i32::from_le_bytes(read(buffer, at)?);
        let slots_at = (at as i64).checked_sub(i64::from(back)).and_then(|at| usize::try_from(at).ok());
        let slots_at = slots_at.ok_or_else(|| missing("a table's slots"))?;
        let size = u16::from_le_bytes(read(buffer, slots_at)?);
        let slots = part(buffer, slots_at, size.into(), "slots")?.get(4..).ok_or_else(|| missing("slots"))?;
        Ok(Table { buffer, at, slots })
    }

    /// Where slot `index` lies, unless it is absent.
    fn slot(&self, index: usize) -> Result<Option<usize>> {
        let Some(offset) = self.slots.as_chunks().0.get(index) else { return Ok(None) };
        Ok(match u16::from_le_bytes(*offset) {
            0 => None,
            offset => Some(self.at + usize::from(offset)),
        })
    }

    /// The value of a slot; zero if it is absent.
    fn scalar<const N: usize>(&self, index: usize) -> Result<[u8; N]> {
        self.slot(index)?.map_or(Ok([0; N]), |at| read(self.buffer, at))
    }

    fn u8(&self, index: usize) -> Result<u8> {
        self.scalar(index).map(u8::from_le_bytes)
    }

    fn u16(&self, index: usize) -> Result<u16> {
        self.scalar(index).map(u16::from_le_bytes)
    }

    fn u32(&self, index: usize) -> Result<u32> {
        self.scalar(index).map(u32::from_le_bytes)
    }

    fn u64(&self, index: usize) -> Result<u64> {
        self.scalar(index).map(u64::from_le_bytes)
    }

    fn table(&self, index: usize) -> Result<Option<Table<'a>>> {
        self.slot(index)?.map(|at| self.table_at(at)).transpose()
    }

    /// The table that the distance stored at `at` leads to.
    fn table_at(&self, at: usize) -> Result<Table<'a>> {
        Table::new(self.buffer, follow(self.buffer, at)?)
    }

    /// The vector in slot `index`, whose elements have `width` bytes; empty if it is absent.
    fn vector(&self, index: usize, width: usize) -> Result<Vector<'a>> {
        let Some(at) = self.slot(index)? else { return Ok(Vector { bytes: &[], at: 0, width }) };
        let at = follow(self.buffer, at)?;
        let count = u32::from_le_bytes(read(self.buffer, at)?);
        let bytes = part(self.buffer, at + 4, u64::from(count) * width as u64, "vector")?;
        Ok(Vector { bytes, at: at + 4, width })
    }
}

/// The elements of a vector of a flatbuffer.
struct Vector<'a> {
    bytes: &'a [u8],
    at: usize,
    width: usize,
}

impl<'a> Vector<'a> {
    fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where element `index` lies in the flatbuffer.
    fn at(&self, index: usize) -> Result<usize> {
        if index < self.len() { Ok(self.at + index * self.width) } else { Err(missing("an element")) }
    }
}

/// The place that the distance stored at `at` leads to.
fn follow(buffer: &[u8], at: usize) -> Result<usize> {
    let distance = u32::from_le_bytes(read(buffer, at)?) as usize;
    at.checked_add(distance).ok_or_else(|| missing("a distance inside the flatbuffer"))
}

fn read<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    let found = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    found.copied().ok_or_else(|| {
        Error::corrupt(format!("expected {N} bytes at {at}, found {} bytes in all", bytes.len()))
    })
}

/// The `len` bytes at `at`; `what` names them if they are not there.
fn part<'a>(bytes: &'a [u8], at: usize, len: u64, what: &str) -> Result<&'a [u8]> {
    let end = usize::try_from(len).ok().and_then(|len| at.checked_add(len));
    end.and_then(|end| bytes.get(at..end)).ok_or_else(|| {
        Error::corrupt(format!("{what}: expected {len} bytes at {at}, found {} bytes in all", bytes.len()))
    })
}

fn missing(what: &str) -> Error {
    Error::corrupt(format!("expected {what}, found none"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, sampling::STEP};
    use alloc::vec;

    /// A file that Lance wrote, for offsets 2 and 7, without the zeros between its parts.
    const FILE: [(usize, &str); 22] = [
        (0x000, "4152524f57310000"),
        (0x040, "ffffffff780000001000000000000a000c000a00090004000a0000001000000000010400"),
        (0x064, "08000800000004000800000004000000010000001400000010001600100000000f000400"),
        (0x088, "0000080010000000180000001c0000000000000218000000000006000800040006000000"),
        (0x0ac, "200000000000000006000000726f775f69640000ffffffffb8000000100000000c001400"),
        (0x0d0, "12001100040008000c0000001c0000008000000000000000000304000c001c0010000c00"),
        (0x0f4, "080004000c0000005c0000002c0000001000000002000000"),
        (0x114, "0100000002000000"),
        (0x12c, "02000000"),
        (0x138, "090000000000000040000000000000001000000000000000000006000800070006000000"),
        (0x15c, "00000001"),
        (0x180, "ffffffffffffffffff000000"),
        (0x1c0, "ffffffffffffffff0200000007000000"),
        (0x200, "ffffffff0000000014000000000000000c00140012000c00080004000c0000006c000000"),
        (0x224, "880000001000000000000400080008000000040008000000040000000100000014000000"),
        (0x248, "10001600100000000f0004000000080010000000180000001c0000000000000218000000"),
        (0x26c, "000006000800040006000000200000000000000006000000726f775f6964000001000000"),
        (0x290, "c000000000000000c00000000000000080000000"),
        (0x2b0, "a80000004152524f5731"),
        // Buffer 1 of the record batch, and its codec, for the tests to name.
        (BUFFER, "40"),
        (BUFFER + 8, "10"),
        (CODEC, "01"),
    ];
    /// What differs in a file of 22 offsets that Lance compressed.
    const COMPRESSED: [(usize, &str); 6] = [
        (ROWS, "16"),
        (NODE, "16"),
        (0x138, "0b"),
        (BUFFER + 8, "40"),
        (VALUES, "580000000000000028b52ffd20587d010082c50a12a0e91c8fab3a9c5dfbdffe922296b7"),
        (0x1e4, "6e845257675fde1edcfdb8f0f5e4efe7c4910f4f37ae1c7871741300"),
    ];
    const ROWS: usize = 0x108;
    const NODE: usize = 0x118;
    const NULLS: usize = 0x120;
    const BUFFER: usize = 0x140;
    const CODEC: usize = 0x15f;
    const VALUES: usize = 0x1c0;
    /// The slot of the record batch that holds the compression.
    const COMPRESSION: usize = 0xf6;

    /// The file with the bytes of some places replaced.
    fn file(changes: &[(usize, &str)]) -> Vec<u8> {
        let mut out = vec![0; 0x2ba];
        for (at, hex) in FILE.iter().chain(changes) {
            for (index, digits) in hex.as_bytes().chunks(2).enumerate() {
                let digits = core::str::from_utf8(digits).unwrap();
                out[at + index] = u8::from_str_radix(digits, 16).unwrap();
            }
        }
        out
    }

    fn sorted(file: &[u8]) -> Vec<u32> {
        let mut offsets = read_offsets(file, 1000).unwrap();
        offsets.sort_unstable();
        offsets
    }

    #[test]
    fn reads_real_files() {
        assert_eq!(sorted(&file(&[])), [2, 7]);
        let expected =
            [11, 18, 39, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 58, 63, 64, 96, 114];
        assert_eq!(sorted(&file(&COMPRESSED)), expected);
    }

    #[test]
    fn reads_files_without_compression() {
        let plain = [(COMPRESSION, "00"), (BUFFER, "48"), (BUFFER + 8, "08")];
        assert_eq!(sorted(&file(&plain)), [2, 7]);
    }

    #[test]
    fn refuses_what_is_not_a_list_of_offsets() {
        for (change, why) in [
            ((ROWS, "e903"), "more rows than the fragment has"),
            ((NODE, "03"), "a column of another length"),
            ((NULLS, "01"), "nulls"),
            ((BUFFER, "4000000000000080"), "a buffer outside the body"),
            ((BUFFER + 8, "0c"), "too few bytes"),
            ((VALUES, "0900000000000000"), "a frame that is none"),
            ((VALUES, "ffffffffffffff7f"), "a size that nothing could have"),
            ((0x0e9, "02"), "another kind of message"),
            ((0x0c0, "00"), "no marker"),
            ((0x290, "ffffffffffffff7f"), "a block outside the file"),
            ((0x28c, "02"), "two record batches"),
            ((0x284, "58"), "another name"),
            ((0x2b0, "ffffffff"), "a footer outside the file"),
        ] {
            let error = read_offsets(&file(&[change]), 1000).expect_err(why);
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{why}: {error}");
        }
    }

    #[test]
    fn refuses_offsets_that_contradict_the_fragment() {
        use crate::table::Deletions;
        assert_eq!(Deletions::parse_arrow(&file(&[]), 8).unwrap().len(), 2);
        assert!(Deletions::parse_arrow(&file(&[]), 7).is_err());
        assert!(Deletions::parse_arrow(&file(&[(VALUES + 12, "02")]), 8).is_err(), "an offset twice");
    }

    #[test]
    fn refuses_other_compression_by_name() {
        let size = (VALUES, "0800000000000000");
        let lz4 = read_offsets(&file(&[size, (CODEC, "00")]), 1000).unwrap_err();
        assert_eq!(lz4.kind(), ErrorKind::Unsupported);
        assert!(lz4.message().contains("LZ4"));
        let other = read_offsets(&file(&[size, (CODEC, "07")]), 1000).unwrap_err();
        assert_eq!(other.kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn refuses_bombs_before_making_room() {
        // A frame of no content that claims four gigabytes.
        let size = [(VALUES, "0000000001000000"), (ROWS, "00000040"), (NODE, "00000040")];
        assert!(read_offsets(&file(&size), 1 << 32).is_err());
    }

    #[test]
    fn refuses_every_truncation() {
        for bytes in [file(&[]), file(&COMPRESSED)] {
            for len in (0..bytes.len()).step_by(STEP) {
                assert!(read_offsets(&bytes[..len], 1000).is_err(), "{len}");
                // Also with the magic back in place.
                let cut = [&bytes[..len], MAGIC].concat();
                if len != bytes.len() - MAGIC.len() {
                    assert!(read_offsets(&cut, 1000).is_err(), "{len}");
                }
            }
        }
    }

    #[test]
    fn survives_any_length_and_distance() {
        for bytes in [file(&[]), file(&COMPRESSED)] {
            for at in (0..bytes.len() - 4).step_by(STEP * STEP.min(4)) {
                for word in [0, 1, 4, 0x7fff_ffff, 0x8000_0000, u32::MAX, (at as u32).wrapping_neg()] {
                    let mut damaged = bytes.clone();
                    damaged[at..at + 4].copy_from_slice(&word.to_le_bytes());
                    // Damage to values or to bytes that are not read may go unseen.
                    if let Ok(offsets) = read_offsets(&damaged, 1000) {
                        assert!(offsets.len() <= 1000);
                    }
                }
            }
        }
    }
}
