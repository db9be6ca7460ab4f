//! Lloyd's algorithm: rows go to their nearest centroids, centroids to the means of their rows, and again.

use alloc::{vec, vec::Vec};

use super::{
    Control, Error, Iteration, KMeans, Sizes,
    balance::Balance,
    seed,
    space::{Assigned, Space},
};
use crate::{many::NONE, random::Random};

/// Where a run is in the whole training.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) redo: usize,
    pub(super) divided: usize,
}

/// What one run made.
pub(super) struct Run<T> {
    pub(super) centroids: Vec<T>,
    /// The clusters whose means the centroids are.
    pub(super) assigned: Assigned,
    pub(super) inertia: f64,
    pub(super) loss: f64,
}

/// Trains `clusters` centroids on all rows of `space`, of which there are at least as many.
pub(super) fn run<S: Space>(
    space: &S,
    clusters: usize,
    options: &KMeans,
    random: &mut Random,
    place: Place,
    control: &mut Control<'_>,
    log: &mut Vec<Iteration>,
) -> Result<Run<S::Item>, Error> {
    let first = seed::choose(space, clusters, options.seeding, random, control)?;
    run_from(space, first, options, random, place, control, log)
}

/// Trains from first centroids.
pub(super) fn run_from<S: Space>(
    space: &S,
    mut centroids: Vec<S::Item>,
    options: &KMeans,
    random: &mut Random,
    place: Place,
    control: &mut Control<'_>,
    log: &mut Vec<Iteration>,
) -> Result<Run<S::Item>, Error> {
    let (rows, clusters) = (space.len(), centroids.len() / space.dim());
    let mut assigned = Assigned {
        ids: vec![NONE; rows],
        before: vec![NONE; rows],
        distances: vec![f32::NAN; rows],
        sizes: vec![0; clusters],
    };
    let mut balance = Balance::new(options.balance, rows, clusters);
    let mut memory = space.memory(&centroids, options.prune);
    let mut last_loss = f64::INFINITY;
    let mut number = 0;
    loop {
        number += 1;
        assigned.before.copy_from_slice(&assigned.ids);
        let computed = space.assign(
            &centroids,
            balance.weights(),
            balance.is_wanted(),
            &mut memory,
            &mut assigned,
            control,
        )?;
        let moved = assigned.before.iter().zip(&assigned.ids).filter(|(before, id)| before != id).count();
        assigned.sizes.fill(0);
        assigned.ids.iter().for_each(|&id| assigned.sizes[id as usize] += 1);
        let inertia = space.means(&assigned, &mut memory, &mut centroids);
        let loss = inertia + balance.price(&assigned.sizes);
        let empty = assigned.sizes.iter().filter(|&&size| size == 0).count();
        let iteration = Iteration {
            clusters,
            divided: place.divided,
            redo: place.redo,
            number,
            inertia,
            loss,
            moved,
            sizes: Sizes::of(&assigned.sizes),
            empty,
            computed,
        };
        log.push(iteration);
        control.tell(&iteration)?;
        // Where no row has moved, centroids have not either, unless weights moved them.
        let settled =
            moved == 0 && !balance.is_wanted() || (last_loss - loss).abs() <= options.tolerance * loss.abs();
        if settled || number >= options.iterations {
            return Ok(Run { centroids, assigned, inertia, loss });
        }
        last_loss = loss;
        balance.update(&assigned);
        if empty > 0 {
            repair(space, &assigned.sizes, &mut centroids, random);
        }
    }
}

/// Gives each empty cluster about half of another, chosen at random in proportion to its size.
fn repair<S: Space>(space: &S, sizes: &[u32], centroids: &mut [S::Item], random: &mut Random) {
    let mut sizes = sizes.to_vec();
    for empty in 0..sizes.len() {
        if sizes[empty] > 0 {
            continue;
        }
        // A cluster of one row cannot be divided.
        let spare = |size: u32| u64::from(size.saturating_sub(1));
        let all: u64 = sizes.iter().map(|&size| spare(size)).sum();
        if all == 0 {
            return;
        }
        let mut at = random.word() % all;
        let mut donor = 0;
        while at >= spare(sizes[donor]) {
            at -= spare(sizes[donor]);
            donor += 1;
        }
        space.split(centroids, donor, empty, random);
        sizes[empty] = sizes[donor] / 2;
        sizes[donor] -= sizes[empty];
    }
}
