//! Gathering: chosen rows of one or several columns, in any order, each as often as it is named.

use super::{Column, Offset, Values, too_large};
use crate::{Bitmap, Buffer, Physical, Result, bitmap::BitmapBuilder};
use alloc::{boxed::Box, vec::Vec};

impl Column {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataType, Field};
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
}
