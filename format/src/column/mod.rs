//! [`Column`]: the values of one field for some rows, laid out as Arrow lays them out.
//!
//! ```text
//! validity   one bit a row, absent if no row is null          (every type)
//! values     Fixed: width bytes a row    Bits: one bit a row
//! offsets    rows + 1 of 32 or 64 bits, the first is 0        (text, binary, lists, maps)
//! children   lists: the items of all rows; structs: one row each
//! ```
//!
//! The buffers can be handed to any Arrow consumer as they are.

mod build;
mod concat;
mod gather;

pub use gather::Pick;

use crate::{Bitmap, Buffer, DataType, Error, ErrorKind, Physical, Result};
use alloc::{boxed::Box, vec::Vec};
use bytemuck::Pod;
use core::ops::Range;

/// The values of one field for some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    data_type: DataType,
    len: usize,
    validity: Option<Bitmap>,
    values: Values,
}

/// The buffers of a [`Column`], validity apart. What a null row's slot holds is unspecified.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Values {
    /// Type null: nothing but a length.
    Null,
    /// Booleans, one bit each.
    Bits(Bitmap),
    /// Values of one width: numbers, times, decimals, fixed-size binary.
    Fixed(Buffer),
    /// Text or binary with 32-bit offsets (`i32`, one more than rows) into `bytes`.
    Variable {
        /// `i32`, ascending from 0.
        offsets: Buffer,
        /// The text or bytes of all rows end to end.
        bytes: Buffer,
    },
    /// Text or binary with 64-bit offsets (`i64`, one more than rows) into `bytes`.
    LargeVariable {
        /// `i64`, ascending from 0.
        offsets: Buffer,
        /// The text or bytes of all rows end to end.
        bytes: Buffer,
    },
    /// Lists and maps with 32-bit offsets (`i32`, one more than rows) into `items`.
    List {
        /// `i32`, ascending from 0.
        offsets: Buffer,
        /// The items of all rows end to end.
        items: Box<Column>,
    },
    /// Lists with 64-bit offsets (`i64`, one more than rows) into `items`.
    LargeList {
        /// `i64`, ascending from 0.
        offsets: Buffer,
        /// The items of all rows end to end.
        items: Box<Column>,
    },
    /// As many items for each row as the type's dimension says.
    FixedSizeList(Box<Column>),
    /// One column of the same length for each field.
    Struct(Vec<Column>),
}

impl Column {
    /// Puts a column together; the caller has made the buffers fit.
    pub(crate) fn new(data_type: DataType, len: usize, validity: Option<Bitmap>, values: Values) -> Self {
        debug_assert!(validity.as_ref().is_none_or(|bits| bits.len() == len));
        Column { data_type, len, validity, values }
    }

    /// `len` nulls of the given type.
    pub fn nulls(data_type: &DataType, len: usize) -> Self {
        let zeroed = |bytes: usize| {
            let mut buffer = Buffer::with_capacity(bytes);
            buffer.grow(bytes).fill(0);
            buffer
        };
        let values = match data_type.physical() {
            Physical::Null => Values::Null,
            Physical::Bits => Values::Bits(Bitmap::new(zeroed(len.div_ceil(8)), len)),
            Physical::Fixed(width) => Values::Fixed(zeroed(len * width)),
            Physical::Variable => Values::Variable { offsets: zeroed((len + 1) * 4), bytes: Buffer::new() },
            Physical::LargeVariable => {
                Values::LargeVariable { offsets: zeroed((len + 1) * 8), bytes: Buffer::new() }
            }
            Physical::List => Values::List {
                offsets: zeroed((len + 1) * 4),
                items: Box::new(Self::child_nulls(data_type, 0)),
            },
            Physical::LargeList => Values::LargeList {
                offsets: zeroed((len + 1) * 8),
                items: Box::new(Self::child_nulls(data_type, 0)),
            },
            Physical::FixedSizeList(dimension) => {
                Values::FixedSizeList(Box::new(Self::child_nulls(data_type, len * dimension)))
            }
            Physical::Struct => Values::Struct(
                data_type.children().iter().map(|field| Self::nulls(&field.data_type, len)).collect(),
            ),
        };
        let validity = (len > 0).then(|| Bitmap::new(zeroed(len.div_ceil(8)), len));
        Column { data_type: data_type.clone(), len, validity, values }
    }

    /// As [`Column::nulls`], for rows of a file that says how many there are but holds no bytes of them.
    ///
    /// # Errors
    /// Too large if the column would take more than a gigabyte.
    pub fn absent(data_type: &DataType, len: usize) -> Result<Self> {
        check_repeated(len, data_type.value_bytes())?;
        Ok(Self::nulls(data_type, len))
    }

    fn child_nulls(data_type: &DataType, len: usize) -> Column {
        match data_type.children() {
            [item, ..] => Self::nulls(&item.data_type, len),
            [] => Self::nulls(&DataType::Null, len),
        }
    }

    /// 64-bit numbers without nulls, such as row ids.
    pub fn from_u64(values: &[u64]) -> Self {
        Self::from_u64_reusing(values, None)
    }

    /// As [`Column::from_u64`], with the buffer of `old` if it fits.
    pub fn from_u64_reusing(values: &[u64], old: Option<Column>) -> Self {
        let mut buffer = match old.map(|old| old.values) {
            Some(Values::Fixed(buffer)) => buffer,
            _ => Buffer::new(),
        };
        buffer.clear();
        buffer.extend_from_slice(bytemuck::cast_slice(values));
        Column::new(DataType::UInt64, values.len(), None, Values::Fixed(buffer))
    }

    /// The type of the values.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One bit a row, set where the row is not null; `None` if no row is null.
    pub fn validity(&self) -> Option<&Bitmap> {
        self.validity.as_ref()
    }

    /// Whether row `i` is null.
    ///
    /// # Panics
    /// If there is no row `i`.
    #[inline]
    pub fn is_null(&self, i: usize) -> bool {
        assert!(i < self.len, "row {i} of {}", self.len);
        matches!(self.values, Values::Null) || self.validity.as_ref().is_some_and(|bits| !bits.get(i))
    }

    /// The number of null rows.
    pub fn null_count(&self) -> usize {
        match (&self.values, &self.validity) {
            (Values::Null, _) => self.len,
            (_, Some(bits)) => self.len - bits.count_ones(),
            (_, None) => 0,
        }
    }

    /// The buffers behind the values.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The values as numbers of type `T`, null slots included; `None` unless they have `T`'s width. Only the
    /// width is checked: an int32 column can be had as `f32` too.
    ///
    /// The items of a fixed-size list of numbers are had from its [`child`](Self::child), or at once
    /// by [`flat`](Self::flat).
    #[inline]
    pub fn primitive<T: Pod>(&self) -> Option<&[T]> {
        match (&self.values, self.data_type.physical()) {
            (Values::Fixed(buffer), Physical::Fixed(width)) if width == size_of::<T>() => {
                Some(buffer.typed())
            }
            _ => None,
        }
    }

    /// The numbers of a vector column end to end (rows × dimension), or of a plain column, null slots
    /// included; `None` unless they have `T`'s width. As with [`primitive`](Self::primitive) only the width is
    /// checked: which numbers they are, [`data_type`](Self::data_type) says.
    #[inline]
    pub fn flat<T: Pod>(&self) -> Option<&[T]> {
        match &self.values {
            Values::FixedSizeList(items) => items.flat(),
            _ => self.primitive(),
        }
    }

    /// Boolean `i`, null slots included; `None` unless this is a boolean column.
    ///
    /// # Panics
    /// If there is no row `i`.
    pub fn boolean(&self, i: usize) -> Option<bool> {
        match &self.values {
            Values::Bits(bits) => Some(bits.get(i)),
            _ => None,
        }
    }

    /// The bytes of row `i` of a text, binary or fixed-width column; `None` if it is null, and for other types.
    ///
    /// # Panics
    /// If there is no row `i`.
    #[inline]
    pub fn bytes(&self, i: usize) -> Option<&[u8]> {
        if self.is_null(i) {
            return None;
        }
        match &self.values {
            Values::Variable { bytes, .. } | Values::LargeVariable { bytes, .. } => {
                bytes.as_slice().get(self.range(i)?)
            }
            Values::Fixed(buffer) => match self.data_type.physical() {
                Physical::Fixed(width) => buffer.as_slice().get(i * width..(i + 1) * width),
                _ => None,
            },
            _ => None,
        }
    }

    /// The text of row `i`; `None` if it is null, and unless this is a text column.
    ///
    /// # Panics
    /// If there is no row `i`.
    #[inline]
    pub fn str(&self, i: usize) -> Option<&str> {
        match self.data_type.is_utf8() {
            true => core::str::from_utf8(self.bytes(i)?).ok(),
            false => None,
        }
    }

    /// Where row `i` lies in the bytes or items behind it; `None` for types without such.
    ///
    /// # Panics
    /// If there is no row `i`.
    #[inline]
    pub fn range(&self, i: usize) -> Option<Range<usize>> {
        match &self.values {
            Values::Variable { offsets, .. } | Values::List { offsets, .. } => {
                let offsets = offsets.typed::<i32>();
                Some(offsets[i] as usize..offsets[i + 1] as usize)
            }
            Values::LargeVariable { offsets, .. } | Values::LargeList { offsets, .. } => {
                let offsets = offsets.typed::<i64>();
                Some(offsets[i] as usize..offsets[i + 1] as usize)
            }
            Values::FixedSizeList(items) => {
                assert!(i < self.len, "row {i} of {}", self.len);
                let dimension = items.len() / self.len;
                Some(i * dimension..(i + 1) * dimension)
            }
            _ => None,
        }
    }

    /// The items of a list, map or fixed-size list column.
    pub fn child(&self) -> Option<&Column> {
        match &self.values {
            Values::List { items, .. } | Values::LargeList { items, .. } | Values::FixedSizeList(items) => {
                Some(items)
            }
            _ => None,
        }
    }

    /// The columns of a struct, in the order of its fields.
    pub fn children(&self) -> &[Column] {
        match &self.values {
            Values::Struct(children) => children,
            _ => &[],
        }
    }

    /// The bytes of all rows of a text or binary column end to end; nothing for other types.
    pub(crate) fn into_bytes(self) -> bytes::Bytes {
        match self.values {
            Values::Variable { bytes, .. } | Values::LargeVariable { bytes, .. } => bytes.into_bytes(),
            _ => bytes::Bytes::new(),
        }
    }

    /// The buffer of values of one width, or of the items of fixed-size lists of them.
    pub(crate) fn into_fixed(self) -> Option<Buffer> {
        match self.values {
            Values::Fixed(buffer) => Some(buffer),
            Values::FixedSizeList(items) => items.into_fixed(),
            _ => None,
        }
    }

    /// The bytes of memory that the buffers take, without those that are shared with a file.
    pub fn heap_bytes(&self) -> usize {
        let values = match &self.values {
            Values::Null => 0,
            Values::Bits(bits) => bits.buffer().heap_bytes(),
            Values::Fixed(buffer) => buffer.heap_bytes(),
            Values::Variable { offsets, bytes } | Values::LargeVariable { offsets, bytes } => {
                offsets.heap_bytes() + bytes.heap_bytes()
            }
            Values::List { offsets, items } | Values::LargeList { offsets, items } => {
                offsets.heap_bytes() + items.heap_bytes()
            }
            Values::FixedSizeList(items) => items.heap_bytes(),
            Values::Struct(children) => children.iter().map(Column::heap_bytes).sum(),
        };
        values + self.validity.as_ref().map_or(0, |bits| bits.buffer().heap_bytes())
    }

    /// The buffers, for reuse.
    pub(crate) fn into_parts(self) -> (Option<Bitmap>, Values) {
        (self.validity, self.values)
    }

    /// A struct column of `children`, one for each field of `data_type` and `len` rows each.
    ///
    /// # Errors
    /// Invalid input if types or lengths do not fit.
    pub fn structs(
        data_type: &DataType,
        len: usize,
        validity: Option<Bitmap>,
        children: Vec<Column>,
    ) -> Result<Column> {
        let fields = data_type.children();
        let fits = matches!(data_type, DataType::Struct(_))
            && fields.len() == children.len()
            && children.iter().all(|child| child.len == len)
            && validity.as_ref().is_none_or(|bits| bits.len() == len);
        match fits {
            true => Ok(Column::new(data_type.clone(), len, validity, Values::Struct(children))),
            false => {
                Err(Error::invalid_input("expected one child of the same length for each field of a struct"))
            }
        }
    }

    /// Child `index` of a struct column, null also where the struct is.
    ///
    /// # Panics
    /// If this is no struct column or it has no such child.
    pub fn into_child(self, index: usize) -> Column {
        let Values::Struct(mut children) = self.values else { panic!("no struct column") };
        let mut child = children.swap_remove(index);
        child.validity = match (self.validity, child.validity) {
            (Some(own), Some(inner)) => Some(both(&own, &inner)),
            (own, inner) => own.or(inner),
        };
        child
    }
}

fn both(a: &Bitmap, b: &Bitmap) -> Bitmap {
    let mut out = Buffer::copy_of(&a.buffer().as_slice()[..a.len().div_ceil(8)]);
    for (out, b) in out.as_mut_slice().iter_mut().zip(b.buffer().as_slice()) {
        *out &= b;
    }
    Bitmap::new(out, a.len())
}

/// A 32- or 64-bit Arrow offset.
pub(crate) trait Offset: Pod {
    /// # Errors
    /// Too large if the number does not fit.
    fn from_usize(value: usize) -> Result<Self>;

    /// The number, if it is known to fit.
    fn truncated(value: usize) -> Self;
}

impl Offset for i32 {
    #[inline]
    fn from_usize(value: usize) -> Result<Self> {
        i32::try_from(value).map_err(|_| too_large())
    }

    #[inline]
    fn truncated(value: usize) -> Self {
        value as i32
    }
}

impl Offset for i64 {
    #[inline]
    fn from_usize(value: usize) -> Result<Self> {
        i64::try_from(value).map_err(|_| too_large())
    }

    #[inline]
    fn truncated(value: usize) -> Self {
        value as i64
    }
}

/// The most bytes that values take in one column which take none in the file, or take them once for all rows.
const MAX_REPEATED: u64 = 1 << 30;

/// Checks that `count` values of `bytes` bytes, none of which was seen in the file, do not fill memory.
pub(crate) fn check_repeated(count: usize, bytes: u64) -> Result<()> {
    match (count as u64).checked_mul(bytes) {
        Some(total) if total <= MAX_REPEATED => Ok(()),
        _ => Err(too_large()),
    }
}

#[cold]
pub(crate) fn too_large() -> Error {
    Error::new(
        ErrorKind::TooLarge,
        "the rows asked for at once do not fit the column's offsets: ask for fewer",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_of_every_shape() {
        let vector = DataType::parse("fixed_size_list:float:4", Vec::new()).unwrap();
        let column = Column::nulls(&vector, 3);
        assert_eq!((column.null_count(), column.flat::<f32>().unwrap().len()), (3, 12));
    }
}
