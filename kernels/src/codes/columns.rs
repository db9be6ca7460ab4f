//! [`Columns`]: codes of consecutive rows, byte by byte.

/// Codes of consecutive rows, of which byte `j` of all rows lies together.
///
/// ```text
/// byte 0 of all rows of the partition │ byte 1 of all rows │ …
/// ├─ stride ──────────────────────────┤
///      ├ start: the rows that are meant ┤
/// ```
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    codes: &'a [u8],
    stride: usize,
    start: usize,
    rows: usize,
}

impl<'a> Columns<'a> {
    /// Rows `start..start + rows` of the `stride` rows of `bytes` bytes whose codes are `codes`.
    ///
    /// # Panics
    /// If they are not there.
    pub(crate) fn new(codes: &'a [u8], bytes: usize, stride: usize, start: usize, rows: usize) -> Self {
        assert_eq!(bytes.checked_mul(stride), Some(codes.len()), "codes of all rows");
        assert!(start.checked_add(rows).is_some_and(|end| end <= stride), "rows that are there");
        Columns { codes, stride, start, rows }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Byte `byte` of all rows.
    #[inline(always)]
    pub(crate) fn column(&self, byte: usize) -> &'a [u8] {
        &self.codes[byte * self.stride + self.start..][..self.rows]
    }

    /// As [`column`](Self::column), with three bytes of others behind it, if there are as many.
    #[inline(always)]
    #[allow(dead_code)] // not every instruction set reads more than it wants
    pub(crate) fn column_and_more(&self, byte: usize) -> Option<&'a [u8]> {
        let first = byte * self.stride + self.start;
        self.codes.get(first..first + self.rows + 3)
    }
}
