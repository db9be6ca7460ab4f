//! Zstandard frames, decoded by Rust without `std`.

use alloc::vec::Vec;
use ruzstd::decoding::{
    BlockDecodingStrategy, DEFAULT_MAX_WINDOW_SIZE, FrameDecoder, errors::FrameDecoderError,
};

/// Frames are decoded in steps of so many bytes.
const STEP: usize = 1 << 17;

/// The decoder sets a window aside before it decodes anything. A frame need have none that is larger than what it
/// holds, but writers who do not know that ask for as much as this.
const WINDOW: u64 = 8 << 20;

/// Sets `out`, which is empty, to what the frame at the start of `bytes` holds. Whether that is no more than `most`
/// bytes; if not, `out` is unspecified.
pub(super) fn decode(bytes: &[u8], most: usize, out: &mut Vec<u8>) -> Result<bool, FrameDecoderError> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size((most as u64).clamp(WINDOW, DEFAULT_MAX_WINDOW_SIZE).next_power_of_two());
    let mut input = bytes;
    decoder.init(&mut input)?;
    let mut decoded = 0usize;
    loop {
        // In steps, so that a frame that lies about its size is caught before it fills memory. The decoder keeps
        // a window back, so what it hands out does not yet tell what it holds.
        decoder.decode_blocks(&mut input, BlockDecodingStrategy::UptoBytes(STEP))?;
        let finished = decoder.is_finished();
        if let Some(bytes) = decoder.collect() {
            out.extend_from_slice(&bytes);
        }
        decoded += if finished { 0 } else { STEP };
        if decoded.max(out.len()) > most {
            return Ok(false);
        }
        if finished {
            return Ok(true);
        }
    }
}
