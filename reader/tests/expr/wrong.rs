//! Filters that are wrong, and what is said of them: the place, the column and its type.

use crate::schema;
use lancet::expr::Expr;

#[test]
fn errors_say_where_and_why() {
    let cases = [
        ("", "expected an expression, at line 1, column 1: the end"),
        ("id =", "expected an expression, at line 1, column 5: the end"),
        ("(id = 1", "expected `)`, at line 1, column 8: the end"),
        ("id = 1)", "expected an operator or the end of the expression, at line 1, column 7: \")\""),
        (
            "id = 1 ORDER BY id",
            "expected an operator or the end of the expression, at line 1, column 8: \"ORDER BY id\"",
        ),
        ("id = 1;", "expected an operator or the end of the expression, at line 1, column 7: \";\""),
        ("s ~ 'x'", "expected an operator or the end of the expression, at line 1, column 3: \"~ 'x'\""),
        ("id = 'abc", "unterminated text, at line 1, column 6: \"'abc\""),
        ("id = 0x10", "expected an operator or the end of the expression, at line 1, column 7: \"x10\""),
        (
            "bin = X'123'",
            "expected pairs of hexadecimal digits in a binary literal, at line 1, column 7: \"X'123'\"",
        ),
        ("id = 5L", "expected an operator or the end of the expression, at line 1, column 7: \"L\""),
        ("id = 5abc", "expected an operator or the end of the expression, at line 1, column 7: \"abc\""),
        (
            "and = 1",
            "expected an expression; a column called `and` stands between backticks, at line 1, column 1: \"and = 1\"",
        ),
        ("id IS 5", "expected NULL, TRUE or FALSE after IS, at line 1, column 7: \"5\""),
        ("id NOT 5", "expected LIKE, ILIKE, IN or BETWEEN after NOT, at line 1, column 8: \"5\""),
        ("id BETWEEN 1 OR 2", "expected AND and the upper bound of BETWEEN, at line 1, column 14: \"OR 2\""),
        ("id IN 1", "expected `(` and a list of values, at line 1, column 7: \"1\""),
        ("id IN (1 2)", "expected `,` or `)`, at line 1, column 10: \"2)\""),
        (
            "s LIKE 'a' ESCAPE 'ab'",
            "expected a text of one character after ESCAPE, at line 1, column 19: \"'ab'\"",
        ),
        ("CASE flag END", "expected WHEN, at line 1, column 11: \"END\""),
        ("CASE WHEN flag 1 END", "expected THEN, at line 1, column 16: \"1 END\""),
        ("CASE WHEN flag THEN 1", "expected WHEN, ELSE or END, at line 1, column 22: the end"),
        (
            "CAST(id AS DECIMAL(2, 3)) = 1",
            "expected a precision of 1 to 76 and a scale that is no larger, at line 1, column 12: \"DECIMAL(2, 3)) = 1\"",
        ),
        (
            "arrow_cast(id, 'Int65') = 1",
            "expected the name of an Arrow type, at line 1, column 16: \"'Int65') = 1\"",
        ),
        ("st. = 1", "expected a name, at line 1, column 5: \"= 1\""),
        // What the schema says.
        ("id", "expected a condition, found column `id` of type int64, at line 1, column 1: \"id\""),
        ("flag AND 1", "expected a condition, found a value of type int64, at line 1, column 10: \"1\""),
        ("id = 5.5", "column `id` of type int64 cannot hold 5.5, at line 1, column 6: \"5.5\""),
        ("id = 5.0", "column `id` of type int64 cannot hold 5.0, at line 1, column 6: \"5.0\""),
        ("70000 = i16", "column `i16` of type int16 cannot hold 70000, at line 1, column 1: \"70000 = i16\""),
        ("u8 >= -1", "column `u8` of type uint8 cannot hold -1, at line 1, column 7: \"-1\""),
        ("_rowid = -1", "column `_rowid` of type uint64 cannot hold -1, at line 1, column 10: \"-1\""),
        ("f32 < 1e39", "column `f32` of type float32 cannot hold 1e39, at line 1, column 7: \"1e39\""),
        (
            "dec = 1e12",
            "column `dec` of type decimal128(12, 2) cannot hold 1e12, at line 1, column 7: \"1e12\"",
        ),
        (
            "fsb = X'00'",
            "column `fsb` of type fixed_size_binary(4) cannot hold X'00', at line 1, column 7: \"X'00'\"",
        ),
        (
            "ts_ns > TIMESTAMP '2300-01-01'",
            "column `ts_ns` of type timestamp(ns) cannot hold TIMESTAMP '2300-01-01', at line 1, column 9: \"TIMESTAMP '2300-01-01'\"",
        ),
        ("id IN (1, 2.5)", "column `id` of type int64 cannot hold 2.5, at line 1, column 11: \"2.5)\""),
        ("i8 BETWEEN 1 AND 300", "column `i8` of type int8 cannot hold 300, at line 1, column 18: \"300\""),
        (
            "id = 'abc'",
            "column `id` of type int64 cannot be compared with 'abc', at line 1, column 6: \"'abc'\"",
        ),
        ("s = 5", "column `s` of type utf8 cannot be compared with 5, at line 1, column 5: \"5\""),
        ("flag = 1", "column `flag` of type bool cannot be compared with 1, at line 1, column 8: \"1\""),
        (
            "ts = '2026-01-04'",
            "column `ts` of type timestamp(us) cannot be compared with '2026-01-04'; write TIMESTAMP '…', at line 1, column 6: \"'2026-01-04'\"",
        ),
        (
            "day = '2026-01-04'",
            "column `day` of type date32 cannot be compared with '2026-01-04'; write DATE '…', at line 1, column 7: \"'2026-01-04'\"",
        ),
        (
            "id = s",
            "column `id` of type int64 cannot be compared with column `s` of type utf8, at line 1, column 4: \"= s\"",
        ),
        (
            "st IN (1)",
            "values of type struct<a: int32, b: utf8, pos: struct<lat: float64, zip: int32>> cannot be compared, at line 1, column 1: \"st IN (1)\"",
        ),
        ("json = 'x'", "values of type json cannot be compared, at line 1, column 8: \"'x'\""),
        ("l = [1, 2]", "lists cannot be compared, at line 1, column 3: \"= [1, 2]\""),
        (
            "day = DATE '2026-02-30'",
            "expected a date as 2026-07-28, at line 1, column 7: \"DATE '2026-02-30'\"",
        ),
        (
            "ts = TIMESTAMP 'noon'",
            "expected a timestamp as 2026-07-28 10:15:00.5, perhaps with Z or an offset, at line 1, column 6: \"TIMESTAMP 'noon'\"",
        ),
        ("t_s = TIME '25:00'", "expected a time as 10:15:00.5, at line 1, column 7: \"TIME '25:00'\""),
        (
            "nosuch = 1",
            "no column `nosuch`: expected one of id, i8, i16, i32, u8, u32, u64, f16, f32, f64, bf16, dec, …, at line 1, column 1: \"nosuch = 1\"",
        ),
        (
            "st.nope = 1",
            "no column `st.nope`: expected one of id, i8, i16, i32, u8, u32, u64, f16, f32, f64, bf16, dec, …, at line 1, column 1: \"st.nope = 1\"",
        ),
        (
            "st['nope'] = 1",
            "no field `nope`: expected one of a, b, pos, at line 1, column 3: \"['nope'] = 1\"",
        ),
        (
            "tWIN = 1",
            "column `tWIN` is ambiguous: `Twin` and `twin` both match without regard to case, at line 1, column 1: \"tWIN = 1\"",
        ),
        (
            "what IS NULL",
            "column `what`: type `some.type` is not known, at line 1, column 1: \"what IS NULL\"",
        ),
        ("nosuchfn(id) = 1", "function `nosuchfn` is not known, at line 1, column 1: \"nosuchfn(id) = 1\""),
        ("element(l, 1) = 1", "function `element` is not known, at line 1, column 1: \"element(l, 1) = 1\""),
        (
            "lower(s, s) = 'a'",
            "`lower` takes 1 arguments, found 2, at line 1, column 1: \"lower(s, s) = 'a'\"",
        ),
        (
            "substr(s) = 'a'",
            "`substr` takes 2 to 3 arguments, found 1, at line 1, column 1: \"substr(s) = 'a'\"",
        ),
        (
            "lower(id) = 'a'",
            "`lower` expects text, found column `id` of type int64, at line 1, column 7: \"id) = 'a'\"",
        ),
        (
            "abs(s) = 1",
            "`abs` expects a number, found column `s` of type utf8, at line 1, column 5: \"s) = 1\"",
        ),
        (
            "s + 1 = 2",
            "`+` expects a number, found column `s` of type utf8, at line 1, column 1: \"s + 1 = 2\"",
        ),
        (
            "-u8 = 1",
            "`-` expects a number with a sign, found column `u8` of type uint8, at line 1, column 2: \"u8 = 1\"",
        ),
        (
            "id LIKE '1%'",
            "LIKE expects text, found column `id` of type int64, at line 1, column 1: \"id LIKE '1%'\"",
        ),
        (
            "array_has(id, 1)",
            "`array_has` expects a list, found column `id` of type int64, at line 1, column 11: \"id, 1)\"",
        ),
        (
            "array_has(l, 'a')",
            "column `l` of type list<int32>: its items cannot be 'a', at line 1, column 14: \"'a')\"",
        ),
        (
            "array_has(l, id)",
            "expected an item of type int32, found column `id` of type int64, at line 1, column 14: \"id)\"",
        ),
        (
            "array_has_any(l, tags)",
            "expected a list of int32, found column `tags` of type list<utf8>, at line 1, column 18: \"tags)\"",
        ),
        (
            "array_has(people, NULL)",
            "values of type struct<name: utf8, age: int32> cannot be compared, at line 1, column 11: \"people, NULL)\"",
        ),
        (
            "date_trunc('eon', ts) = ts",
            "`date_trunc` knows no unit 'eon', at line 1, column 12: \"'eon', ts) = ts\"",
        ),
        (
            "date_trunc(s, ts) = ts",
            "`date_trunc` expects the name of a unit as a literal, at line 1, column 12: \"s, ts) = ts\"",
        ),
        (
            "date_part('year', id) = 1",
            "`date_part` expects a timestamp, found column `id` of type int64, at line 1, column 19: \"id) = 1\"",
        ),
        (
            "CAST(l AS INT) = 1",
            "column `l` of type list<int32> cannot be cast to int32, at line 1, column 6: \"l AS INT) = 1\"",
        ),
        (
            "arrow_cast(ts, 'Timestamp(Second, Some(\"Mars\"))') = ts",
            "time zone `Mars` is not known, at line 1, column 12: \"ts, 'Timestamp(Second, Some(\"Mar…\"",
        ),
        (
            "coalesce(id, 'a') = 1",
            "expected a value of type int64, found a value of type utf8, at line 1, column 14: \"'a') = 1\"",
        ),
        ("id[1] = 1", "column `id` of type int64 has no items or fields, at line 1, column 3: \"[1] = 1\""),
        (
            "l['a'] = 1",
            "the index of a list is an integer, found a value of type utf8, at line 1, column 3: \"'a'] = 1\"",
        ),
        (
            "id = 1 AND\n  (s = 'a' OR\n   i8 = 1000)",
            "column `i8` of type int8 cannot hold 1000, at line 3, column 9: \"1000)\"",
        ),
    ];
    for (filter, message) in cases {
        let error = Expr::parse(filter).and_then(|expr| expr.bind_filter(&schema()));
        let error = error.map(|_| ()).expect_err(filter);
        assert_eq!(error.to_string(), message, "{filter}");
    }
}

#[test]
fn built_expressions_have_no_place() {
    let error = lancet::expr::col("id").eq("a").bind(&schema()).unwrap_err();
    assert_eq!(error.to_string(), "column `id` of type int64 cannot be compared with 'a'");
}
