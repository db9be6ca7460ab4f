//! The language of filters: what parses, how it is typed, what is refused and with which words.

mod fixtures;
mod limits;
mod parsing;
mod round_trip;
mod show;
mod typing;
mod wrong;

use lancet::{DataType, Field, Schema, TimeUnit};
use std::{cell::Cell, sync::Arc};

/// A schema with a column of every type, and some names that are hard to write.
pub(crate) fn schema() -> Schema {
    use DataType::*;
    let next = Cell::new(0);
    let field = |name: &str, data_type: DataType| {
        let id = next.replace(next.get() + 1);
        Arc::new(Field::new(name, id, data_type, true))
    };
    let utc = Some(Arc::from("UTC"));
    let pos = field("pos", Struct([field("lat", Float64), field("zip", Int32)].into()));
    let st = Struct([field("a", Int32), field("b", Utf8), pos].into());
    let mut schema = Schema::default();
    schema.fields = vec![
        field("id", Int64),
        field("i8", Int8),
        field("i16", Int16),
        field("i32", Int32),
        field("u8", UInt8),
        field("u32", UInt32),
        field("u64", UInt64),
        field("f16", Float16),
        field("f32", Float32),
        field("f64", Float64),
        field("bf16", BFloat16),
        field("dec", Decimal128(12, 2)),
        field("wide", Decimal256(50, 3)),
        field("flag", Boolean),
        field("s", Utf8),
        field("ls", LargeUtf8),
        field("bin", Binary),
        field("fsb", FixedSizeBinary(4)),
        field("dict", Dictionary(Arc::new(Int32), Arc::new(Utf8))),
        field("day", Date32),
        field("day64", Date64),
        field("t_s", Time32(TimeUnit::Second)),
        field("t_us", Time64(TimeUnit::Microsecond)),
        field("ts", Timestamp(TimeUnit::Microsecond, None)),
        field("ts_s", Timestamp(TimeUnit::Second, None)),
        field("ts_ns", Timestamp(TimeUnit::Nanosecond, None)),
        field("utc", Timestamp(TimeUnit::Microsecond, utc)),
        field("ny", Timestamp(TimeUnit::Microsecond, Some("America/New_York".into()))),
        field("dur", Duration(TimeUnit::Millisecond)),
        field("st", st),
        field("json", Json),
        field("what", Unknown("some.type".into())),
        field("a.b", Int32),
        field("order by", Int32),
        field("Twin", Int32),
        field("twin", Int64),
        field("TWIN", Utf8),
        field("Größe", Int32),
        field("l", List(field("item", Int32))),
        field("tags", List(field("item", Utf8))),
        field("v", FixedSizeList(field("item", Float32), 4)),
        field("people", List(field("item", Struct([field("name", Utf8), field("age", Int32)].into())))),
    ];
    schema
}
