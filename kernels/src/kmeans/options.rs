//! [`KMeans`]: how to train.

use core::{
    fmt,
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
};

use super::Iteration;
use crate::parallel::Threads;

/// How the first centroids are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Seeding {
    /// Distinct rows at random.
    #[default]
    Random,
    /// k-means++ (Arthur and Vassilvitskii 2007): one row after the other, each with a probability in proportion to
    /// its squared distance to the nearest one before it.
    PlusPlus,
}

/// How to train: the number of clusters and the rules, those of Lance unless something else is said.
///
/// ```
/// use lancet_kernels::{kmeans::KMeans, many::Metric};
///
/// let rows = [0.0f32, 0.1, 10.0, 10.1, 0.2, 9.9];
/// let trained = KMeans::new(2).seed(7).train(&rows, 1, Metric::L2).unwrap();
/// let mut centroids = trained.centroids;
/// centroids.sort_by(f32::total_cmp);
/// assert_eq!(centroids, [0.1, 10.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KMeans {
    pub(super) clusters: usize,
    pub(super) seed: u64,
    pub(super) seeding: Seeding,
    pub(super) iterations: usize,
    pub(super) tolerance: f64,
    pub(super) redos: usize,
    pub(super) sample_rate: Option<usize>,
    pub(super) balance: f64,
    pub(super) flat_up_to: usize,
    pub(super) prune: bool,
    pub(super) threads: Threads,
}

impl KMeans {
    /// Trains the partitions of an index as Lance does: at most 256 rows for each cluster, at most 50 iterations, a
    /// little weight on balance, and by hierarchy above 256 clusters.
    pub const fn new(clusters: usize) -> Self {
        KMeans {
            clusters,
            seed: 0,
            seeding: Seeding::Random,
            iterations: 50,
            tolerance: 1e-4,
            redos: 1,
            sample_rate: Some(256),
            balance: 1.0,
            flat_up_to: 256,
            prune: true,
            threads: Threads::One,
        }
    }

    /// Trains the codewords of a product quantiser as Lance does: as [`new`](Self::new), without weight on balance.
    pub const fn codewords(clusters: usize) -> Self {
        Self::new(clusters).balance(0.0)
    }

    /// Lloyd's algorithm on all rows, with no rule of Lance's: no sample, no balance, no hierarchy, no tolerance.
    pub const fn plain(clusters: usize) -> Self {
        Self::codewords(clusters).sample_rate(None).flat_up_to(usize::MAX).tolerance(0.0)
    }

    /// Where random choices begin. The same seed gives the same centroids, bit for bit, on any number of threads. 0
    /// unless said.
    pub const fn seed(self, seed: u64) -> Self {
        KMeans { seed, ..self }
    }

    /// How the first centroids are chosen.
    pub const fn seeding(self, seeding: Seeding) -> Self {
        KMeans { seeding, ..self }
    }

    /// The most iterations; 50 unless said. One that has not ended after that many is as good as finished.
    pub const fn iterations(self, iterations: usize) -> Self {
        KMeans { iterations, ..self }
    }

    /// Iterations end when the loss changes by no more than this share of itself; 10⁻⁴ unless said.
    pub const fn tolerance(self, tolerance: f64) -> Self {
        KMeans { tolerance, ..self }
    }

    /// How often to train from different first centroids; those with the lowest loss are taken. 1 unless said.
    pub const fn redos(self, redos: usize) -> Self {
        KMeans { redos, ..self }
    }

    /// Trains on at most this many rows for each cluster, drawn at random; 256 unless said. `None` takes all.
    pub const fn sample_rate(self, rate: Option<usize>) -> Self {
        KMeans { sample_rate: rate, ..self }
    }

    /// How much a large cluster is less attractive: to the distance of a row to a centroid is added the size that the
    /// cluster had in the previous iteration, times the lesser of two shares of the number of rows: this one, and the
    /// largest less the mean distance of a row in the largest cluster. 1 unless said; 0 is k-means without balance.
    pub const fn balance(self, balance: f64) -> Self {
        KMeans { balance, ..self }
    }

    /// Up to this many clusters are trained at once; more of them by hierarchy: 16 at first, of which the largest is
    /// divided again and again. 256 unless said.
    pub const fn flat_up_to(self, clusters: usize) -> Self {
        KMeans { flat_up_to: clusters, ..self }
    }

    /// Whether distances that cannot matter, because centroids have not moved far enough, are left out; yes unless
    /// said. The centroids are the same.
    pub const fn prune(self, prune: bool) -> Self {
        KMeans { prune, ..self }
    }

    /// Which threads work; the calling one unless said.
    pub const fn threads(self, threads: Threads) -> Self {
        KMeans { threads, ..self }
    }
}

/// What is called after each iteration; `Break` cancels.
pub type Progress<'a> = dyn FnMut(&Iteration) -> ControlFlow<()> + Send + 'a;

/// Eyes and a hand on a training: what is told of each iteration, and how it is ended early.
#[derive(Default)]
pub struct Control<'a> {
    /// Called after each iteration; `Break` cancels.
    pub progress: Option<&'a mut Progress<'a>>,
    /// Cancels, within an iteration too, once it is true.
    pub cancel: Option<&'a AtomicBool>,
}

impl Control<'_> {
    pub(super) fn tell(&mut self, iteration: &Iteration) -> Result<(), Error> {
        let told = self.progress.as_mut().map_or(ControlFlow::Continue(()), |progress| progress(iteration));
        if told.is_break() { Err(Error::Cancelled) } else { self.check() }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if is_set(self.cancel) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Whether there is a flag, and it is true.
pub(super) fn is_set(flag: Option<&AtomicBool>) -> bool {
    flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let progress = self.progress.is_some();
        f.debug_struct("Control").field("progress", &progress).field("cancel", &self.cancel).finish()
    }
}

/// Why there are no centroids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A vector has no elements.
    NoDimension,
    /// The number of elements is no multiple of the dimension.
    Ragged,
    /// No cluster is asked for.
    NoClusters,
    /// More than 2²⁴ clusters are asked for.
    TooManyClusters,
    /// There are fewer rows to train on than clusters.
    TooFewRows {
        /// Rows that can be trained on: those with a distance.
        rows: usize,
        /// Clusters asked for.
        clusters: usize,
    },
    /// By hierarchy no more clusters than this can be made, because the rows of each are all the same.
    TooFewClusters {
        /// Clusters that can be made.
        found: usize,
        /// Clusters asked for.
        clusters: usize,
    },
    /// A centroid to begin with is not finite.
    NotFinite,
    /// The caller ended it.
    Cancelled,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoDimension => f.write_str("vectors have no elements"),
            Error::Ragged => f.write_str("the number of elements is no multiple of the dimension"),
            Error::NoClusters => f.write_str("no cluster is asked for"),
            Error::TooManyClusters => f.write_str("more than 2^24 clusters are asked for"),
            Error::TooFewRows { rows, clusters } => {
                write!(f, "{clusters} clusters need as many rows, and there are {rows} to train on")
            }
            Error::TooFewClusters { found, clusters } => {
                write!(f, "the rows fall into {found} clusters of different rows, not {clusters}")
            }
            Error::NotFinite => f.write_str("a centroid to begin with is not finite"),
            Error::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl core::error::Error for Error {}
