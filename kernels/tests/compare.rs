//! Comparisons into masks, with every instruction set, against what the operators mean.

mod common;

use common::{Random, some, with_each_isa};
use half::f16;
use lancet_kernels::compare::{self, Float, Item, Op, Set};
use std::{cmp::Ordering, fmt::Debug, ops::Bound};

/// A type with its order as the plain definition has it, and values that are apt to go wrong.
trait Sample: Item + Debug + bytemuck::Pod {
    fn order(self, other: Self) -> Ordering;
    fn edges() -> Vec<Self>;
    fn draw(random: &mut Random) -> Self {
        let mut value = Self::zeroed();
        for byte in bytemuck::bytes_of_mut(&mut value) {
            *byte = random.word() as u8;
        }
        value
    }
}

macro_rules! integers {
    ($($t:ty)*) => {
        $(impl Sample for $t {
            fn order(self, other: Self) -> Ordering {
                self.cmp(&other)
            }
            fn edges() -> Vec<Self> {
                vec![<$t>::MIN, <$t>::MIN + 1, 0, 1, 2, (0 as $t).wrapping_sub(1), <$t>::MAX - 1, <$t>::MAX]
            }
        })*
    };
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($t:ty, $nan:expr;)*) => {
        $(impl Sample for $t {
            fn order(self, other: Self) -> Ordering {
                if self == other { Ordering::Equal } else { self.total_cmp(&other) }
            }
            fn edges() -> Vec<Self> {
                let mut edges = Vec::new();
                for bits in [0, 1, 2, <$t>::MIN_POSITIVE.to_bits(), <$t>::MAX.to_bits(), $nan, $nan | 1, $nan >> 1 | $nan & 1] {
                    edges.push(<$t>::from_bits(bits));
                    edges.push(-<$t>::from_bits(bits));
                }
                for of_sign in [<$t>::INFINITY, <$t>::NEG_INFINITY] {
                    edges.push(of_sign);
                }
                edges
            }
        })*
    };
}
floats!(f16, 0x7e00; f32, 0x7fc0_0000; f64, 0x7ff8_0000_0000_0000;);

impl Sample for [u8; 16] {
    fn order(self, other: Self) -> Ordering {
        i128::from_le_bytes(self).cmp(&i128::from_le_bytes(other))
    }
    fn edges() -> Vec<Self> {
        [i128::MIN, -1, 0, 1, 1 << 64, -1 << 64, i128::MAX].map(i128::to_le_bytes).into()
    }
}

impl Sample for [u8; 32] {
    fn order(self, other: Self) -> Ordering {
        let sign = |bytes: &[u8; 32]| bytes[31] >= 0x80;
        sign(&other).cmp(&sign(&self)).then_with(|| self.iter().rev().cmp(other.iter().rev()))
    }
    fn edges() -> Vec<Self> {
        let mut edges = vec![[0; 32], [0xff; 32]];
        for i in [0, 15, 16, 31] {
            edges.extend([1, 0x7f, 0x80].map(|byte| {
                let mut bytes = [0; 32];
                bytes[i] = byte;
                bytes
            }));
        }
        edges
    }
}

/// Values of which some are edges, some are `near`, and some are anything.
fn column<T: Sample>(random: &mut Random, len: usize, near: &[T]) -> Vec<T> {
    let edges = T::edges();
    (0..len)
        .map(|_| match random.below(3) {
            0 => random.pick(&edges),
            1 => random.pick(near),
            _ => T::draw(random),
        })
        .collect()
}

/// The mask of `rows` rows by its definition.
fn expected(rows: usize, holds: impl Fn(usize) -> bool) -> Vec<u64> {
    let mut mask = vec![0; rows.div_ceil(64)];
    for row in (0..rows).filter(|&row| holds(row)) {
        mask[row / 64] |= 1 << (row % 64);
    }
    mask
}

/// A mask of ones, so that a word that is not written shows.
fn mask(rows: usize) -> Vec<u64> {
    vec![!0; rows.div_ceil(64)]
}

fn check_all<T: Sample>(isa: impl Debug, left: &[T], right: &[T], literals: [T; 2]) {
    let rows = left.len();
    let mut got = mask(rows);
    let [literal, other] = literals;
    for op in Op::ALL {
        compare::literal(op, left, literal, &mut got);
        let want = expected(rows, |i| op.holds(left[i].order(literal)));
        assert_eq!(got, want, "{isa:?} {op:?} {literal:?}: {left:?}");

        compare::columns(op, left, right, &mut got);
        let want = expected(rows, |i| op.holds(left[i].order(right[i])));
        assert_eq!(got, want, "{isa:?} {op:?}: {left:?} {right:?}");
    }
    for low in [Bound::Included(literal), Bound::Excluded(literal), Bound::Unbounded] {
        for high in [Bound::Included(other), Bound::Excluded(other), Bound::Unbounded] {
            compare::range(left, (low, high), &mut got);
            let want = expected(rows, |i| is_within(left[i], low, high));
            assert_eq!(got, want, "{isa:?} {low:?} {high:?}: {left:?}");
        }
    }
}

fn is_within<T: Sample>(value: T, low: Bound<T>, high: Bound<T>) -> bool {
    let above = match low {
        Bound::Included(low) => value.order(low).is_ge(),
        Bound::Excluded(low) => value.order(low).is_gt(),
        Bound::Unbounded => true,
    };
    above
        && match high {
            Bound::Included(high) => value.order(high).is_le(),
            Bound::Excluded(high) => value.order(high).is_lt(),
            Bound::Unbounded => true,
        }
}

/// Every length up to 200 from every start within eight values, and every edge as a literal.
fn operators<T: Sample>() {
    with_each_isa(|isa| {
        let mut random = Random(1);
        let edges = T::edges();
        for len in some(0..=200) {
            let literals = match random.below(2) {
                0 => [random.pick(&edges), T::draw(&mut random)],
                _ => [T::draw(&mut random), random.pick(&edges)],
            };
            let near = column(&mut random, 20, &literals);
            let (left, right) = (column(&mut random, 8 + len, &near), column(&mut random, 8 + len, &near));
            let (start, other) = (random.below(8), random.below(8));
            check_all(isa, &left[start..][..len], &right[other..][..len], literals);
        }
        let column = column(&mut random, if cfg!(miri) { 70 } else { 600 }, &edges);
        for &literal in &edges {
            for &other in edges.iter().step_by(if cfg!(miri) { 5 } else { 1 }) {
                check_all(isa, &edges, &column[..edges.len()], [literal, other]);
            }
            check_all(isa, &column, &column, [literal, T::draw(&mut random)]);
        }
    });
}

fn sets<T: Sample>() {
    with_each_isa(|isa| {
        let mut random = Random(2);
        for members in some([0, 1, 2, 3, 31, 63, 64, 65, 100, 500]) {
            let mut list = column(&mut random, members, &T::edges());
            let rows = if cfg!(miri) { 70 } else { 1000 };
            let values = column(&mut random, rows + members, &T::edges());
            list.extend(values.iter().take(members / 4));
            let set = Set::new(list.iter().copied());
            let mut got = mask(values.len());
            set.contains(&values, &mut got);
            let want = expected(values.len(), |i| list.iter().any(|member| member.order(values[i]).is_eq()));
            assert_eq!(got, want, "{isa} {members} members");
            assert!(set.len() <= list.len() && set.is_empty() == list.is_empty());
        }
    });
}

fn nans<T: Sample + Float>(is_nan: impl Fn(T) -> bool) {
    with_each_isa(|isa| {
        let values = column(&mut Random(3), 300, &T::edges());
        let mut got = mask(300);
        compare::not_a_number(&values, &mut got);
        assert_eq!(got, expected(300, |i| is_nan(values[i])), "{isa}");
    });
}

/// Nothing beyond either end of a column is read, and nothing beyond a mask written.
#[cfg(all(unix, not(miri)))]
fn guarded<T: Sample>() {
    use common::guarded::Pages;
    with_each_isa(|isa| {
        let mut random = Random(4);
        let [mut left_pages, mut right_pages, mut mask_pages] = [(); 3].map(|()| Pages::new(1 << 13));
        for len in (0..=70).chain([127, 128, 129, 200]) {
            let left = column(&mut random, len, &T::edges());
            let right = column(&mut random, len, &T::edges());
            let literal = T::draw(&mut random);
            let want = expected(len, |i| left[i].order(right[i]).is_lt());
            for place in [Pages::at_start::<T>, Pages::at_end::<T>] {
                let left = place(&mut left_pages, &left);
                let right = place(&mut right_pages, &right);
                let got = mask_pages.at_end(&mask(len));
                compare::literal(Op::Le, left, literal, got);
                compare::columns(Op::Eq, left, right, got);
                Set::new([literal]).contains(left, got);
                compare::columns(Op::Lt, left, right, got);
                assert_eq!(got, want, "{isa} {len}");
            }
        }
    });
}

macro_rules! each_type {
    ($($name:ident $t:ty;)*) => {
        $(mod $name {
            #[test]
            fn operators() {
                super::operators::<$t>();
            }

            #[test]
            fn sets() {
                super::sets::<$t>();
            }

            #[cfg(all(unix, not(miri)))]
            #[test]
            fn guarded() {
                super::guarded::<$t>();
            }
        })*
    };
}
each_type! {
    of_i8 i8; of_i16 i16; of_i32 i32; of_i64 i64;
    of_u8 u8; of_u16 u16; of_u32 u32; of_u64 u64;
    of_f16 half::f16; of_f32 f32; of_f64 f64;
    of_decimal128 [u8; 16]; of_decimal256 [u8; 32];
}

/// Values that are drawn, and made plainer where they fail; too many for Miri.
#[cfg(not(miri))]
mod drawn {
    use super::*;
    use proptest::{collection::vec, prelude::*, sample::Index};

    macro_rules! any_values {
        ($($name:ident $t:ty, $values:expr;)*) => {
            proptest! {
                #![proptest_config(ProptestConfig::with_cases(50))]
                $(#[test]
                fn $name(
                    rows in vec(($values, $values), 0..300),
                    literals in [$values, $values],
                    picked in any::<Option<[Index; 2]>>(),
                ) {
                    let (left, right): (Vec<$t>, Vec<$t>) = rows.into_iter().unzip();
                    let literals = match picked {
                        Some(picked) if !left.is_empty() => picked.map(|index| *index.get(&left)),
                        _ => literals,
                    };
                    with_each_isa(|isa| check_all(isa, &left, &right, literals));
                })*
            }
        };
    }
    any_values! {
        any_i8 i8, any::<i8>();
        any_u16 u16, any::<u16>();
        any_i32 i32, any::<i32>();
        any_u64 u64, any::<u64>();
        any_f16 f16, any::<u16>().prop_map(f16::from_bits);
        any_f32 f32, proptest::num::f32::ANY;
        any_f64 f64, proptest::num::f64::ANY;
        any_decimal128 [u8; 16], any::<[u8; 16]>();
        any_decimal256 [u8; 32], any::<[u8; 32]>();
    }
}

#[test]
fn not_a_number() {
    nans(f16::is_nan);
    nans(f32::is_nan);
    nans(f64::is_nan);
}

#[test]
fn ranges_as_they_are_written() {
    let values = [1, 2, 3, 4, 5];
    let bits = |range: &dyn Fn(&mut [u64])| {
        let mut mask = [!0];
        range(&mut mask);
        mask[0]
    };
    assert_eq!(bits(&|mask| compare::range(&values, 2..4, mask)), 0b00110);
    assert_eq!(bits(&|mask| compare::range(&values, 2..=4, mask)), 0b01110);
    assert_eq!(bits(&|mask| compare::range(&values, ..2, mask)), 0b00001);
    assert_eq!(bits(&|mask| compare::range(&values, 4.., mask)), 0b11000);
    assert_eq!(bits(&|mask| compare::range(&values, .., mask)), 0b11111);
    assert_eq!(bits(&|mask| compare::range(&values, (Bound::Included(4), Bound::Excluded(2)), mask)), 0);
}

#[test]
fn relations_turned_around() {
    for op in Op::ALL {
        for (a, b) in [(1, 2), (2, 2), (3, 2)] {
            assert_eq!(op.holds(a.cmp(&b)), op.swapped().holds(b.cmp(&a)), "{op:?}");
            assert_eq!(op.holds(a.cmp(&b)), !op.negated().holds(a.cmp(&b)), "{op:?}");
        }
    }
}

#[test]
#[should_panic(expected = "words of a mask of 65 rows")]
fn mask_too_short() {
    compare::literal(Op::Eq, &[0u8; 65], 0, &mut [0]);
}

#[test]
#[should_panic(expected = "rows of two columns")]
fn columns_of_two_lengths() {
    compare::columns(Op::Eq, &[0u8; 65], &[0u8; 64], &mut [0; 2]);
}
