//! [`Watch`]: when a query must end before it is done.

use crate::{Error, ErrorKind, Result};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

/// A deadline and a flag that cancels.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch {
    pub(crate) deadline: Option<Instant>,
    pub(crate) cancelled: Option<Arc<AtomicBool>>,
}

impl Watch {
    /// # Errors
    /// If the query was cancelled or its deadline has passed.
    pub(crate) fn check(&self) -> Result<()> {
        if self.cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Error::stopped(ErrorKind::Cancelled, "the query was cancelled"));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Error::stopped(ErrorKind::DeadlinePassed, "the query's deadline has passed"));
        }
        Ok(())
    }
}
