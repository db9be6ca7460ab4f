//! How filters are typed: names, literals, common types, constants, what can fail.

use crate::{schema, show::typed};
use lancet::expr::{ColumnRef, Comparison, Expr, Node, Scalar};

fn check(cases: &[(&str, &str)]) {
    for (filter, expected) in cases {
        assert_eq!(typed(filter), *expected, "{filter}");
    }
}

#[test]
fn names_are_found_exactly_first_and_then_without_case() {
    check(&[
        ("ID = 1", "(id = 1:int64)"),
        ("twin = 1", "(twin = 1:int64)"),
        ("Twin = 1", "(Twin = 1:int32)"),
        ("größe = 1", "(Größe = 1:int32)"),
        ("`order by` = 1", "(order by = 1:int32)"),
        ("a.b = 1", "(a.b = 1:int32)"),
        ("`a.b` = 1", "(a.b = 1:int32)"),
        ("st.pos.zip = 1", "(st/pos/zip = 1:int32)"),
        ("ST.`POS`.Lat = 1", "(st/pos/lat = 1.0:float64)"),
        ("st['pos']['zip'] = 1", "(st/pos/zip = 1:int32)"),
        ("st['pos'].zip IS NULL", "(st/pos/zip is Null)"),
        ("people[1].age = 7", "(Element(people, 1:int64).1 = 7:int32)"),
        ("_rowid = 1 AND _rowaddr < 2", "((RowId = 1:uint64) and (RowAddress < 2:uint64))"),
        ("_row_created_at_version = 1", "(CreatedAtVersion = 1:uint64)"),
    ]);
}

#[test]
fn literals_take_the_type_of_their_column() {
    check(&[
        ("i8 = -128", "(i8 = -128:int8)"),
        ("5 > i8", "(i8 < 5:int8)"),
        ("5 = i8", "(i8 = 5:int8)"),
        ("u64 = 18446744073709551615", "(u64 = 18446744073709551615:uint64)"),
        ("f32 = 0.1", "(f32 = 0.1:float32)"),
        ("f64 = 1", "(f64 = 1.0:float64)"),
        ("f16 > 0.1", "(f16 > 0.099975586:float16)"),
        ("bf16 = 1.5", "(bf16 = 1.5:bfloat16)"),
        ("dec = 12.34", "(dec = 1234:decimal128(12, 2))"),
        ("dec < -1", "(dec < -100:decimal128(12, 2))"),
        ("wide = 1.5", "(wide = 1500:decimal256(50, 3))"),
        ("ls = 'x'", "(ls = 'x':large_utf8)"),
        ("dict = 'x'", "(dict = 'x':utf8)"),
        ("bin = X'61'", "(bin = [61]:binary)"),
        ("fsb < X'01020304'", "(fsb < [01, 02, 03, 04]:fixed_size_binary(4))"),
        ("flag = false", "(flag = false:bool)"),
        ("day = DATE '1970-01-02'", "(day = 1:date32)"),
        ("day64 = DATE '1970-01-02'", "(day64 = 86400000:date64)"),
        ("t_s = TIME '00:01'", "(t_s = 60:time32(s))"),
        ("t_us < TIME '00:00:01.5'", "(t_us < 1500000:time64(us))"),
        ("f32 IN (0.1, 2)", "(f32 in [0.1, 2.0])"),
        ("f32 BETWEEN 0.1 AND 2", "(f32 between 0.1:float32, 2.0:float32)"),
        ("array_has(l, 7)", "ArrayHas(l, 7:int32)"),
        ("array_has_any(tags, ['a', NULL])", "ArrayHasAny(tags, ['a', NULL]:list<utf8>)"),
        ("array_has(tags, NULL)", "ArrayHas(tags, NULL:utf8)"),
    ]);
}

#[test]
fn times_are_local_to_the_zone_of_their_column_unless_they_say_otherwise() {
    check(&[
        ("ts = TIMESTAMP '2020-01-05 00:00:00'", "(ts = 1578182400000000:timestamp(us))"),
        ("ts = TIMESTAMP '2020-01-05T00:00:00Z'", "(ts = 1578182400000000:timestamp(us))"),
        ("ts = TIMESTAMP '2020-01-05 01:00:00+01:00'", "(ts = 1578182400000000:timestamp(us))"),
        ("ts = DATE '2020-01-05'", "(ts = 1578182400000000:timestamp(us))"),
        ("utc = TIMESTAMP '2020-01-05'", "(utc = 1578182400000000:timestamp(us, UTC))"),
        ("ny = TIMESTAMP '2020-01-05'", "(ny = 1578200400000000:timestamp(us, America/New_York))"),
        ("ny = TIMESTAMP '2020-01-05 00:00:00Z'", "(ny = 1578182400000000:timestamp(us, America/New_York))"),
    ]);
}

#[test]
fn a_literal_between_two_values_compares_exactly() {
    check(&[
        ("ts_s = TIMESTAMP '1970-01-01 00:00:07.5'", "(ts_s in [])"),
        ("ts_s != TIMESTAMP '1970-01-01 00:00:07.5'", "(ts_s not in [])"),
        ("ts_s >= TIMESTAMP '1970-01-01 00:00:07.5'", "(ts_s > 7:timestamp(s))"),
        ("ts_s > TIMESTAMP '1970-01-01 00:00:07.5'", "(ts_s > 7:timestamp(s))"),
        ("ts_s < TIMESTAMP '1969-12-31 23:59:59.5'", "(ts_s <= -1:timestamp(s))"),
        ("TIMESTAMP '1970-01-01 00:00:07.5' >= ts_s", "(ts_s <= 7:timestamp(s))"),
        ("ts_s IN (TIMESTAMP '1970-01-01 00:00:07.5', TIMESTAMP '1970-01-01 00:00:08')", "(ts_s in [8])"),
        (
            "ts_s BETWEEN TIMESTAMP '1970-01-01 00:00:07.5' AND TIMESTAMP '1970-01-01 00:00:09.5'",
            "(ts_s between 8:timestamp(s), 9:timestamp(s))",
        ),
        ("day < TIMESTAMP '1970-01-02 12:00:00'", "(day <= 1:date32)"),
        ("dec = 1.001", "(dec in [])"),
        ("dec <= -1.001", "(dec <= -101:decimal128(12, 2))"),
    ]);
}

#[test]
fn columns_of_different_types_meet_in_a_common_one() {
    check(&[
        ("i8 = i32", "(i8::int32 = i32)"),
        ("u8 = i8", "(u8::int16 = i8::int16)"),
        ("u32 < i8", "(u32::int64 < i8::int64)"),
        ("u64 = id", "(u64::decimal128(20, 0) = id::decimal128(20, 0))"),
        ("i32 = f32", "(i32::float32 = f32)"),
        ("f32 = f64", "(f32::float64 = f64)"),
        ("f16 = f32", "(f16::float32 = f32)"),
        ("dec = i8", "(dec = i8::decimal128(12, 2))"),
        ("dec = wide", "(dec::decimal256(50, 3) = wide)"),
        ("dec > f64", "(dec::float64 > f64)"),
        ("s = ls", "(s = ls)"),
        ("dict = s", "(dict = s)"),
        ("bin = fsb", "(bin = fsb)"),
        ("utc = ny", "(utc = ny)"),
        ("ts_s = ts", "(ts_s::timestamp(us)! = ts)"),
        ("day < ts", "(day::timestamp(us)! < ts)"),
        ("i8 BETWEEN i32 AND 1.5 * 2", "(i8::int32 between i32, 3:int32)"),
        ("i8 BETWEEN i32 AND 1.5 * 3", "(i8::float64 between i32::float64, 4.5:float64)"),
        ("i8 IN (1, i32)", "(i8::int32 in [1, i32])"),
    ]);
}

#[test]
fn constants_are_computed() {
    check(&[
        ("1 = 1", "true:bool"),
        ("1 + 2 * 3 = 7.0", "true:bool"),
        ("id = 1 + 1", "(id = 2:int64)"),
        ("i8 = 1 + 1", "(i8 = 2:int8)"),
        ("i8 = 100 + 100", "(i8::int64 = 200:int64)"),
        ("i16 = CAST('7' AS INT)", "(i16 = 7:int16)"),
        ("f32 = CAST('-NaN' AS DOUBLE)", "(f32 = NaN:float32)"),
        ("f32 < CAST(0.1 AS DOUBLE)", "(f32::float64 < 0.1:float64)"),
        (
            "fsb = arrow_cast(X'01020304', 'FixedSizeBinary(4)')",
            "(fsb = [01, 02, 03, 04]:fixed_size_binary(4))",
        ),
        ("dec = CAST('12.345' AS DECIMAL(12, 2))", "(dec = 1235:decimal128(12, 2))"),
        ("ts > to_timestamp('2020-01-05')", "(ts > 1578182400000000:timestamp(us))"),
        ("ts > CAST('2020-01-05' AS TIMESTAMP)", "(ts > 1578182400000000:timestamp(us))"),
        ("TRUE AND flag", "flag"),
        ("flag OR 1 = 1", "true:bool"),
        ("flag AND 1 = 2 AND 1 / 0 = 1", "false:bool"),
        ("NOT (1 = 2)", "true:bool"),
        ("NULL IS NULL", "true:bool"),
        ("-(5) = id", "(id = -5:int64)"),
    ]);
    // What would be an error is left to where it is asked for.
    check(&[
        ("1 / 0 = 1", "((1:int64 / 0:int64)! = 1:int64)"),
        ("CAST('a' AS INT) = 1", "('a':utf8::int32! = 1:int32)"),
    ]);
}

#[test]
fn null_is_a_third_truth_value() {
    check(&[
        ("id = NULL", "NULL:bool"),
        ("NOT (id = NULL)", "NULL:bool"),
        ("id IN (NULL)", "NULL:bool"),
        ("id IN (1, NULL, 1)", "(id in [1, NULL])"),
        ("id NOT IN (1, NULL)", "(id not in [1, NULL])"),
        ("id BETWEEN NULL AND 2", "(id between NULL:int64, 2:int64)"),
        ("3 BETWEEN NULL AND 2", "false:bool"),
        ("1 IN (2, NULL)", "NULL:bool"),
        ("1 NOT IN (1, NULL)", "false:bool"),
        ("flag AND NULL", "(flag and NULL:bool)"),
        ("NULL + 1 = 2", "NULL:bool"),
        ("x'' = NULL", "NULL:bool"),
    ]);
}

#[test]
fn what_can_fail_comes_last() {
    check(&[
        ("id / i8 = 1 AND flag", "(flag and ((id / i8::int64)! = 1:int64))"),
        (
            "CAST(s AS INT) = 1 OR flag OR id % i8 = 0",
            "(flag or (s::int32! = 1:int32) or ((id % i8::int64)! = 0:int64))",
        ),
        ("id / 2 = 1 AND flag", "(((id / 2:int64) = 1:int64) and flag)"),
        ("f64 / f32 = 1 AND flag", "(((f64 / f32::float64) = 1.0:float64) and flag)"),
        ("dec + 1 = 2", "((dec + 1:decimal128(1, 0))! = 200:decimal128(13, 2))"),
        ("abs(i8) = 1", "(Abs(i8)! = 1:int8)"),
        ("abs(f32) = 1", "(Abs(f32) = 1.0:float32)"),
        ("CAST(i8 AS BIGINT) = 5", "(i8::int64 = 5:int64)"),
        ("regexp_like(s, s)", "RegexpLike(s, s)!"),
    ]);
}

#[test]
fn functions_cast_their_arguments() {
    check(&[
        ("round(i8) = 1", "(Round(i8::float64) = 1.0:float64)"),
        ("floor(f16) = 1", "(Floor(f16::float32) = 1.0:float32)"),
        ("concat(s, i8, NULL) = 'a'", "(Concat(s, i8::utf8, NULL:utf8) = 'a':utf8)"),
        ("s || dict = 'a'", "(Join(s, dict) = 'a':utf8)"),
        ("length(s) > 5", "(Length(s) > 5:int32)"),
        ("array_has(l, i8)", "ArrayHas(l, i8::int32)"),
        ("array_has(l, 3 + 4)", "ArrayHas(l, 7:int32)"),
        ("array_has_any(l, l)", "ArrayHasAny(l, l)"),
        ("array_length(l) = 2", "(ArrayLength(l) = 2:uint64)"),
        ("l[i8] = 1", "(Element(l, i8::int64) = 1:int32)"),
        ("coalesce(i8, 5) = 5", "(Coalesce(i8, 5:int8) = 5:int8)"),
        ("coalesce(i8, 500) = 5", "(Coalesce(i8::int64, 500:int64) = 5:int64)"),
        ("nullif(s, '') IS NULL", "(NullIf(s, '':utf8) is Null)"),
        (
            "CASE i8 WHEN 1 THEN i8 ELSE 2.5 END > 1",
            "(case i8 1:int8 => i8::float64 else 2.5:float64 > 1.0:float64)",
        ),
        ("date_trunc('Month', day) = ts_ns", "(DateTrunc(Month)(day::timestamp(ns)!) = ts_ns)"),
        ("date_part('epoch', ny) > 1", "(DatePart(Epoch)(ny)! > 1.0:float64)"),
        ("to_timestamp(i8) = ts_ns", "(i8::int64::timestamp(s)!::timestamp(ns) = ts_ns)"),
        ("s LIKE 'a!%' ESCAPE '!'", "(s like 'a!%':utf8 !)"),
    ]);
}

#[test]
fn an_index_can_recognise_a_comparison() {
    let typed = Expr::parse("10 > st.a").unwrap().bind_filter(&schema()).unwrap();
    let Node::Compare { op: Comparison::Less, left, right } = typed.node() else { panic!("{typed:?}") };
    let Node::Column(column @ ColumnRef::Field(path)) = left.node() else { panic!("{left:?}") };
    assert_eq!(column.field_id(), Some(path[1].id));
    assert_eq!((right.constant(), right.data_type()), (Some(&Scalar::Int(10)), left.data_type()));
    let mut columns = 0;
    typed.columns(&mut |_| columns += 1);
    assert_eq!(columns, 1);
}
