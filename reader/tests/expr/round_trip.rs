//! Random expressions come back from their own text, and random text does no harm.

use crate::schema;
use lancet::expr::{Expr, col, lit};
use lancet::{DataType, TimeUnit};
use proptest::prelude::*;

fn leaf() -> impl Strategy<Value = Expr> {
    let names =
        ["id", "flag", "s", "f32", "st.a", "`a.b`", "order by", "and", "x", "date", "Größe", "l", "0a"];
    prop_oneof![
        proptest::sample::select(names.to_vec()).prop_map(col),
        any::<i64>().prop_map(lit),
        any::<u64>().prop_map(lit),
        any::<f64>().prop_map(lit),
        any::<f32>().prop_map(lit),
        any::<bool>().prop_map(lit),
        ".{0,8}".prop_map(lit),
        proptest::collection::vec(any::<u8>(), 0..4).prop_map(lit),
        Just(Expr::null()),
        ".{0,8}".prop_map(|text| Expr::timestamp(&text)),
        ".{0,8}".prop_map(|text| Expr::date(&text)),
        ".{0,8}".prop_map(|text| Expr::time(&text)),
    ]
}

fn types() -> impl Strategy<Value = DataType> {
    use DataType::*;
    let zone = Some("Europe/Oslo".into());
    proptest::sample::select(vec![
        Boolean,
        Int8,
        UInt64,
        Float16,
        Float32,
        Utf8,
        LargeUtf8,
        Binary,
        LargeBinary,
        FixedSizeBinary(7),
        Date32,
        Date64,
        Time32(TimeUnit::Millisecond),
        Time64(TimeUnit::Nanosecond),
        Duration(TimeUnit::Second),
        Timestamp(TimeUnit::Second, None),
        Timestamp(TimeUnit::Microsecond, None),
        Timestamp(TimeUnit::Nanosecond, zone),
        Decimal128(12, 2),
        Decimal128(5, -2),
        Decimal256(20, 2),
        Decimal256(60, 5),
    ])
}

fn expr() -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(4, 40, 4, |inner| {
        let some = proptest::collection::vec(inner.clone(), 0..4);
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            (pair.clone(), 0..6).prop_map(|((a, b), op)| match op {
                0 => a.eq(b),
                1 => a.not_eq(b),
                2 => a.lt(b),
                3 => a.lt_eq(b),
                4 => a.gt(b),
                _ => a.gt_eq(b),
            }),
            (pair.clone(), 0..7).prop_map(|((a, b), op)| match op {
                0 => a + b,
                1 => a - b,
                2 => a * b,
                3 => a / b,
                4 => a % b,
                5 => a.join(b),
                _ => a.get(b),
            }),
            (pair.clone(), 0..3).prop_map(|((a, b), op)| match op {
                0 => a.like(b),
                1 => a.not_like(b),
                _ => a.ilike(b),
            }),
            (inner.clone(), 0..9).prop_map(|(a, op)| match op {
                0 => a.is_null(),
                1 => a.is_not_null(),
                2 => a.is_true(),
                3 => a.is_not_true(),
                4 => a.is_false(),
                5 => a.is_not_false(),
                6 => -a,
                _ => !a,
            }),
            some.clone().prop_map(Expr::all),
            some.clone().prop_map(Expr::any),
            some.clone().prop_map(Expr::list),
            (inner.clone(), some.clone()).prop_map(|(a, list)| a.is_in(list)),
            (inner.clone(), some.clone()).prop_map(|(a, list)| a.is_not_in(list)),
            (inner.clone(), pair.clone()).prop_map(|(a, (low, high))| a.between(low, high)),
            (inner.clone(), pair.clone()).prop_map(|(a, (low, high))| a.not_between(low, high)),
            ("[a-z_]{1,6}_f", some).prop_map(|(name, arguments)| Expr::call(&name, arguments)),
            (proptest::collection::vec(pair, 0..3), proptest::option::of(inner.clone()))
                .prop_map(|(branches, otherwise)| Expr::case(branches, otherwise)),
            (inner, types()).prop_map(|(a, to)| a.cast(to)),
        ]
    })
}

/// Words that make more of filters than characters at random do.
fn words() -> impl Strategy<Value = String> {
    let words = [
        "id",
        "flag",
        "s",
        "ts",
        "dec",
        "l",
        "st",
        "f32",
        "AND",
        "OR",
        "NOT",
        "IS",
        "NULL",
        "TRUE",
        "IN",
        "BETWEEN",
        "LIKE",
        "ILIKE",
        "ESCAPE",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "CAST",
        "AS",
        "BIGINT",
        "DATE",
        "TIMESTAMP",
        "'2020-01-01'",
        "'a%'",
        "X'00'",
        "5",
        "-5",
        "0.5",
        "1e400",
        "(",
        ")",
        "[",
        "]",
        ",",
        ".",
        "=",
        "<",
        ">=",
        "!=",
        "+",
        "-",
        "*",
        "/",
        "%",
        "||",
        "lower(",
        "coalesce(",
        "array_has(",
        "round(",
        "date_trunc('day',",
        "`a.b`",
        "\"x\"",
        "--",
        "/*",
        "'",
        "é",
        "~",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..24)
        .prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn expressions_come_back_from_their_text(expr in expr()) {
        let text = expr.to_string();
        let back = Expr::parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        prop_assert_eq!(&back, &expr, "{}", text);
        prop_assert_eq!(back.to_string(), text);
        let _ = expr.bind(&schema());
    }

    #[test]
    fn whatever_parses_comes_back_from_its_text(text in words()) {
        if let Ok(expr) = Expr::parse(&text) {
            let written = expr.to_string();
            prop_assert_eq!(Expr::parse(&written).ok(), Some(expr.clone()), "{} as {}", text, written);
            let _ = expr.bind(&schema());
        }
    }

    #[test]
    fn random_text_does_no_harm(text in ".{0,40}") {
        let _ = Expr::parse(&text);
    }
}
