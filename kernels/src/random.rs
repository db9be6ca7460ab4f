//! Repeatable random numbers.

/// SplitMix64 (Steele, Lea and Flood 2014): a sequence that its seed determines.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.word() % end as u64) as usize
    }

    #[cfg(test)]
    pub(crate) fn bytes(&mut self, len: usize) -> std::vec::Vec<u8> {
        (0..len).map(|_| self.word() as u8).collect()
    }
}

/// How often a test draws inputs: fewer times under Miri, which is slow.
#[cfg(test)]
pub(crate) fn rounds(count: usize) -> usize {
    if cfg!(miri) { count.div_ceil(100) } else { count }
}
