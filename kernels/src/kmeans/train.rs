//! The way through a training.

use alloc::{borrow::Cow, vec::Vec};

use super::{
    Control, Error, Iteration, KMeans, Trained,
    bits::Bits,
    hierarchy,
    lloyd::{self, Place},
    numbers::Numbers,
    prepare::{self, Prepared, norms_of},
    space::Space,
};
use crate::{
    many::{Element, Metric},
    random::Random,
};

/// More clusters have no ids.
const MOST_CLUSTERS: usize = 1 << 24;

impl KMeans {
    /// Trains on rows of `dim` elements, one after the other.
    ///
    /// # Errors
    /// If the rows cannot be divided into so many clusters.
    pub fn train<E: Element>(
        &self,
        rows: &[E],
        dim: usize,
        metric: Metric,
    ) -> Result<Trained<E::Number>, Error> {
        self.train_with(rows, dim, metric, &mut Control::default())
    }

    /// Trains, and lets the caller watch and cancel.
    ///
    /// # Errors
    /// If the rows cannot be divided into so many clusters, or the caller cancels.
    pub fn train_with<E: Element>(
        &self,
        rows: &[E],
        dim: usize,
        metric: Metric,
        control: &mut Control<'_>,
    ) -> Result<Trained<E::Number>, Error> {
        self.check(rows.len(), dim)?;
        let mut random = Random(self.seed);
        let Prepared { rows, norms, left_out } = prepare::prepare(rows, dim, metric, self, &mut random);
        let metric = if metric == Metric::Dot { metric } else { Metric::L2 };
        self.train_space(Numbers::new(rows, norms, dim, metric, self.threads), left_out, &mut random, control)
    }

    /// Trains on rows of `width` bytes, one after the other, under hamming.
    ///
    /// # Errors
    /// If the rows cannot be divided into so many clusters.
    pub fn train_bits(&self, rows: &[u8], width: usize) -> Result<Trained<u8>, Error> {
        self.train_bits_with(rows, width, &mut Control::default())
    }

    /// Trains on bits, and lets the caller watch and cancel.
    ///
    /// # Errors
    /// If the rows cannot be divided into so many clusters, or the caller cancels.
    pub fn train_bits_with(
        &self,
        rows: &[u8],
        width: usize,
        control: &mut Control<'_>,
    ) -> Result<Trained<u8>, Error> {
        self.check(rows.len(), width)?;
        let mut random = Random(self.seed);
        let all = Bits { rows: Cow::Borrowed(rows), width, threads: self.threads };
        let space = match prepare::sample(all.len(), self, &mut random) {
            Some(sample) => all.subset(&sample),
            None => all,
        };
        self.train_space(space, 0, &mut random, control)
    }

    /// Trains from first centroids that the caller chose, on all rows and at once, whatever is said of samples and
    /// hierarchies. Under cosine, centroids are compared with rows at unit length.
    ///
    /// # Errors
    /// If vectors are not whole or centroids not finite, or the caller cancels.
    pub fn train_from<E: Element>(
        &self,
        rows: &[E],
        centroids: &[E::Number],
        dim: usize,
        metric: Metric,
        control: &mut Control<'_>,
    ) -> Result<Trained<E::Number>, Error> {
        self.check(rows.len(), dim)?;
        if centroids.is_empty() {
            return Err(Error::NoClusters);
        } else if !centroids.len().is_multiple_of(dim) {
            return Err(Error::Ragged);
        } else if !norms_of(centroids, dim).iter().all(|norm| norm.is_finite()) {
            return Err(Error::NotFinite);
        }
        let mut random = Random(self.seed);
        let all = self.sample_rate(None);
        let Prepared { rows, norms, left_out } = prepare::prepare(rows, dim, metric, &all, &mut random);
        let metric = if metric == Metric::Dot { metric } else { Metric::L2 };
        let space = Numbers::new(rows, norms, dim, metric, self.threads);
        let (mut iterations, place) = (Vec::new(), Place { redo: 0, divided: 0 });
        let run =
            lloyd::run_from(&space, centroids.to_vec(), self, &mut random, place, control, &mut iterations)?;
        let (centroids, inertia) = (run.centroids, run.inertia);
        Ok(Trained { centroids, dim, rows: space.len(), left_out, inertia, iterations })
    }

    fn check(&self, items: usize, dim: usize) -> Result<(), Error> {
        if dim == 0 {
            Err(Error::NoDimension)
        } else if !items.is_multiple_of(dim) {
            Err(Error::Ragged)
        } else if self.clusters == 0 {
            Err(Error::NoClusters)
        } else if self.clusters > MOST_CLUSTERS {
            Err(Error::TooManyClusters)
        } else {
            Ok(())
        }
    }

    fn train_space<S: Space>(
        &self,
        space: S,
        left_out: usize,
        random: &mut Random,
        control: &mut Control<'_>,
    ) -> Result<Trained<S::Item>, Error> {
        let (rows, clusters) = (space.len(), self.clusters);
        if rows < clusters {
            return Err(Error::TooFewRows { rows, clusters });
        }
        let mut iterations = Vec::new();
        // Centroids with their inertia and the loss that redos are compared by.
        let mut best: Option<(Vec<S::Item>, f64, f64)> = None;
        for redo in 0..self.redos.max(1) {
            let made = self.train_once(&space, redo, random, control, &mut iterations)?;
            best = Some(match best {
                Some(best) if best.2 <= made.2 => best,
                _ => made,
            });
        }
        let (centroids, inertia, _) = best.ok_or(Error::NoClusters)?;
        Ok(Trained { centroids, dim: space.dim(), rows, left_out, inertia, iterations })
    }

    fn train_once<S: Space>(
        &self,
        space: &S,
        redo: usize,
        random: &mut Random,
        control: &mut Control<'_>,
        iterations: &mut Vec<Iteration>,
    ) -> Result<(Vec<S::Item>, f64, f64), Error> {
        if self.clusters > self.flat_up_to {
            let (centroids, inertia) = hierarchy::train(space, self, random, redo, control, iterations)?;
            return Ok((centroids, inertia, inertia));
        }
        let place = Place { redo, divided: 0 };
        let run = lloyd::run(space, self.clusters, self, random, place, control, iterations)?;
        Ok((run.centroids, run.inertia, run.loss))
    }
}
