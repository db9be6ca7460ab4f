//! What pages append to, and the room that they use on the way.

use super::{mini_block::DecompressedChunk, packed::FieldRows, structure::Structure};
use crate::{Buffer, leaf::LeafBuilder};
use alloc::vec::Vec;

/// What a page appends to, with scratch for the levels of the rows at hand.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) leaf: LeafBuilder,
    pub(super) structure: Structure,
    pub(super) rep: Vec<u16>,
    pub(super) def: Vec<u16>,
    /// Whether all rows come from one piece of one page, which may then be shared.
    pub(super) keep: bool,
    /// Numbers of distinct values, where those are wanted instead of the values.
    pub(super) codes: Option<Vec<u32>>,
    pub(super) scratch: Scratch,
}

/// Room that ranges of rows use one after the other.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Dictionary indices as they are stored, and as positions of items.
    pub(super) indices: Option<LeafBuilder>,
    pub(super) picks: Vec<u32>,
    pub(super) chunk: DecompressedChunk,
    /// One value, decompressed, or those of runs.
    pub(super) values: Vec<u8>,
    pub(super) packed: Vec<FieldRows>,
    /// The entries of a chunk at which a row starts.
    pub(super) starts: Vec<u64>,
}

/// Room for reading one column again and again; see [`File::read_with`](crate::File::read_with).
#[derive(Debug, Default)]
pub struct ReadRoom {
    pub(super) rep: Vec<u16>,
    pub(super) def: Vec<u16>,
    pub(super) scratch: Scratch,
    /// For the validity of rows, when those before had no nulls.
    pub(super) validity: Buffer,
}

impl Target {
    pub(super) fn new(leaf: LeafBuilder, structure: Structure, keep: bool, room: &mut ReadRoom) -> Self {
        let ReadRoom { rep, def, scratch, .. } = core::mem::take(room);
        let mut target = Target { leaf, structure, rep, def, keep, codes: None, scratch };
        // Another page may lie where the one of the last chunk did.
        target.scratch.chunk.of = None;
        target.scratch.picks.clear();
        target
    }

    /// Where indices to distinct values go: where those are wanted instead of the values, they are what is returned.
    pub(super) fn picks(&mut self) -> &mut Vec<u32> {
        self.codes.as_mut().unwrap_or(&mut self.scratch.picks)
    }

    /// The number of values so far.
    pub(super) fn len(&self) -> usize {
        self.codes.as_ref().map_or(self.leaf.len(), Vec::len)
    }
}
