//! Rows within a bound for codes of 4 bits, in registers that look up 16 bytes at a time.

use crate::codes::Columns;

/// Rows of a word of the mask.
const ROWS: usize = 64;

/// A register of bytes.
///
/// # Safety
/// All functions need the instruction set that the implementation is written for.
pub(crate) trait Bytes {
    type Register: Copy;
    /// Bytes of a register, which divide 64.
    const LANES: usize;

    unsafe fn set(byte: u8) -> Self::Register;
    /// Reads [`LANES`](Self::LANES) bytes.
    unsafe fn load(at: *const u8) -> Self::Register;
    /// Reads the 16 bytes of a table.
    unsafe fn table(bytes: &[u8; 16]) -> Self::Register;
    /// The entries that the low halves of `codes` choose.
    unsafe fn low(table: Self::Register, codes: Self::Register) -> Self::Register;
    /// The entries that the high halves choose.
    unsafe fn high(table: Self::Register, codes: Self::Register) -> Self::Register;
    /// Sums, 255 at most.
    unsafe fn add(a: Self::Register, b: Self::Register) -> Self::Register;
    /// A bit for each lane of `a` that is not above that of `b`.
    unsafe fn at_most(a: Self::Register, b: Self::Register) -> u64;
}

/// As [`Within`](crate::codes::Within). `R` registers take the rows of two words.
///
/// # Safety
/// The instruction set of `B` is there.
#[inline(always)]
pub(crate) unsafe fn within_of_4<B: Bytes, const R: usize>(
    columns: &Columns<'_>,
    bytes: &[u8],
    sum: u8,
    mask: &mut [u64],
) {
    const { assert!(R * B::LANES == 2 * ROWS) };
    let (tables, highest) = (bytes.as_chunks().0.as_chunks::<2>().0, sum);
    for (i, mask) in mask.chunks_mut(2).enumerate() {
        let start = i * 2 * ROWS;
        let rows = (2 * ROWS).min(columns.rows().saturating_sub(start));
        // SAFETY: the instruction set is the caller's promise; codes are read from arrays of two words of rows.
        unsafe {
            let mut sums = [B::set(0); R];
            for (byte, [low, high]) in tables.iter().enumerate() {
                let column = &columns.column(byte)[start..][..rows];
                let mut few = [0; 2 * ROWS];
                let codes = match column.first_chunk() {
                    Some(codes) => codes,
                    None => {
                        few[..rows].copy_from_slice(column);
                        &few
                    }
                };
                let (low, high) = (B::table(low), B::table(high));
                for (r, sum) in sums.iter_mut().enumerate() {
                    let codes = B::load(codes.as_ptr().add(r * B::LANES));
                    *sum = B::add(B::add(*sum, B::low(low, codes)), B::high(high, codes));
                }
            }
            let highest = B::set(highest);
            mask.fill(0);
            for (r, sum) in sums.into_iter().enumerate() {
                let row = r * B::LANES;
                if let Some(word) = mask.get_mut(row / ROWS) {
                    *word |= B::at_most(sum, highest) << (row % ROWS);
                }
            }
        }
        if let Some(last) = mask.last_mut() {
            *last &= !0 >> (rows.wrapping_neg() % ROWS);
        }
    }
}
