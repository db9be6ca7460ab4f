//! General-purpose compression of single buffers: LZ4 and Zstandard as Lance frames them.
//!
//! ```text
//! lz4   u32 size | one LZ4 block          zstd   u64 size | one Zstandard frame
//! ```
//! A Zstandard frame may also stand alone, without the size before it. Frames are decoded by the Zstandard library
//! in C with the feature `zstd`, and by a decoder in Rust without it.

#[cfg_attr(feature = "zstd", path = "zstd_c.rs")]
#[cfg_attr(not(feature = "zstd"), path = "zstd_rust.rs")]
mod zstd;

use crate::{Error, Result, ensure};
use alloc::{format, vec::Vec};

/// The most bytes that one compressed buffer may expand to, unless the caller that opens a file says otherwise.
pub const DEFAULT_MAX_DECOMPRESSED: usize = 1 << 28;

/// The algorithms that a file can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Lz4,
    Zstd,
}

impl Scheme {
    /// From the number in a `BufferCompression` message.
    pub(crate) fn from_number(number: i32) -> Result<Self> {
        match number {
            1 => Ok(Scheme::Lz4),
            2 => Ok(Scheme::Zstd),
            _ => Err(Error::unsupported(format!("buffer compression number {number} is not known"))),
        }
    }

    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Scheme::Lz4 => "lz4",
            Scheme::Zstd => "zstd",
        }
    }
}

/// How the buffers of one kind in a page are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compressed {
    scheme: Scheme,
    /// The most bytes that a buffer may expand to.
    max: usize,
}

impl Compressed {
    /// Buffers compressed by `scheme`, none of which may expand to more than `max` bytes.
    pub(crate) fn new(scheme: Scheme, max: usize) -> Self {
        Compressed { scheme, max }
    }

    /// Sets `out` to what one framed buffer holds. It should hold no more than `expected` bytes, if that is known.
    ///
    /// # Errors
    /// Corrupt if the size or the data is wrong; unsupported if the buffer holds more than it may.
    pub(crate) fn decompress(self, framed: &[u8], expected: Option<usize>, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        let limits = Limits { expected, max: self.max };
        match self.scheme {
            Scheme::Lz4 => lz4(framed, limits, out),
            Scheme::Zstd => zstd(framed, limits, out),
        }
    }
}

impl Compressed {
    /// The most bytes that one framed buffer holds, as far as its size can be believed; an estimate where it states none.
    pub(crate) fn stated_size(self, framed: &[u8]) -> usize {
        let stated = match self.scheme {
            Scheme::Lz4 => framed.first_chunk().map(|&size| u64::from(u32::from_le_bytes(size))),
            Scheme::Zstd => framed.first_chunk().map(|&size| u64::from_le_bytes(size)),
        };
        let believed = framed.len().saturating_mul(255);
        usize::try_from(stated.unwrap_or(0)).unwrap_or(usize::MAX).min(believed)
    }
}

/// How much a buffer may hold.
#[derive(Clone, Copy)]
struct Limits {
    expected: Option<usize>,
    max: usize,
}

impl Limits {
    /// Checks a size that the buffer states.
    fn check(self, size: usize, name: &str) -> Result<()> {
        if let Some(expected) = self.expected {
            ensure!(size <= expected, "{name}: expected at most {expected} bytes, the size says {size}");
        }
        match size <= self.max {
            true => Ok(()),
            false => Err(Error::unsupported(format!(
                "{name}: a buffer of {size} bytes, where none may expand to more than {} (`max_decompressed`)",
                self.max
            ))),
        }
    }

    fn most(self) -> usize {
        self.expected.map_or(self.max, |expected| expected.min(self.max))
    }
}

fn lz4(framed: &[u8], limits: Limits, out: &mut Vec<u8>) -> Result<()> {
    let Some((size, block)) = framed.split_first_chunk::<4>() else {
        return Err(Error::corrupt(format!("lz4: expected a size of 4 bytes, found {}", framed.len())));
    };
    let size = u32::from_le_bytes(*size) as usize;
    limits.check(size, "lz4")?;
    // LZ4 expands at most 255 times: a larger claim is refused before memory is set aside for it.
    ensure!(
        size <= block.len().saturating_mul(255),
        "lz4: expected at most {} bytes, the size says {size}",
        block.len() * 255
    );
    out.resize(size, 0);
    let written = lz4_flex::block::decompress_into(block, out)
        .map_err(|error| Error::corrupt(format!("lz4: expected a block of {size} bytes, found {error}")))?;
    ensure!(written == size, "lz4: expected {size} bytes, found {written}");
    Ok(())
}

fn zstd(framed: &[u8], limits: Limits, out: &mut Vec<u8>) -> Result<()> {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    if framed.is_empty() {
        return Ok(());
    }
    let bare = framed.len() < 8 || (framed.starts_with(&MAGIC) && framed[4] & 0x10 == 0);
    if bare {
        return zstd_frame(framed, None, limits, out);
    }
    let (size, frame) = framed.split_at(8);
    let size = u64::from_le_bytes(size.try_into().unwrap_or_default());
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    limits.check(size, "zstd")?;
    zstd_frame(frame, Some(size), limits, out)
}

/// Sets `out`, which is empty, to what one Zstandard frame holds: `size` bytes, if that is known.
fn zstd_frame(frame: &[u8], size: Option<usize>, limits: Limits, out: &mut Vec<u8>) -> Result<()> {
    let size = size.or_else(|| stated_size(frame));
    if let Some(size) = size {
        limits.check(size, "zstd")?;
    }
    let most = size.unwrap_or(limits.most());
    let complete = zstd::decode(frame, most, out)
        .map_err(|error| Error::corrupt(format!("zstd: expected a frame, found {error}")))?;
    ensure!(complete, "zstd: expected at most {most} bytes, found more");
    if let Some(size) = size {
        ensure!(out.len() == size, "zstd: expected {size} bytes, found {}", out.len());
    }
    Ok(())
}

/// The size that the header of a frame states, if it does.
///
/// ```text
/// magic 4 | descriptor 1 | window 1, unless bit 5 is set | dictionary 0, 1, 2, 4 | size 0 or 1, 2, 4, 8
/// ```
fn stated_size(frame: &[u8]) -> Option<usize> {
    let descriptor = *frame.get(4)?;
    let alone = descriptor & 0x20 != 0;
    let at = 5 + usize::from(!alone) + [0, 1, 2, 4][usize::from(descriptor & 3)];
    let (width, more) = match descriptor >> 6 {
        0 if !alone => return None,
        0 => (1, 0),
        1 => (2, 256),
        2 => (4, 0),
        _ => (8, 0),
    };
    let mut size = [0; 8];
    size[..width].copy_from_slice(frame.get(at..at + width)?);
    Some(usize::try_from(u64::from_le_bytes(size)).unwrap_or(usize::MAX).saturating_add(more))
}

/// Sets `out`, which is empty, to the `size` bytes of one Zstandard frame.
///
/// # Errors
/// Corrupt if it is no such frame.
pub(crate) fn zstd_of_size(frame: &[u8], size: usize, out: &mut Vec<u8>) -> Result<()> {
    zstd_frame(frame, Some(size), Limits { expected: Some(size), max: size }, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// What `zstd --no-check` makes of a file of ten times `a` and ten times `b`: the header states its 20 bytes.
    const FRAME: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x14, 0x5d, 0x00, 0x00, 0x18, 0x61, 0x61, 0x62, 0x02, 0x00, 0xa0, 0x08,
        0x02, 0x60, 0x01,
    ];

    fn decompress(scheme: Scheme, framed: &[u8], limit: usize) -> Result<Vec<u8>> {
        let mut out = vec![7; 3];
        Compressed::new(scheme, 1 << 30).decompress(framed, Some(limit), &mut out).map(|()| out)
    }

    fn frame(frame: &[u8], size: Option<usize>, max: usize) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        zstd_frame(frame, size, Limits { expected: None, max }, &mut out).map(|()| out)
    }

    #[test]
    fn refuses_sizes_that_cannot_be() {
        let huge = [0xff, 0xff, 0xff, 0x7f, 0x10, 0x61];
        assert!(decompress(Scheme::Lz4, &huge, usize::MAX).is_err());
        assert!(decompress(Scheme::Lz4, &[1, 0], 10).is_err());
        assert!(decompress(Scheme::Zstd, &FRAME[..9], 100).is_err());
    }

    #[test]
    fn zstd_frames() {
        let text = b"aaaaaaaaaabbbbbbbbbb";
        let with_size = |size: u64| [&size.to_le_bytes()[..], FRAME].concat();
        assert_eq!(decompress(Scheme::Zstd, FRAME, 20).unwrap(), text);
        assert_eq!(decompress(Scheme::Zstd, &with_size(20), 20).unwrap(), text);
        assert_eq!(decompress(Scheme::Zstd, &[], 20).unwrap(), b"");
        for wrong in [&with_size(19)[..], &with_size(21), &with_size(u64::MAX), &FRAME[..FRAME.len() - 1]] {
            assert!(decompress(Scheme::Zstd, wrong, 100).is_err());
        }
        assert!(decompress(Scheme::Zstd, FRAME, 19).is_err());
        // What comes behind the frame is not looked at.
        assert_eq!(frame(&[FRAME, b"more"].concat(), Some(20), 20).unwrap(), text);
        let mut out = Vec::new();
        zstd_of_size(FRAME, 20, &mut out).unwrap();
        assert_eq!(out, text);
    }

    #[test]
    fn no_more_than_the_caller_allows() {
        for (scheme, framed) in [(Scheme::Zstd, FRAME), (Scheme::Lz4, &[20, 0, 0, 0, 0xf1])] {
            let error = Compressed::new(scheme, 19).decompress(framed, None, &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Unsupported, "{error}");
        }
    }

    #[test]
    fn stated_sizes() {
        let header = |descriptor: u8, rest: &[u8]| [&FRAME[..4], &[descriptor], rest].concat();
        assert_eq!(stated_size(&header(0x00, &[0; 8])), None);
        assert_eq!(stated_size(&header(0x20, &[7])), Some(7));
        assert_eq!(stated_size(&header(0x43, &[0, 1, 1, 1, 1, 1, 2])), Some(0x201 + 256));
        assert_eq!(stated_size(&header(0xa1, &[9, 1, 2, 3, 4])), Some(0x0403_0201));
        assert_eq!(stated_size(&header(0xe0, &[1, 0, 0, 0, 0, 0, 0])), None);
    }

    #[test]
    fn zstd_stops_where_more_than_the_size_comes() {
        // Blocks of one byte repeated, 128 KiB each, in a frame with a window of 128 MiB and no size.
        let mut blocks = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3];
        for last in (0..1000).map(|i| u32::from(i == 999)) {
            blocks.extend(&(1 << 20 | 1 << 1 | last).to_le_bytes()[..3]);
            blocks.push(b'a');
        }
        assert!(frame(&blocks, None, 1000).is_err());
        assert!(frame(&blocks, Some(1000), 1 << 30).is_err());
        assert_eq!(frame(&blocks, Some(1000 << 17), 1 << 30).unwrap().len(), 1000 << 17);
        assert_eq!(frame(&blocks, None, 1 << 30).unwrap().len(), 1000 << 17);
    }

    #[test]
    fn lz4_block() {
        let block = lz4_flex::block::compress(b"abcabcabcabcabcabc");
        let framed: Vec<u8> = 18u32.to_le_bytes().into_iter().chain(block).collect();
        assert_eq!(decompress(Scheme::Lz4, &framed, 18).unwrap(), b"abcabcabcabcabcabc");
        assert!(decompress(Scheme::Lz4, &framed, 17).is_err());
        assert!(decompress(Scheme::Lz4, &framed[..8], 18).is_err());
    }
}
