//! Streams of repetition and definition levels: 16-bit numbers, nearly always bit-packed.

use super::block::{self, Block};
use crate::{
    Error, Result, ensure,
    leaf::{Item, LeafBuilder, LeafShape},
    proto::v21::Compressive,
};
use alloc::vec::Vec;
use core::ops::Range;
use lancet_kernels::{rle, unpack};

/// How a level stream is stored. Levels are 16 bits wide before any packing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LevelCodec(Block);

impl LevelCodec {
    /// From its message; absent means that there is no such stream. Compressed ones expand to `max` bytes at the most.
    pub(crate) fn parse(message: Option<&Compressive>, max: usize) -> Result<Option<Self>> {
        let Some(message) = message else { return Ok(None) };
        let block = Block::parse(message, max, 0)?;
        let bits = block.value_bits();
        ensure!(bits == Some(16), "expected levels of 16 bits, found {bits:?}");
        Ok(Some(LevelCodec(block)))
    }

    /// Levels stored as they are.
    pub(crate) fn raw() -> Self {
        LevelCodec(Block::Flat { bits: 16 })
    }

    /// Appends levels `range` of the `count` that `bytes` holds to `out`.
    pub(crate) fn decode(
        &self,
        bytes: &[u8],
        count: usize,
        range: Range<usize>,
        out: &mut Vec<u16>,
    ) -> Result<()> {
        let start = out.len();
        match &self.0 {
            Block::Flat { .. } => {
                ensure!(
                    Some(bytes.len()) == count.checked_mul(2),
                    "expected {count} levels of 2 bytes, found {} bytes",
                    bytes.len()
                );
                let raw = &bytes[range.start * 2..range.end * 2];
                out.extend(raw.as_chunks().0.iter().map(|&level| u16::from_le_bytes(level)));
            }
            Block::OutOfLine { width, .. } => {
                // Checks the size for `count` before anything is sized by it.
                block::out_of_line::<u16>(bytes, *width, count, 0, &mut [])?;
                out.resize(start + range.len(), 0);
                block::out_of_line::<u16>(bytes, *width, count, range.start, &mut out[start..])?;
            }
            Block::Inline { .. } => {
                ensure!(count <= unpack::BLOCK, "expected at most 1024 bit-packed levels, found {count}");
                let (width, packed) = block::inline_width::<u16>(bytes)?;
                out.resize(start + range.len(), 0);
                unpack::range::<u16>(width, packed, range.start, &mut out[start..]);
            }
            Block::Rle { .. } => {
                let (values, lengths) = block::split_runs(bytes, count)?;
                out.resize(start + range.len(), 0);
                let target = bytemuck::cast_slice_mut(&mut out[start..]);
                ensure!(
                    rle::expand::<2>(values, lengths, range.start, target),
                    "expected as many run values of 2 bytes as run lengths, found {} bytes and {}",
                    values.len(),
                    lengths.len()
                );
                if cfg!(target_endian = "big") {
                    out[start..].iter_mut().for_each(|level| *level = u16::from_le(*level));
                }
            }
            other => {
                let mut all = LeafBuilder::new(LeafShape::plain(Item::Bytes(2)), 0, None);
                other.decode(bytes, count, &mut all)?;
                let all = all.typed::<u16>().ok_or_else(|| Error::corrupt("expected levels of 16 bits"))?;
                out.extend_from_slice(&all[range]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_levels() {
        let mut out = Vec::new();
        LevelCodec::raw().decode(&[1, 0, 2, 0, 3, 1], 3, 1..3, &mut out).unwrap();
        assert_eq!(out, [2, 259]);
        assert!(LevelCodec::raw().decode(&[1, 0, 2], 2, 0..2, &mut out).is_err());
    }

    #[test]
    fn packed_blocks_with_a_raw_and_a_packed_tail() {
        let levels: Vec<u16> = (0..2500).map(|i| i % 3).collect();
        let mut bytes = Vec::new();
        for block in levels.chunks(1024) {
            let mut padded = [0; 1024];
            padded[..block.len()].copy_from_slice(block);
            let start = bytes.len();
            bytes.resize(start + 256, 0);
            unpack::pack_block::<u16>(2, &padded, &mut bytes[start..]);
        }
        let codec = LevelCodec(Block::OutOfLine { bits: 16, width: 2 });
        let mut out = Vec::new();
        codec.decode(&bytes, 2500, 1000..2400, &mut out).unwrap();
        assert_eq!(out, levels[1000..2400]);
        let mut raw = bytes[..512].to_vec();
        raw.extend([7, 0, 8, 0]);
        out.clear();
        codec.decode(&raw, 2050, 2047..2050, &mut out).unwrap();
        assert_eq!(out, [levels[2047], 7, 8]);
        assert!(codec.decode(&raw, 2051, 0..1, &mut out).is_err());
    }

    #[test]
    fn zero_bits_are_all_zero() {
        let codec = LevelCodec(Block::OutOfLine { bits: 16, width: 0 });
        let mut out = Vec::new();
        codec.decode(&[], 2048, 5..8, &mut out).unwrap();
        assert_eq!(out, [0, 0, 0]);
    }
}
