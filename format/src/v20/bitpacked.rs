//! Integers of fewer bits than their type has.
//!
//! ```text
//! bitpacked                one stream: value i is bits i·W .. (i+1)·W of the buffer, lowest first
//! bitpacked_for_non_neg    blocks of 1024 values in the FastLanes order, the last one padded
//! ```

use super::data::Flat;
use crate::{Error, Result, container::PageParts, proto::v20 as proto};
use alloc::format;
use bytemuck::Pod;
use core::ops::Range;
use lancet_kernels::unpack::{self, BLOCK, Word};

/// The packed values of one page.
#[derive(Debug)]
pub(super) struct Bitpacked {
    order: Order,
    /// Bits of a packed value.
    width: usize,
    /// Bytes of an unpacked value.
    item: usize,
}

#[derive(Debug)]
enum Order {
    Stream { bits: Flat, signed: bool },
    Blocks(Flat),
}

impl Bitpacked {
    /// One stream of `count` values, which unpack to `item` bytes each.
    pub(super) fn open_stream(
        message: &proto::Bitpacked,
        item: usize,
        count: usize,
        parts: &PageParts,
    ) -> Result<Self> {
        let width = check(message, item)?;
        let bits = Flat::of_buffer(message.buffer.as_ref(), None, width, 1, count, parts)?;
        Ok(Bitpacked { order: Order::Stream { bits, signed: message.signed }, width, item })
    }

    /// Blocks of `count` values, which unpack to `item` bytes each.
    pub(super) fn open_blocks(
        message: &proto::Bitpacked,
        item: usize,
        count: usize,
        parts: &PageParts,
    ) -> Result<Self> {
        let width = check(message, item)?;
        let blocks =
            Flat::of_buffer(message.buffer.as_ref(), None, width, BLOCK, count.div_ceil(BLOCK), parts)?;
        Ok(Bitpacked { order: Order::Blocks(blocks), width, item })
    }

    /// Bytes of an unpacked value.
    pub(super) fn item(&self) -> usize {
        self.item
    }

    /// Unpacks `values` to `out`, which has room for exactly these.
    pub(super) fn unpack(&self, values: Range<usize>, out: &mut [u8]) -> Result<()> {
        match &self.order {
            Order::Stream { bits, signed } => {
                let (bytes, skip) = bits.bits(values)?;
                let shift = 64 - self.width;
                for (i, slot) in out.chunks_exact_mut(self.item).enumerate() {
                    let high = load(&bytes, (skip + i) * self.width) << shift;
                    let value = if *signed { (high as i64 >> shift) as u64 } else { high >> shift };
                    slot.copy_from_slice(&value.to_le_bytes()[..self.item]);
                }
                Ok(())
            }
            Order::Blocks(blocks) => match self.item {
                1 => unpack_blocks::<u8>(blocks, self.width, values, out),
                2 => unpack_blocks::<u16>(blocks, self.width, values, out),
                4 => unpack_blocks::<u32>(blocks, self.width, values, out),
                _ => unpack_blocks::<u64>(blocks, self.width, values, out),
            },
        }
    }
}

/// The packed width, once it fits integers of `item` bytes.
fn check(message: &proto::Bitpacked, item: usize) -> Result<usize> {
    let (width, bits) = (message.compressed_bits_per_value, message.uncompressed_bits_per_value);
    if !matches!(item, 1 | 2 | 4 | 8) || bits != item as u64 * 8 || !(1..=bits).contains(&width) {
        return Err(Error::corrupt(format!(
            "bitpacked: expected integers of {} bits packed to 1 bit or more, found {bits} bits packed to {width}",
            item * 8
        )));
    }
    Ok(width as usize)
}

/// 64 bits from bit `at` on; zeros behind the last byte.
fn load(bytes: &[u8], at: usize) -> u64 {
    let from = &bytes[at / 8..];
    let mut wide = [0; 16];
    let len = from.len().min(9);
    wide[..len].copy_from_slice(&from[..len]);
    (u128::from_le_bytes(wide) >> (at % 8)) as u64
}

fn unpack_blocks<W: Word + Pod>(
    blocks: &Flat,
    width: usize,
    values: Range<usize>,
    out: &mut [u8],
) -> Result<()> {
    // The slots of a leaf are aligned to their width as long as that is at most 8.
    let mut out: &mut [W] = bytemuck::cast_slice_mut(out);
    let mut at = values.start;
    while at < values.end {
        let (block, start) = (at / BLOCK, at % BLOCK);
        let (now, later) = out.split_at_mut((BLOCK - start).min(values.end - at));
        let packed = blocks.rows(block..block + 1)?;
        unpack::range(width, &packed, start, now);
        at += now.len();
        out = later;
    }
    Ok(())
}
