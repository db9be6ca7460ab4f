//! The language of filters and computed columns: text or builder → [`Expr`] → [`Typed`].
//!
//! ```text
//! text ──parse──▶ Expr ──bind to a schema──▶ Typed ──▶ evaluation, planning
//!        builder ──▶ │                          every node with its type, names resolved,
//!        Display ◀── ┘                          literals in the type of their column
//! ```
//!
//! What the language is, how literals take their column's type and what each function does is written down in
//! `docs/filters.md`.

mod bind;
mod build;
mod cast;
mod convert;
mod display;
mod fold;
mod function;
mod i256;
mod item;
mod lex;
mod literal;
mod operators;
mod parameters;
mod parse;
mod place;
mod scalar;
mod show;
mod temporal;
mod tree;
mod typed;
mod types;

pub use build::{col, lit};
pub(crate) use cast::cast;
pub use function::{DatePart, DateUnit, Function};
pub use i256::I256;
pub use item::{Item, split_items};
pub use parameters::IntoParameter;
use place::Place;
pub use scalar::Scalar;
pub(crate) use temporal::{instant, wall_clock, zone};
pub use tree::{Arithmetic, Comparison, Expr, MAX_DEPTH, Test};
pub use typed::{ColumnRef, Node, Typed};
