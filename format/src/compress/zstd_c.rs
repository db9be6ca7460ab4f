//! Zstandard frames, decoded by the library in C.

extern crate std;

use alloc::vec::Vec;
use core::cell::RefCell;
use zstd_safe::{DCtx, ErrorCode, get_error_name, zstd_sys::ZSTD_ErrorCode};

/// What a frame is believed to hold before any of it is decoded: so many bytes, and so many for each of its own.
const FIRST_ROOM: usize = 1 << 20;
const FIRST_RATIO: usize = 64;
/// How much more is believed after so much was decoded. Each try begins anew.
const GROWTH: usize = 8;

std::thread_local! {
    /// Its tables are larger than most frames.
    static CONTEXT: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

/// Sets `out` to what the frame at the start of `bytes` holds. Whether that is no more than `most` bytes; if not,
/// `out` is unspecified.
pub(super) fn decode(bytes: &[u8], most: usize, out: &mut Vec<u8>) -> Result<bool, &'static str> {
    let frame = zstd_safe::find_frame_compressed_size(bytes).map_err(get_error_name)?;
    let frame = bytes.get(..frame).ok_or("one that is cut off")?;
    let mut room = frame.len().saturating_mul(FIRST_RATIO).max(FIRST_ROOM).min(most);
    loop {
        // The library writes what fits the capacity and does not make it larger.
        out.clear();
        out.reserve_exact(room);
        match CONTEXT.with_borrow_mut(|context| context.decompress(out, frame)) {
            Ok(size) => return Ok(size <= most),
            Err(code) if code == too_small() && room < most => room = room.saturating_mul(GROWTH).min(most),
            Err(code) if code == too_small() => return Ok(false),
            Err(code) => return Err(get_error_name(code)),
        }
    }
}

/// The error of a frame that holds more than there is room for.
fn too_small() -> ErrorCode {
    (ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize).wrapping_neg()
}
