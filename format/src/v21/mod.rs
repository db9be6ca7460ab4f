//! Pages of file versions 2.1 and 2.2: structural encodings, a column for each leaf of the schema.
//!
//! ```text
//! page        a page of any layout             target      what pages append to
//! read        rows of a column, page by page
//!
//! layers      which levels mean null or empty        structure   levels to validity and offsets
//! mini_block  chunks of small values                 full_zip    large values, one by one
//! constant    one value, or only nulls               chunks      where chunks and their rows lie
//! values      encodings inside a chunk               block       encodings of a whole buffer
//! dictionary  distinct values of a page              packed      rows of structs with variable fields
//! blob        descriptions of values that lie elsewhere
//! ```

mod blob;
mod block;
pub(crate) mod chunks;
mod constant;
mod dictionary;
mod full_zip;
mod layers;
mod levels;
mod mini_block;
mod packed;
mod page;
mod picked;
mod read;
mod structure;
mod target;
mod values;

pub use layers::LayerKind;
pub(crate) use page::{Page, page};
pub(crate) use read::{read, read_coded};
pub use target::ReadRoom;
use target::Target;
