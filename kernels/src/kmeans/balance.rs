//! The weight on balance: large clusters seem farther than they are.

use alloc::{vec, vec::Vec};

use super::space::Assigned;

pub(super) struct Balance {
    /// The most that one row of a cluster adds to its distance, times the number of rows.
    limit: f64,
    rows: f64,
    /// What one row of a cluster adds to its distance.
    bias: f64,
    weights: Vec<f64>,
}

impl Balance {
    pub(super) fn new(limit: f64, rows: usize, clusters: usize) -> Self {
        let rows = rows as f64;
        Balance { limit, rows, bias: limit / rows, weights: vec![0.0; clusters] }
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.limit > 0.0
    }

    /// What is added to the distances of centroids.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The price of clusters of these sizes: none if all are equal.
    pub(super) fn price(&self, sizes: &[u32]) -> f64 {
        if !self.is_wanted() {
            return 0.0;
        }
        let squares: f64 = sizes.iter().map(|&size| f64::from(size) * f64::from(size)).sum();
        self.bias * (squares - self.rows * self.rows / sizes.len() as f64)
    }

    /// Sets the weights for the next iteration. A cluster never seems farther by more than the largest distance in the
    /// largest cluster exceeds the mean one.
    pub(super) fn update(&mut self, assigned: &Assigned) {
        if !self.is_wanted() {
            return;
        }
        let Assigned { ids, distances, sizes, .. } = assigned;
        // Of equally large clusters the first.
        let largest = (0..sizes.len()).rev().max_by_key(|&cluster| sizes[cluster]).unwrap_or(0);
        let of_largest = ids.iter().zip(distances).filter(|&(&id, _)| id as usize == largest);
        let (sum, radius) = of_largest.fold((0.0, f64::NEG_INFINITY), |(sum, radius), (_, &distance)| {
            (sum + f64::from(distance), f64::max(radius, f64::from(distance)))
        });
        let room = radius - sum / f64::from(sizes[largest]).max(1.0);
        // `room` is not a number where distances are too large for one.
        self.bias = if room > 0.0 { self.limit.min(room) / self.rows } else { 0.0 };
        for (weight, &size) in self.weights.iter_mut().zip(sizes) {
            *weight = self.bias * f64::from(size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_sizes_up_to_the_room_of_the_largest() {
        let (ids, distances, sizes) = (vec![0, 0, 0, 1], vec![1.0, 2.0, 6.0, 0.0], vec![3, 1]);
        let assigned = Assigned { before: ids.clone(), ids, distances, sizes };
        let mut balance = Balance::new(1.0, 4, 2);
        assert_eq!(balance.weights(), [0.0, 0.0]);
        balance.update(&assigned);
        assert_eq!(balance.weights(), [0.75, 0.25]);
        assert_eq!(balance.price(&[3, 1]), 0.25 * (10.0 - 8.0));
        // The largest distance in the larger cluster is 6, the mean one 3.
        let mut balance = Balance::new(100.0, 4, 2);
        balance.update(&assigned);
        assert_eq!(balance.weights(), [2.25, 0.75]);
        let mut none = Balance::new(0.0, 4, 2);
        none.update(&assigned);
        assert_eq!((none.weights(), none.price(&[3, 1])), (&[0.0, 0.0][..], 0.0));
    }
}
