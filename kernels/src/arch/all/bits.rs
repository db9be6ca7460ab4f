//! Bits that differ between many rows and many targets. Plain Rust: compilers know how to count bits in registers.

/// Rows of a tile.
pub(crate) const ROWS: usize = 4;
/// Targets of a panel.
pub(crate) const WIDTH: usize = 16;

/// For each pair of a row and a target how many bits differ. A row has `words` words; a panel has the words of its
/// targets side by side.
#[inline(always)]
pub(crate) fn differ(rows: &[u64], panel: &[u64], words: usize) -> [[u64; WIDTH]; ROWS] {
    let rows: [&[u64]; ROWS] = core::array::from_fn(|row| &rows[row * words..][..words]);
    let mut counts = [[0; WIDTH]; ROWS];
    for (word, targets) in panel.as_chunks::<WIDTH>().0[..words].iter().enumerate() {
        for (row, counts) in rows.iter().zip(&mut counts) {
            let row = row[word];
            for (count, target) in counts.iter_mut().zip(targets) {
                *count += u64::from((row ^ target).count_ones());
            }
        }
    }
    counts
}

/// What computes [`differ`].
pub(crate) type Differ = fn(&[u64], &[u64], usize) -> [[u64; WIDTH]; ROWS];

/// [`differ`] for the instruction set in use.
pub(crate) fn kernel() -> Differ {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::{
            arch::x86_64,
            isa::{Extensions, Isa},
        };
        match Isa::current() {
            Isa::Avx512 if Extensions::available().vpopcntdq => x86_64::avx512::many::differ,
            Isa::Avx512 | Isa::Avx2 => x86_64::avx2::many::differ,
            _ => differ,
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    differ
}
