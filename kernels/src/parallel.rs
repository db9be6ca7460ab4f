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
    /// How many threads work.
    pub(crate) fn count(self) -> usize {
        match self {
            Threads::One => 1,
            #[cfg(feature = "rayon")]
            Threads::Pool => rayon::current_num_threads(),
        }
    }

    /// Does `work` for each part; results come in the order of the parts.
    pub(crate) fn map<P: Send, R: Send>(self, parts: Vec<P>, work: impl Fn(P) -> R + Sync + Send) -> Vec<R> {
        self.map_with(parts, || (), |(), part| work(part))
    }

    /// As [`map`](Self::map), with something that `work` uses again for the next part.
    pub(crate) fn map_with<P: Send, S, R: Send>(
        self,
        parts: Vec<P>,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, P) -> R + Sync + Send,
    ) -> Vec<R> {
        match self {
            Threads::One => {
                let mut scratch = scratch();
                parts.into_iter().map(|part| work(&mut scratch, part)).collect()
            }
            #[cfg(feature = "rayon")]
            Threads::Pool => {
                use rayon::prelude::*;
                parts.into_par_iter().map_init(scratch, work).collect()
            }
        }
    }
}
