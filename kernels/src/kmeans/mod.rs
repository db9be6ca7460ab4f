//! K-means: centroids such that rows are near to one of them. The trainer of the partitions of an index and of the
//! codewords of a product quantiser.
//!
//! ```text
//! rows ─▶ prepare ─▶ seed ─▶┌─ assign ─▶ means ─▶ report ─▶ settled? ─▶ centroids
//!         sample            │                                  │ no
//!                           └──── repair ◀─── balance ◀────────┘
//! ```
//!
//! | part | does |
//! |---|---|
//! | prepare | takes a sample; leaves out rows that have no distance; brings rows to unit length under cosine |
//! | seed | chooses the first centroids among the rows |
//! | assign | finds the nearest centroid of each row, exactly ([`many`](crate::many)) |
//! | means | sums up the rows of each cluster in f64 in a fixed order, and rounds once |
//! | balance | makes large clusters seem farther, if that is wanted |
//! | repair | gives a cluster without rows half of another |
//!
//! Assignments are exact, sums have a fixed order, and random numbers come from the seed: so the same seed gives the
//! same centroids, bit for bit, on any number of threads and, since what is exact does not depend on it, with any
//! instruction set.
//!
//! # Metrics
//! * [`L2`](crate::many::Metric::L2): the sum of squared distances is made small.
//! * [`Cosine`](crate::many::Metric::Cosine): the same for rows at unit length; centroids are means, not of unit
//!   length.
//! * [`Dot`](crate::many::Metric::Dot): rows go to the centroid with the largest product; centroids are means.
//! * Hamming: [`KMeans::train_bits`].
//!
//! # What may happen
//! * A row that has no distance (not finite, or all zeros under cosine) is left out and counted in
//!   [`Trained::left_out`]; when rows are assigned to centroids it gets [`NONE`](crate::many::NONE).
//! * With fewer rows than clusters there is [`Error::TooFewRows`]; with as many, each row is a cluster.
//! * With fewer *different* rows than clusters, some clusters stay empty, with centroids at or next to those of
//!   others; by hierarchy there is [`Error::TooFewClusters`] instead.
//! * One cluster: its centroid is the mean.
//! * However rows lie, training ends after the iterations that are allowed.

mod assign;
mod balance;
mod bits;
mod bounds;
mod hierarchy;
mod lloyd;
mod numbers;
mod options;
mod prepare;
mod report;
mod seed;
mod space;
#[cfg(test)]
mod tests;
mod train;

pub use options::{Control, Error, KMeans, Progress, Seeding};
pub use report::{Iteration, Sizes, Trained};
