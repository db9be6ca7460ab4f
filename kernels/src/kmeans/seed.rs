//! First centroids.

use alloc::{vec, vec::Vec};

use super::{Control, Error, Seeding, space::Space};
use crate::random::Random;

/// Chooses `clusters` rows as first centroids.
pub(super) fn choose<S: Space>(
    space: &S,
    clusters: usize,
    seeding: Seeding,
    random: &mut Random,
    control: &Control<'_>,
) -> Result<Vec<S::Item>, Error> {
    let rows = match seeding {
        Seeding::Random => distinct(space.len(), clusters, random),
        Seeding::PlusPlus => plus_plus(space, clusters, random, control)?,
    };
    Ok(rows.into_iter().flat_map(|row| space.row(row as usize)).copied().collect())
}

/// `count` different numbers below `end`, in random order (the first steps of a Fisher–Yates shuffle).
pub(super) fn distinct(end: usize, count: usize, random: &mut Random) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..end as u32).collect();
    for at in 0..count {
        numbers.swap(at, at + random.below(end - at));
    }
    numbers.truncate(count);
    numbers
}

fn plus_plus<S: Space>(
    space: &S,
    clusters: usize,
    random: &mut Random,
    control: &Control<'_>,
) -> Result<Vec<u32>, Error> {
    let mut nearest = vec![f64::INFINITY; space.len()];
    let mut chosen = vec![random.below(space.len()) as u32];
    while chosen.len() < clusters {
        control.check()?;
        space.approach(space.row(chosen[chosen.len() - 1] as usize), &mut nearest);
        chosen.push(proportional(&nearest, random) as u32);
    }
    Ok(chosen)
}

/// A position, with a probability in proportion to its share; any one if there are no shares.
fn proportional(shares: &[f64], random: &mut Random) -> usize {
    let total: f64 = shares.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return random.below(shares.len());
    }
    let mut at = (random.word() >> 11) as f64 / (1u64 << 53) as f64 * total;
    for (position, share) in shares.iter().enumerate() {
        at -= share;
        if at < 0.0 {
            return position;
        }
    }
    // Rounding has left something over.
    shares.iter().rposition(|&share| share > 0.0).unwrap_or(0)
}
