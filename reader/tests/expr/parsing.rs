//! Text → expression → text, construct by construct.

use lancet::DataType;
use lancet::expr::{Expr, col, lit};

#[test]
fn every_construct_is_written_as_it_is_read() {
    let cases = [
        ("id=5", "id = 5"),
        ("id == 5", "id = 5"),
        ("id <> 5", "id != 5"),
        ("a.b.c >= -5", "a.b.c >= -5"),
        ("`a b`.`c``d` < .5e-3", "`a b`.`c``d` < .5e-3"),
        ("`and` OR `plain`", "`and` OR plain"),
        ("Größe > 1", "Größe > 1"),
        ("s = \"it's\"", "s = 'it''s'"),
        ("s = 'it''s'", "s = 'it''s'"),
        ("b = x'0aFF'", "b = X'0AFF'"),
        ("(a)", "a"),
        ("a AND b AND (c AND d)", "a AND b AND c AND d"),
        ("a or (b and c) or d", "a OR b AND c OR d"),
        ("(a OR b) AND c", "(a OR b) AND c"),
        ("NOT a = b", "NOT (a = b)"),
        ("NOT a AND b", "NOT a AND b"),
        ("not not a", "NOT (NOT a)"),
        ("a IS NULL", "a IS NULL"),
        ("a + 1 is not null", "a + 1 IS NOT NULL"),
        ("a IS TRUE OR b IS NOT FALSE", "a IS TRUE OR b IS NOT FALSE"),
        ("a = b IS NULL", "(a = b) IS NULL"),
        ("x BETWEEN 1 AND 2 AND y", "x BETWEEN 1 AND 2 AND y"),
        ("x NOT BETWEEN 1 + 1 AND 2", "x NOT BETWEEN 1 + 1 AND 2"),
        ("x in (1,2 , NULL)", "x IN (1, 2, NULL)"),
        ("x NOT IN ('a')", "x NOT IN ('a')"),
        ("x IN ()", "x IN ()"),
        ("s LIKE 'a%'", "s LIKE 'a%'"),
        ("s NOT ILIKE 'a!%' ESCAPE '!'", "s NOT ILIKE 'a!%' ESCAPE '!'"),
        ("a + b * c - d", "a + b * c - d"),
        ("(a + b) * c", "(a + b) * c"),
        ("a - (b - c)", "a - (b - c)"),
        ("a - -5", "a - -5"),
        ("- a * b", "-a * b"),
        ("-(a * b)", "-(a * b)"),
        ("- -5", "-(-5)"),
        ("-(5)", "-(5)"),
        ("+a", "a"),
        ("a || 'x' || b", "a || 'x' || b"),
        ("LOWER(s)", "lower(s)"),
        ("now()", "now()"),
        ("substr(s, 1, 2)", "substr(s, 1, 2)"),
        ("CAST(a AS int)", "CAST(a AS INT)"),
        ("cast(a AS varchar(20))", "CAST(a AS STRING)"),
        ("CAST(a AS DECIMAL(12,2))", "CAST(a AS DECIMAL(12, 2))"),
        ("CAST(a AS NUMERIC(50))", "CAST(a AS DECIMAL(50, 0))"),
        ("CAST(a AS TIMESTAMP(6))", "CAST(a AS TIMESTAMP)"),
        ("CAST(a AS datetime(3))", "CAST(a AS TIMESTAMP(3))"),
        ("CAST(a AS BIGINT UNSIGNED)", "CAST(a AS BIGINT UNSIGNED)"),
        ("arrow_cast(a, 'Int64')", "CAST(a AS BIGINT)"),
        ("arrow_cast(a, 'FixedSizeBinary(4)')", "arrow_cast(a, 'FixedSizeBinary(4)')"),
        (
            "arrow_cast(a, 'Timestamp(Second, Some(\"Europe/Oslo\"))')",
            "arrow_cast(a, 'Timestamp(Second, Some(\"Europe/Oslo\"))')",
        ),
        ("CASE WHEN a THEN 1 ELSE 2 END", "CASE WHEN a THEN 1 ELSE 2 END"),
        ("case x when 1 then 'a' when 2 then 'b' end", "CASE x WHEN 1 THEN 'a' WHEN 2 THEN 'b' END"),
        ("l[1]", "l[1]"),
        ("l[-1]['a'].b", "l[-1]['a']['b']"),
        ("(a || b)[1]", "(a || b)[1]"),
        ("st['a'] = [1, 'x']", "st['a'] = [1, 'x']"),
        ("DATE '2020-01-01' < day", "DATE '2020-01-01' < day"),
        ("timestamp \"2020-01-01\" < ts", "TIMESTAMP '2020-01-01' < ts"),
        ("TIME '10:00'", "TIME '10:00'"),
        ("date = DATE '2020-01-01' AND time IS NULL", "date = DATE '2020-01-01' AND time IS NULL"),
        ("a = 1 -- why\n AND /* what */ b", "a = 1 AND b"),
    ];
    for (text, written) in cases {
        let expr = Expr::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(expr.to_string(), written, "{text}");
        assert_eq!(Expr::parse(written).unwrap(), expr, "{text}");
    }
}

#[test]
fn what_is_built_is_what_is_parsed() {
    let cases = [
        (col("a").gt(5).and(col("b").is_null()), "a > 5 AND b IS NULL"),
        (col("st.`x.y`").eq("it's"), "st.`x.y` = 'it''s'"),
        (!(col("a").lt_eq(-1.5)), "NOT (a <= -1.5)"),
        (col("a").is_in([1, 2]).or(col("b").is_not_in(Vec::<i64>::new())), "a IN (1, 2) OR b NOT IN ()"),
        (col("a").between(1, 2).or(col("a").not_between(3, 4)), "a BETWEEN 1 AND 2 OR a NOT BETWEEN 3 AND 4"),
        ((col("a") + 1) * 2 - lit(3) / 4 % 5, "(a + 1) * 2 - 3 / 4 % 5"),
        (-lit(5), "-5"),
        (-(col("a") - 1), "-(a - 1)"),
        (col("a").eq(f64::NAN), "a = CAST('NaN' AS DOUBLE)"),
        (col("a").eq(-f64::INFINITY), "a = CAST('-Infinity' AS DOUBLE)"),
        (col("a").eq(1e300), "a = 1e300"),
        (col("a").eq(0.1f32), "a = 0.1"),
        (col("a").eq(Option::<i64>::None), "a = NULL"),
        (col("a").eq(vec![1u8, 255]), "a = X'01FF'"),
        (Expr::call("lower", [col("s")]).like("a%"), "lower(s) LIKE 'a%'"),
        (col("s").join("x").cast(DataType::LargeUtf8), "arrow_cast(s || 'x', 'LargeUtf8')"),
        (col("l").get(1).eq(col("st").get("a")), "l[1] = st['a']"),
        (col("ts").gt(Expr::timestamp("2020-01-01 10:00:00Z")), "ts > TIMESTAMP '2020-01-01 10:00:00Z'"),
        (Expr::call("array_has_any", [col("l"), Expr::list([1, 2])]), "array_has_any(l, [1, 2])"),
        (Expr::case([(col("a"), lit(1))], Some(lit(2))), "CASE WHEN a THEN 1 ELSE 2 END"),
        (Expr::all([]), "TRUE"),
        (Expr::any([col("a")]), "a"),
        (col("a").and(col("b")).and(col("c").or(col("d"))), "a AND b AND (c OR d)"),
    ];
    for (built, text) in cases {
        assert_eq!(built.to_string(), text);
        assert_eq!(Expr::parse(text).unwrap(), built, "{text}");
    }
    let reparsed = Expr::parse("`i8-n10` < 1").unwrap();
    assert_eq!(col("i8-n10").lt(1), reparsed);
}
