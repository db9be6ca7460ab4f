//! Work in parts, on one thread or on many, with the same result.

use alloc::vec::Vec;

/// Which threads work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Threads {
    /// The calling thread alone.
    #[default]
    One,
    /// Those of the current pool of rayon: the global one, or that of `ThreadPool::install`.
    #[cfg(feature = "rayon")]
    Pool,
}

impl Threads {
    /// Does `work` for each part; results come in the order of the parts.
    pub(crate) fn map<P: Send, R: Send>(self, parts: Vec<P>, work: impl Fn(P) -> R + Sync + Send) -> Vec<R> {
        match self {
            Threads::One => parts.into_iter().map(work).collect(),
            #[cfg(feature = "rayon")]
            Threads::Pool => {
                use rayon::prelude::*;
                parts.into_par_iter().with_max_len(1).map(work).collect()
            }
        }
    }
}
