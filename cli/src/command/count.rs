//! `lancet count`: the number of rows, in every format just that.

use super::{open, refuse};
use crate::{args::CountArgs, error::Result, output::Output};

pub(super) fn run(args: &CountArgs) -> Result<()> {
    refuse(args.waits_for())?;
    let rows = open(&args.dataset)?.count_rows()?;
    let mut output = Output::new();
    output.text(&format!("{rows}\n"))?;
    output.finish()
}
