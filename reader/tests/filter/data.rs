//! Random columns of every type, as plain values and as the library has them.

use super::judge::{Plain, plain};
use crate::{
    Result,
    expr::{ColumnRef, I256, Scalar},
    filter::{Input, Inputs, constants},
};
use half::{bf16, f16};
use lancet_format::{Bitmap, Buffer, Coded, Column, DataType, Field, Schema, TimeUnit};
use std::sync::Arc;

/// Random numbers of one seed (SplitMix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}

pub(super) const TEXTS: [&str; 18] = [
    "", "a", "ab", "Ab", "abc", "aXbXc", "äb", "日本", " x ", "10", "-5", "+7", "300", "abcabc", "ß", "%",
    "_", "1.5",
];

/// The columns that every table has: name and type.
pub(super) fn schema() -> Schema {
    use DataType::*;
    let zone = |name: &str| Some(Arc::from(name));
    let item = |data_type| Arc::new(Field::new("item", -1, data_type, true));
    let parts: Vec<Arc<Field>> =
        vec![Arc::new(Field::new("a", 101, Int32, true)), Arc::new(Field::new("b", 102, Utf8, true))];
    let columns = [
        ("i8", Int8),
        ("i16", Int16),
        ("i32", Int32),
        ("i64", Int64),
        ("u8", UInt8),
        ("u16", UInt16),
        ("u32", UInt32),
        ("u64", UInt64),
        ("f16", Float16),
        ("bf", BFloat16),
        ("f32", Float32),
        ("f64", Float64),
        ("d", Decimal128(10, 2)),
        ("w", Decimal256(50, 3)),
        ("flag", Boolean),
        ("t", Utf8),
        ("lt", LargeUtf8),
        ("dict", Dictionary(Arc::new(Int32), Arc::new(Utf8))),
        ("bin", Binary),
        ("fsb", FixedSizeBinary(2)),
        ("day", Date32),
        ("day64", Date64),
        ("clock", Time32(TimeUnit::Second)),
        ("clock64", Time64(TimeUnit::Nanosecond)),
        ("ts_s", Timestamp(TimeUnit::Second, None)),
        ("ts_us", Timestamp(TimeUnit::Microsecond, None)),
        ("ts_utc", Timestamp(TimeUnit::Microsecond, zone("UTC"))),
        ("ts_ny", Timestamp(TimeUnit::Millisecond, zone("America/New_York"))),
        ("list", List(item(Int32))),
        ("words", LargeList(item(Utf8))),
        ("pair", FixedSizeList(item(Float32), 2)),
        ("st", Struct(parts.into())),
    ];
    let fields = columns
        .into_iter()
        .zip(0..)
        .map(|((name, data_type), id)| Arc::new(Field::new(name, id, data_type, true)));
    let mut schema = Schema::default();
    schema.fields = fields.collect();
    schema
}

/// A value that is not NULL.
fn scalar(random: &mut Random, data_type: &DataType) -> Scalar {
    use DataType::*;
    let signed = |random: &mut Random, bits: u32| {
        let (least, most) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
        let small = random.below(7) as i64 - 3;
        random.pick(&[small, small, small, 0, 10, least, most, most - 1])
    };
    let unsigned = |random: &mut Random, bits: u32| {
        let most = u64::MAX >> (64 - bits);
        let small = random.below(6) as u64;
        random.pick(&[small, small, small, 0, 10, most, most - 1])
    };
    let float = |random: &mut Random| {
        let small = random.below(9) as f64 / 2.0 - 2.0;
        random.pick(&[
            small,
            small,
            small,
            0.0,
            -0.0,
            0.1,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            -f64::NAN,
            1e30,
        ])
    };
    let instant = |random: &mut Random| {
        // From 1901 to 2096, and the nights in which the clocks of New York are changed.
        let any = random.next() as i64 % 4_000_000_000 / 2;
        random.pick(&[0, -1, any, any, 1_700_000_000, 1_710_054_000, 1_730_613_600, 1_730_617_200])
    };
    match data_type {
        Boolean => Scalar::Boolean(random.one_in(2)),
        Int8 => Scalar::Int(signed(random, 8)),
        Int16 => Scalar::Int(signed(random, 16)),
        Int32 => Scalar::Int(signed(random, 32)),
        Int64 => Scalar::Int(signed(random, 64)),
        UInt8 => Scalar::UInt(unsigned(random, 8)),
        UInt16 => Scalar::UInt(unsigned(random, 16)),
        UInt32 => Scalar::UInt(unsigned(random, 32)),
        UInt64 => Scalar::UInt(unsigned(random, 64)),
        Float16 => Scalar::Float16(f16::from_f64(float(random))),
        BFloat16 => Scalar::BFloat16(bf16::from_f64(float(random))),
        Float32 => Scalar::Float32(float(random) as f32),
        Float64 => Scalar::Float64(float(random)),
        Decimal128(..) => {
            Scalar::Decimal128(random.pick(&[0, 1, -150, 250, 100, 9_999_999_999, -9_999_999_999]))
        }
        Decimal256(..) => {
            Scalar::Decimal256(I256::from(random.pick(&[0i128, 1000, -1500, 2500, 10i128.pow(30), 7])))
        }
        Date32 => Scalar::Int(instant(random) / 86_400),
        Date64 => Scalar::Int(instant(random).div_euclid(86_400) * 86_400_000),
        Time32(_) => Scalar::Int(random.below(86_400) as i64),
        Time64(_) => {
            Scalar::Int(random.below(86_400) as i64 * 1_000_000_000 + random.pick(&[0, 1, 999_999_999]))
        }
        Timestamp(unit, _) => {
            let per_second = 10i64.pow(unit.digits() as u32);
            let fraction = random.below(per_second as usize) as i64;
            Scalar::Int(instant(random) * per_second + random.pick(&[0, fraction]))
        }
        Utf8 | LargeUtf8 => Scalar::Text(random.pick(&TEXTS).into()),
        Binary => Scalar::Binary(random.pick(&[&b""[..], b"\0", b"ab", b"\xff"]).into()),
        FixedSizeBinary(_) => Scalar::Binary(random.pick(&[b"\0\0", b"ab", b"\xff\xff"]).as_slice().into()),
        List(item) | LargeList(item) => {
            let count = random.below(4);
            Scalar::List((0..count).map(|_| nullable(random, &item.data_type)).collect())
        }
        FixedSizeList(item, dimension) => {
            Scalar::List((0..*dimension).map(|_| nullable(random, &item.data_type)).collect())
        }
        Dictionary(_, values) => scalar(random, values),
        other => panic!("no values of {other}"),
    }
}

fn nullable(random: &mut Random, data_type: &DataType) -> Scalar {
    if random.one_in(4) { Scalar::Null } else { scalar(random, data_type) }
}

/// A table: the values of each column, and the columns as inputs.
pub(super) struct Table {
    pub(super) schema: Schema,
    pub(super) rows: usize,
    values: Vec<Vec<Plain>>,
    inputs: Vec<Input>,
    /// How often a column was asked for.
    pub(super) asked: usize,
    columns: Vec<ColumnRef>,
    found: Vec<Option<Input>>,
}

impl Table {
    pub(super) fn new(random: &mut Random) -> Self {
        let schema = schema();
        let rows = random.pick(&[1, 7, 63, 64, 65, 130]);
        let (mut values, mut inputs) = (Vec::new(), Vec::new());
        for field in &schema.fields {
            let (plain, input) = column(random, &field.data_type, rows);
            values.push(plain);
            inputs.push(input);
        }
        let (columns, found) = Default::default();
        Table { schema, rows, values, inputs, asked: 0, columns, found }
    }

    /// Which columns are asked for by number.
    pub(super) fn bind(&mut self, columns: &[ColumnRef]) {
        self.columns = columns.to_vec();
        self.found = columns.iter().map(|_| None).collect();
    }

    /// The value of a column for a row.
    pub(super) fn value(&self, column: &ColumnRef, row: usize) -> Plain {
        match column {
            ColumnRef::Field(path) => {
                let mut value = self.values[path[0].id as usize][row].clone();
                for pair in path.windows(2) {
                    let children = pair[0].data_type.children();
                    let index = children.iter().position(|child| child.id == pair[1].id).expect("a child");
                    value = match value {
                        Plain::Struct(fields) => fields[index].clone(),
                        _ => Plain::Null,
                    };
                }
                value
            }
            _ => Plain::Int(row as i128),
        }
    }
}

impl Inputs for Table {
    fn rows(&self) -> usize {
        self.rows
    }

    fn column(&mut self, index: usize) -> Result<&Input> {
        if self.found[index].is_none() {
            self.asked += 1;
            self.found[index] = Some(match &self.columns[index] {
                ColumnRef::Field(path) => {
                    let input = &self.inputs[path[0].id as usize];
                    match (input, &path[1..]) {
                        (Input::Plain(column), [child]) => {
                            let children = path[0].data_type.children();
                            let index =
                                children.iter().position(|known| known.id == child.id).expect("a child");
                            Input::Plain(Arc::new((**column).clone().into_child(index)))
                        }
                        (Input::Plain(column), _) => Input::Plain(column.clone()),
                        (Input::Coded(coded), _) => Input::Coded(coded.clone()),
                    }
                }
                _ => Input::Plain(Arc::new(Column::from_u64(&(0..self.rows as u64).collect::<Vec<_>>()))),
            });
        }
        Ok(self.found[index].as_ref().expect("it was just found"))
    }
}

/// Random values of a type, plainly or by number of a distinct value.
fn column(random: &mut Random, data_type: &DataType, rows: usize) -> (Vec<Plain>, Input) {
    let nulls = random.pick(&[0, 3, 10]);
    let is_null = |random: &mut Random| nulls > 0 && random.one_in(nulls);
    if let DataType::Struct(fields) = data_type {
        let children: Vec<_> = fields.iter().map(|field| column(random, &field.data_type, rows)).collect();
        let valid: Vec<bool> = (0..rows).map(|_| !is_null(random)).collect();
        let values = (0..rows).map(|row| match valid[row] {
            true => Plain::Struct(children.iter().map(|(values, _)| values[row].clone()).collect()),
            false => Plain::Null,
        });
        let values = values.collect();
        let children = children.into_iter().map(|(_, input)| match input {
            Input::Plain(column) => (*column).clone(),
            Input::Coded(coded) => decoded(&coded),
        });
        let column = Column::structs(data_type, rows, Some(bitmap(&valid)), children.collect()).unwrap();
        return (values, Input::Plain(Arc::new(column)));
    }
    if random.one_in(2) && data_type.children().is_empty() {
        let count = 1 + random.below(6);
        let items: Vec<Scalar> = (0..count).map(|_| scalar(random, data_type)).collect();
        let codes: Vec<u32> = (0..rows).map(|_| random.below(count) as u32).collect();
        let valid: Vec<bool> = (0..rows).map(|_| !is_null(random)).collect();
        let values = codes.iter().zip(&valid).map(|(&code, valid)| match valid {
            true => plain(&items[code as usize]),
            false => Plain::Null,
        });
        let values = values.collect();
        let validity = (!valid.iter().all(|valid| *valid)).then(|| bitmap(&valid));
        let items = Arc::new(typed(&items, data_type));
        return (values, Input::Coded(Arc::new(Coded::new(codes, items, validity))));
    }
    let scalars: Vec<Scalar> =
        (0..rows).map(|_| if is_null(random) { Scalar::Null } else { scalar(random, data_type) }).collect();
    let column = typed(&scalars, data_type);
    (scalars.iter().map(plain).collect(), Input::Plain(Arc::new(column)))
}

fn typed(scalars: &[Scalar], data_type: &DataType) -> Column {
    constants(scalars, data_type).unwrap().with_type(data_type).unwrap()
}

fn bitmap(bits: &[bool]) -> Bitmap {
    let mut bytes = vec![0; bits.len().div_ceil(8)];
    bits.iter().enumerate().filter(|(_, bit)| **bit).for_each(|(i, _)| bytes[i / 8] |= 1 << (i % 8));
    Bitmap::new(Buffer::copy_of(&bytes), bits.len())
}

fn decoded(coded: &Coded) -> Column {
    let null = Column::nulls(coded.items.data_type(), 1);
    let valid = |row: usize| coded.validity.as_ref().is_none_or(|bits| bits.get(row));
    let pick = |(row, &code): (usize, &u32)| if valid(row) { (0, code) } else { (1, 0) };
    let picks: Vec<_> = coded.codes.iter().enumerate().map(pick).collect();
    Column::gather(&[&coded.items, &null], &picks, None).unwrap()
}

/// The value of a row of a column.
pub(super) fn read(column: &Column, row: usize) -> Plain {
    use DataType::*;
    if column.is_null(row) {
        return Plain::Null;
    }
    let bytes = column.bytes(row).unwrap_or_default();
    let integer = |signed: bool| {
        let mut wide = [if signed && bytes.last().is_some_and(|last| *last > 127) { 0xff } else { 0 }; 16];
        wide[..bytes.len().min(16)].copy_from_slice(&bytes[..bytes.len().min(16)]);
        i128::from_le_bytes(wide)
    };
    match column.data_type() {
        Boolean => Plain::Bool(column.boolean(row).unwrap()),
        UInt8 | UInt16 | UInt32 | UInt64 => Plain::Int(integer(false)),
        Float16 => Plain::Float(f16::from_bits(integer(false) as u16).to_f64()),
        BFloat16 => Plain::Float(bf16::from_bits(integer(false) as u16).to_f64()),
        Float32 => Plain::Float(f32::from_bits(integer(false) as u32).into()),
        Float64 => Plain::Float(f64::from_bits(integer(false) as u64)),
        Decimal128(..) | Decimal256(..) => Plain::Decimal(integer(true)),
        Utf8 | LargeUtf8 => Plain::Text(column.str(row).unwrap().into()),
        Binary | LargeBinary | FixedSizeBinary(_) => Plain::Bytes(bytes.to_vec()),
        List(_) | LargeList(_) | FixedSizeList(..) => {
            let items = column.child().unwrap();
            Plain::List(column.range(row).unwrap().map(|item| read(items, item)).collect())
        }
        Struct(_) => Plain::Struct(column.children().iter().map(|child| read(child, row)).collect()),
        _ => Plain::Int(integer(true)),
    }
}
