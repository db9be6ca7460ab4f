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

use crate::{Bitmap, Buffer, DataType, Error, ErrorKind, Physical, Result, bitmap::BitmapBuilder};
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
        let buffer = Buffer::copy_of(bytemuck::cast_slice(values));
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

    /// The values as numbers of type `T`, null slots included; `None` unless they have `T`'s width.
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

    /// The numbers of a vector column end to end (rows × dimension), or of a plain column.
    #[inline]
    pub fn flat<T: Pod>(&self) -> Option<&[T]> {
        match &self.values {
            Values::FixedSizeList(items) => items.flat(),
            _ => self.primitive(),
        }
    }

    /// Boolean `i`, null slots included; `None` unless this is a boolean column.
    pub fn boolean(&self, i: usize) -> Option<bool> {
        match &self.values {
            Values::Bits(bits) => Some(bits.get(i)),
            _ => None,
        }
    }

    /// The bytes of row `i` of a text, binary or fixed-width column; `None` for other types.
    ///
    /// # Panics
    /// If there is no row `i`.
    #[inline]
    pub fn bytes(&self, i: usize) -> Option<&[u8]> {
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

    /// The text of row `i`; `None` unless this is a text column.
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

    /// The rows of several columns of one type that `picks` names, in that order, each as often as it is
    /// named: the pairs are a position among `parts` and a row there.
    ///
    /// The buffers of `reuse` are written again where they fit.
    ///
    /// # Errors
    /// Too large if the result does not fit the type's offsets.
    ///
    /// # Panics
    /// If there are no parts, their types differ, or a pick is out of bounds.
    pub fn gather(parts: &[&Column], picks: &[Pick], reuse: Option<Column>) -> Result<Column> {
        let (old_validity, old) = reuse.map(Column::into_parts).unzip();
        let data_type = parts[0].data_type.clone();
        let validity = gather_validity(parts, picks, old_validity.flatten());
        let values = match &parts[0].values {
            Values::Null => Values::Null,
            Values::Bits(_) => {
                let bits = parts.iter().map(|part| match &part.values {
                    Values::Bits(bits) => bits,
                    _ => panic!("parts of different types"),
                });
                Values::Bits(gather_bits(&bits.collect::<Vec<_>>(), picks))
            }
            Values::Fixed(_) => {
                let Physical::Fixed(width) = data_type.physical() else {
                    unreachable!("fixed values, fixed type")
                };
                let out = match old {
                    Some(Values::Fixed(buffer)) => buffer,
                    _ => Buffer::new(),
                };
                Values::Fixed(gather_fixed(&fixed_parts(parts), width, picks, out))
            }
            Values::Variable { .. } => {
                let (offsets, bytes) = gather_bytes::<i32>(parts, picks, old)?;
                Values::Variable { offsets, bytes }
            }
            Values::LargeVariable { .. } => {
                let (offsets, bytes) = gather_bytes::<i64>(parts, picks, old)?;
                Values::LargeVariable { offsets, bytes }
            }
            Values::List { .. } => {
                let (offsets, items) = gather_items::<i32>(parts, picks)?;
                Values::List { offsets, items }
            }
            Values::LargeList { .. } => {
                let (offsets, items) = gather_items::<i64>(parts, picks)?;
                Values::LargeList { offsets, items }
            }
            Values::FixedSizeList(_) => {
                let Physical::FixedSizeList(dimension) = data_type.physical() else {
                    unreachable!("list values, list type")
                };
                let old = match old {
                    Some(Values::FixedSizeList(items)) => Some(*items),
                    _ => None,
                };
                Values::FixedSizeList(Box::new(gather_runs(&children(parts), dimension, picks, old)?))
            }
            Values::Struct(fields) => {
                let gather_field = |i: usize| {
                    let inner: Vec<&Column> = parts.iter().map(|part| &part.children()[i]).collect();
                    Column::gather(&inner, picks, None)
                };
                Values::Struct((0..fields.len()).map(gather_field).collect::<Result<_>>()?)
            }
        };
        Ok(Column { data_type, len: picks.len(), validity, values })
    }
}

/// A row of one of several columns: the position of the column, and the row in it.
pub type Pick = (u32, u32);

fn children<'a>(parts: &[&'a Column]) -> Vec<&'a Column> {
    parts.iter().map(|part| part.child().expect("parts of one type")).collect()
}

fn fixed_parts<'a>(parts: &[&'a Column]) -> Vec<&'a [u8]> {
    let bytes = parts.iter().map(|part| match &part.values {
        Values::Fixed(buffer) => buffer.as_slice(),
        _ => panic!("parts of different types"),
    });
    bytes.collect()
}

fn gather_fixed(parts: &[&[u8]], width: usize, picks: &[Pick], mut out: Buffer) -> Buffer {
    fn copy<const N: usize>(parts: &[&[u8]], picks: &[Pick], out: &mut [u8]) {
        for (to, &(part, row)) in out.as_chunks_mut::<N>().0.iter_mut().zip(picks) {
            *to = parts[part as usize].as_chunks::<N>().0[row as usize];
        }
    }
    out.clear();
    let target = out.grow(picks.len() * width);
    match width {
        1 => copy::<1>(parts, picks, target),
        2 => copy::<2>(parts, picks, target),
        4 => copy::<4>(parts, picks, target),
        8 => copy::<8>(parts, picks, target),
        0 => {}
        _ => {
            for (to, &(part, row)) in target.chunks_exact_mut(width).zip(picks) {
                let start = row as usize * width;
                to.copy_from_slice(&parts[part as usize][start..start + width]);
            }
        }
    }
    out
}

/// As [`Column::gather`], for runs of `dimension` consecutive rows each.
fn gather_runs(parts: &[&Column], dimension: usize, picks: &[Pick], reuse: Option<Column>) -> Result<Column> {
    let first = parts[0];
    if let (Values::Fixed(_), Physical::Fixed(width)) = (&first.values, first.data_type.physical())
        && parts.iter().all(|part| part.validity.is_none())
    {
        let out = match reuse.map(|old| old.values) {
            Some(Values::Fixed(buffer)) => buffer,
            _ => Buffer::new(),
        };
        let values = gather_fixed(&fixed_parts(parts), dimension * width, picks, out);
        return Ok(Column::new(
            first.data_type.clone(),
            picks.len() * dimension,
            None,
            Values::Fixed(values),
        ));
    }
    let mut rows = Vec::with_capacity(picks.len() * dimension);
    for &(part, row) in picks {
        let start = row as usize * dimension;
        for row in start..start + dimension {
            rows.push((part, u32::try_from(row).map_err(|_| too_large())?));
        }
    }
    Column::gather(parts, &rows, None)
}

fn gather_bytes<O: Offset>(
    parts: &[&Column],
    picks: &[Pick],
    reuse: Option<Values>,
) -> Result<(Buffer, Buffer)> {
    let (mut offsets, mut out) = match reuse {
        Some(Values::Variable { offsets, bytes } | Values::LargeVariable { offsets, bytes }) => {
            (offsets, bytes)
        }
        _ => Default::default(),
    };
    offsets.clear();
    out.clear();
    let ends = offsets.grow_typed::<O>(picks.len() + 1);
    let mut total = 0;
    ends[0] = O::from_usize(0)?;
    let range = |&(part, row): &Pick| parts[part as usize].range(row as usize).unwrap_or_default();
    for (end, pick) in ends[1..].iter_mut().zip(picks) {
        total += range(pick).len();
        *end = O::from_usize(total)?;
    }
    out.reserve(total);
    for pick in picks {
        let (Values::Variable { bytes, .. } | Values::LargeVariable { bytes, .. }) =
            &parts[pick.0 as usize].values
        else {
            panic!("parts of different types")
        };
        out.extend_from_slice(&bytes.as_slice()[range(pick)]);
    }
    Ok((offsets, out))
}

fn gather_items<O: Offset>(parts: &[&Column], picks: &[Pick]) -> Result<(Buffer, Box<Column>)> {
    let mut offsets = Buffer::new();
    let ends = offsets.grow_typed::<O>(picks.len() + 1);
    let mut rows = Vec::new();
    ends[0] = O::from_usize(0)?;
    for (end, &(part, row)) in ends[1..].iter_mut().zip(picks) {
        for item in parts[part as usize].range(row as usize).unwrap_or_default() {
            rows.push((part, u32::try_from(item).map_err(|_| too_large())?));
        }
        *end = O::from_usize(rows.len())?;
    }
    Ok((offsets, Box::new(Column::gather(&children(parts), &rows, None)?)))
}

fn gather_validity(parts: &[&Column], picks: &[Pick], reuse: Option<Bitmap>) -> Option<Bitmap> {
    if parts.iter().all(|part| part.validity.is_none()) {
        return None;
    }
    let mut bits = BitmapBuilder::reuse(reuse.map(Bitmap::into_buffer).unwrap_or_default(), picks.len());
    for &(part, row) in picks {
        bits.append(parts[part as usize].validity.as_ref().is_none_or(|bits| bits.get(row as usize)));
    }
    bits.finish()
}

fn gather_bits(parts: &[&Bitmap], picks: &[Pick]) -> Bitmap {
    let mut bits = BitmapBuilder::default();
    for &(part, row) in picks {
        bits.append(parts[part as usize].get(row as usize));
    }
    bits.finish_all()
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
}

impl Offset for i32 {
    #[inline]
    fn from_usize(value: usize) -> Result<Self> {
        i32::try_from(value).map_err(|_| too_large())
    }
}

impl Offset for i64 {
    #[inline]
    fn from_usize(value: usize) -> Result<Self> {
        i64::try_from(value).map_err(|_| too_large())
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
    use crate::Field;
    use alloc::{sync::Arc, vec};

    fn texts(values: &[Option<&str>]) -> Column {
        let mut offsets = Buffer::new();
        let mut bytes = Buffer::new();
        let mut validity = BitmapBuilder::default();
        offsets.grow_typed::<i32>(1)[0] = 0;
        for value in values {
            bytes.extend_from_slice(value.unwrap_or_default().as_bytes());
            offsets.grow_typed::<i32>(1)[0] = bytes.len() as i32;
            validity.append(value.is_some());
        }
        Column::new(DataType::Utf8, values.len(), validity.finish(), Values::Variable { offsets, bytes })
    }

    #[test]
    fn gathers_text_with_nulls_and_duplicates() {
        let column = texts(&[Some("a"), None, Some("ccc"), Some("")]);
        let gathered = Column::gather(&[&column], &[(0, 2), (0, 2), (0, 1), (0, 0)], None).unwrap();
        assert_eq!(gathered, texts(&[Some("ccc"), Some("ccc"), None, Some("a")]));
        assert_eq!((gathered.str(1), gathered.null_count()), (Some("ccc"), 1));
    }

    #[test]
    fn gathers_lists_and_structs() {
        let items = Column::from_u64(&[1, 2, 3, 4]);
        let mut offsets = Buffer::new();
        offsets.grow_typed::<i32>(4).copy_from_slice(&[0, 2, 2, 4]);
        let field = |data_type| {
            Arc::new(Field {
                name: "item".into(),
                id: 1,
                data_type,
                nullable: true,
                metadata: Default::default(),
            })
        };
        let list = Column::new(
            DataType::List(field(DataType::UInt64)),
            3,
            None,
            Values::List { offsets, items: Box::new(items) },
        );
        let rows = Column::new(
            DataType::Struct(vec![field(list.data_type().clone())].into()),
            3,
            None,
            Values::Struct(vec![list]),
        );
        let gathered = Column::gather(&[&rows], &[(0, 2), (0, 1), (0, 0)], None).unwrap();
        let list = &gathered.children()[0];
        assert_eq!(list.child().unwrap().primitive::<u64>().unwrap(), [3, 4, 1, 2]);
        assert_eq!((list.range(0), list.range(1), list.range(2)), (Some(0..2), Some(2..2), Some(2..4)));
    }

    #[test]
    fn nulls_of_every_shape() {
        let vector = DataType::parse("fixed_size_list:float:4", Vec::new()).unwrap();
        let column = Column::nulls(&vector, 3);
        assert_eq!((column.null_count(), column.flat::<f32>().unwrap().len()), (3, 12));
    }
}
