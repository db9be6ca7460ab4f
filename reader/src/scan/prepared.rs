//! [`Prepared`]: a scan that is planned once and run many times, with other values for its parameters.
//!
//! A filter that is one condition on a column with a B-tree which knows all fragments takes the direct way, as long as it
//! finds few rows: ids from cached pages, places, values, each into room that is used again.

use super::{Batches, Scan};
use crate::{
    Batch, Error, IndexUse, Result,
    expr::IntoParameter,
    plan::{Direct, DirectRoom},
    read::{self, ColumnRoom},
};

/// A scan that runs many times; made by [`Scan::prepare`].
///
/// ```no_run
/// # fn main() -> lancet::Result<()> {
/// use lancet::{Batch, Dataset};
///
/// let dataset = Dataset::open("words.lance")?;
/// let mut by_word = dataset.scan().filter("word = ?")?.columns(["rank"])?.prepare()?;
/// let mut rows = Batch::new();
/// for word in ["king", "queen"] {
///     by_word.bind(0, word)?.run_into(&mut rows)?;
///     println!("{word}: {:?}", rows.columns()[0].primitive::<i32>());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Prepared {
    scan: Scan,
    direct: Option<Direct>,
    room: DirectRoom,
    columns: Vec<ColumnRoom>,
}

impl Scan {
    /// Plans the scan, to be run many times. The filter may have parameters, written `?` or `$1`, in the place of
    /// literals that are compared with something.
    ///
    /// # Errors
    /// Those of the files of indices.
    pub fn prepare(self) -> Result<Prepared> {
        let direct = match (&self.filter, self.index_use()) {
            (None, _) | (_, IndexUse::Never) => None,
            (Some(filter), _) if self.fragments.is_none() => {
                Direct::of(&self.dataset, filter.conjuncts(), filter.conditions())?
            }
            _ => None,
        };
        Ok(Prepared { scan: self, direct, room: DirectRoom::default(), columns: Vec::new() })
    }
}

impl Clone for Prepared {
    /// For another thread: it has room of its own.
    fn clone(&self) -> Self {
        Prepared {
            scan: self.scan.clone(),
            direct: self.direct.clone(),
            room: DirectRoom::default(),
            columns: Vec::new(),
        }
    }
}

impl Prepared {
    /// Gives the parameter with this number, counted from 0, its value for the next runs. Integers are taken in a column's
    /// own unit for dates, times and durations; an [`Expr`](crate::expr::Expr) that is a literal, such as
    /// `TIMESTAMP '2026-07-28 10:00:00'`, may be given too.
    ///
    /// # Errors
    /// Invalid input if there is no such parameter, or the type of what it is compared with cannot hold the value; NULL
    /// is none: write `IS NULL`.
    pub fn bind(&mut self, number: usize, value: impl IntoParameter) -> Result<&mut Self> {
        let parameters = self.scan.filter.as_ref().map_or(&[][..], |filter| filter.parameters());
        let Some(Some(data_type)) = parameters.get(number) else {
            let numbers = (0..parameters.len()).filter(|&number| parameters[number].is_some());
            let numbers = numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
            let which = if numbers.is_empty() { "it has none".into() } else { format!("it has {numbers}") };
            return Err(Error::invalid_input(format!("the filter has no parameter {number}: {which}")));
        };
        let Some(value) = value.into_parameter(data_type).filter(|value| !value.is_null()) else {
            return Err(Error::invalid_input(format!(
                "parameter {number} (${}): expected a value that a column of type {data_type} can hold; for NULL write \
                 `IS NULL`, for dates and times give an expression such as `TIMESTAMP '…'`",
                number + 1
            )));
        };
        self.scan.bind(number, value);
        Ok(self)
    }

    /// The rows, all in one batch whose buffers are used again where they fit.
    ///
    /// # Errors
    /// Invalid input if a parameter has no value, and those of [`Batches`](crate::Batches); the batch has then no rows and
    /// no columns.
    pub fn run_into(&mut self, batch: &mut Batch) -> Result<()> {
        let ran = self.try_run(batch);
        if ran.is_err() {
            *batch = Batch::new();
        }
        ran
    }

    fn try_run(&mut self, batch: &mut Batch) -> Result<()> {
        let scan = &self.scan;
        let parameters = scan.parameters()?;
        scan.watch.check()?;
        if let (Some(direct), Some(filter)) = (&self.direct, &scan.filter)
            && direct.find(scan.search(parameters), filter.conditions(), &mut self.room)?
        {
            let places = self.room.window(scan.offset, scan.limit.unwrap_or(u64::MAX));
            read::read_places(&scan.dataset, &scan.projection, places, batch, &mut self.columns)?;
            scan.stats.returned(batch.len() as u64);
            return Ok(());
        }
        // All rows end up in one batch, so that larger ones on the way save copies.
        let whole = scan.clone().batch_size(usize::MAX);
        let batches = Batches::new(whole)?.collect::<Result<Vec<_>>>()?;
        *batch = read::join(&scan.projection, batches)?;
        Ok(())
    }

    /// The rows in a new batch.
    ///
    /// # Errors
    /// As [`run_into`](Self::run_into).
    pub fn run(&mut self) -> Result<Batch> {
        let mut batch = Batch::new();
        self.run_into(&mut batch)?;
        Ok(batch)
    }

    /// The number of rows.
    ///
    /// # Errors
    /// As [`run_into`](Self::run_into).
    pub fn count(&mut self) -> Result<u64> {
        let scan = &self.scan;
        let parameters = scan.parameters()?;
        if let (Some(direct), Some(filter)) = (&self.direct, &scan.filter)
            && let Some(rows) = direct.count(scan.search(parameters), filter.conditions(), &mut self.room)?
        {
            let rows = rows.saturating_sub(scan.offset).min(scan.limit.unwrap_or(u64::MAX));
            scan.stats.returned(rows);
            return Ok(rows);
        }
        scan.clone().count()
    }

    /// The scan, with the values that are bound.
    pub fn scan(&self) -> &Scan {
        &self.scan
    }
}
