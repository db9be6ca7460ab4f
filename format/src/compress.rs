//! General-purpose compression of single buffers: LZ4 and Zstandard as Lance frames them.
//!
//! ```text
//! lz4   u32 size | one LZ4 block          zstd   u64 size | one Zstandard frame
//! ```
//! A Zstandard frame may also stand alone, without the size before it.

use crate::{Error, Result, ensure};
use alloc::{format, vec, vec::Vec};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Zstandard frames are decoded in steps of so many bytes.
const STEP: usize = 1 << 17;

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

    /// Decompresses one framed buffer, which must not be larger than `limit` bytes.
    ///
    /// # Errors
    /// Corrupt if the size or the data is wrong or the size is above `limit`.
    pub(crate) fn decompress(self, framed: &[u8], limit: usize) -> Result<Vec<u8>> {
        match self {
            Scheme::Lz4 => lz4(framed, limit),
            Scheme::Zstd => zstd(framed, limit),
        }
    }
}

fn lz4(framed: &[u8], limit: usize) -> Result<Vec<u8>> {
    let Some((size, block)) = framed.split_first_chunk::<4>() else {
        return Err(Error::corrupt(format!("lz4: expected a size of 4 bytes, found {}", framed.len())));
    };
    let size = u32::from_le_bytes(*size) as usize;
    check_size(size, limit, "lz4")?;
    // LZ4 expands at most 255 times: a larger claim is refused before memory is set aside for it.
    ensure!(
        size <= block.len().saturating_mul(255),
        "lz4: expected at most {} bytes, the size says {size}",
        block.len() * 255
    );
    let mut out = vec![0; size];
    let written = lz4_flex::block::decompress_into(block, &mut out)
        .map_err(|error| Error::corrupt(format!("lz4: expected a block of {size} bytes, found {error}")))?;
    ensure!(written == size, "lz4: expected {size} bytes, found {written}");
    Ok(out)
}

fn zstd(framed: &[u8], limit: usize) -> Result<Vec<u8>> {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    if framed.is_empty() {
        return Ok(Vec::new());
    }
    let bare = framed.len() < 8 || (framed.starts_with(&MAGIC) && framed[4] & 0x10 == 0);
    if bare {
        return zstd_frame(framed, None, limit);
    }
    let (size, frame) = framed.split_at(8);
    let size = u64::from_le_bytes(size.try_into().unwrap_or_default());
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    check_size(size, limit, "zstd")?;
    zstd_frame(frame, Some(size), limit)
}

/// One Zstandard frame, of `size` bytes if that is known and of at most `limit`.
pub(crate) fn zstd_frame(frame: &[u8], size: Option<usize>, limit: usize) -> Result<Vec<u8>> {
    let corrupt =
        |error: &dyn core::fmt::Display| Error::corrupt(format!("zstd: expected a frame, found {error}"));
    let mut decoder = FrameDecoder::new();
    let mut input = frame;
    decoder.init(&mut input).map_err(|error| corrupt(&error))?;
    let expected = match (size, decoder.content_size()) {
        (Some(size), _) => size,
        (None, content) => usize::try_from(content).unwrap_or(usize::MAX),
    };
    check_size(expected, limit, "zstd")?;
    let ceiling = if size.is_some() { expected } else { limit };
    let (mut out, mut decoded) = (Vec::new(), 0usize);
    loop {
        // In steps, so that a frame that lies about its size is caught before it fills memory. The decoder keeps
        // a window back, so what it hands out does not yet tell what it holds.
        let step = BlockDecodingStrategy::UptoBytes(STEP);
        decoder.decode_blocks(&mut input, step).map_err(|error| corrupt(&error))?;
        let finished = decoder.is_finished();
        if let Some(bytes) = decoder.collect() {
            out.extend_from_slice(&bytes);
        }
        decoded += if finished { 0 } else { STEP };
        ensure!(decoded.max(out.len()) <= ceiling, "zstd: expected at most {ceiling} bytes, found more");
        if finished {
            break;
        }
    }
    if let Some(size) = size {
        ensure!(out.len() == size, "zstd: expected {size} bytes, found {}", out.len());
    }
    Ok(out)
}

fn check_size(size: usize, limit: usize, name: &str) -> Result<()> {
    ensure!(size <= limit, "{name}: expected at most {limit} bytes, the size says {size}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf 'aaaaaaaaaabbbbbbbbbb' | zstd`, 20 bytes, content size in the header.
    const FRAME: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x14, 0x75, 0x00, 0x00, 0x18, 0x61, 0x61, 0x62, 0x62, 0x02, 0x00, 0x41,
        0x80, 0x10, 0x48, 0x01,
    ];

    #[test]
    fn refuses_sizes_that_cannot_be() {
        let huge = [0xff, 0xff, 0xff, 0x7f, 0x10, 0x61];
        assert!(Scheme::Lz4.decompress(&huge, usize::MAX).is_err());
        assert!(Scheme::Lz4.decompress(&[1, 0], 10).is_err());
        assert!(Scheme::Zstd.decompress(&FRAME[..9], 100).is_err());
    }

    #[test]
    fn zstd_stops_where_more_than_the_size_comes() {
        // Blocks of one byte repeated, 128 KiB each, in a frame with a window of 128 MiB and no size.
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3];
        for last in (0..1000).map(|i| u32::from(i == 999)) {
            frame.extend(&(1 << 20 | 1 << 1 | last).to_le_bytes()[..3]);
            frame.push(b'a');
        }
        assert!(zstd_frame(&frame, None, 1000).is_err());
        assert!(zstd_frame(&frame, Some(1000), 1 << 30).is_err());
        assert_eq!(zstd_frame(&frame, Some(1000 << 17), 1 << 30).unwrap().len(), 1000 << 17);
    }

    #[test]
    fn lz4_block() {
        let block = lz4_flex::block::compress(b"abcabcabcabcabcabc");
        let framed: Vec<u8> = 18u32.to_le_bytes().into_iter().chain(block).collect();
        assert_eq!(Scheme::Lz4.decompress(&framed, 18).unwrap(), b"abcabcabcabcabcabc");
        assert!(Scheme::Lz4.decompress(&framed, 17).is_err());
        assert!(Scheme::Lz4.decompress(&framed[..8], 18).is_err());
    }
}
