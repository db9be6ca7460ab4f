//! [`Fragments`]: some of a dataset's fragments.

/// Some of a dataset's fragments, by their position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fragments {
    words: Vec<u64>,
    count: usize,
}

impl Fragments {
    /// None of `count` fragments.
    pub(crate) fn none(count: usize) -> Self {
        Fragments { words: vec![0; count.div_ceil(64)], count }
    }

    /// All of `count` fragments.
    pub(crate) fn all(count: usize) -> Self {
        let mut all = Self::none(count);
        (0..count).for_each(|position| all.insert(position));
        all
    }

    pub(crate) fn insert(&mut self, position: usize) {
        self.words[position / 64] |= 1 << (position % 64);
    }

    pub(crate) fn contains(&self, position: usize) -> bool {
        self.words[position / 64] >> (position % 64) & 1 != 0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    pub(crate) fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Keeps those that are in `other` too.
    pub(crate) fn retain(&mut self, other: &Fragments) {
        self.words.iter_mut().zip(&other.words).for_each(|(own, other)| *own &= other);
    }

    /// Adds those of `other`.
    pub(crate) fn extend(&mut self, other: &Fragments) {
        self.words.iter_mut().zip(&other.words).for_each(|(own, other)| *own |= other);
    }

    /// The positions, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count).filter(|&position| self.contains(position))
    }
}
