//! [`Batches`]: a scan that runs.

use super::{Scan, filtered::Filtered, whole::Whole};
use crate::{Batch, Error, Result};
use std::iter::FusedIterator;

/// The batches of a [`Scan`]. After an error there are no more.
#[derive(Debug)]
pub struct Batches {
    scan: Scan,
    state: State,
}

#[derive(Debug)]
enum State {
    Whole(Whole),
    Filtered(Box<Filtered>),
    Ended,
}

impl Batches {
    pub(super) fn new(scan: Scan) -> Result<Self> {
        let state = match &scan.filter {
            None => State::Whole(Whole::new(&scan)?),
            Some(_) => State::Filtered(Box::new(Filtered::new(&scan)?)),
        };
        Ok(Batches { scan, state })
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        match &mut self.state {
            State::Ended => return Ok(None),
            _ => self.scan.watch.check()?,
        }
        match &mut self.state {
            State::Whole(whole) => whole.next_batch(&self.scan),
            State::Filtered(filtered) => filtered.next_batch(&self.scan),
            State::Ended => Ok(None),
        }
    }
}

impl Iterator for Batches {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch();
        match &next {
            Ok(Some(batch)) => self.scan.stats.returned(batch.len() as u64),
            _ => self.state = State::Ended,
        }
        next.transpose()
    }
}

impl FusedIterator for Batches {}
