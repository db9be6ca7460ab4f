//! Random filters, as text.

use super::data::{Random, TEXTS};

const INTEGERS: [&str; 9] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "st.a"];
const FLOATS: [&str; 4] = ["f16", "bf", "f32", "f64"];
const DECIMALS: [&str; 2] = ["d", "w"];
const TEXT_COLUMNS: [&str; 4] = ["t", "lt", "dict", "st.b"];
const DATES: [&str; 2] = ["day", "day64"];
const TIMESTAMPS: [&str; 4] = ["ts_s", "ts_us", "ts_utc", "ts_ny"];
const COMPARISONS: [&str; 6] = ["=", "!=", "<", "<=", ">", ">="];
const PARTS: [&str; 13] = [
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "dow",
    "doy",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
    "nanosecond",
];

/// A column, or something else of its type, and a literal that the type can hold.
fn leaf_pair(random: &mut Random) -> (String, String) {
    match random.below(9) {
        0 | 1 => {
            let column = random.pick(&INTEGERS);
            let value = match column {
                "i8" => random.pick(&["-128", "127", "0", "-1", "2"]),
                "u8" => random.pick(&["255", "0", "3"]),
                "i64" => random.pick(&["-9223372036854775808", "9223372036854775807", "0", "1"]),
                "u64" => random.pick(&["18446744073709551615", "0", "2"]),
                _ => random.pick(&["0", "1", "2", "3", "10"]),
            };
            (column.into(), value.into())
        }
        2 => (
            random.pick(&FLOATS).into(),
            random.pick(&["0.0", "-0.0", "0.5", "-1.5", "0.1", "2", "100.0"]).into(),
        ),
        3 => (random.pick(&DECIMALS).into(), random.pick(&["0", "1.5", "-1.50", "2.5", "10"]).into()),
        4 | 5 => (random.pick(&TEXT_COLUMNS).into(), text_literal(random)),
        6 => ("bin".into(), random.pick(&["X''", "X'00'", "X'6162'", "X'ff'"]).into()),
        7 => (random.pick(&DATES).into(), random.pick(&["DATE '1970-01-01'", "DATE '2023-11-14'"]).into()),
        _ => {
            let literals = [
                "TIMESTAMP '1970-01-01 00:00:00'",
                "TIMESTAMP '2023-11-14 22:13:20.5'",
                "TIMESTAMP '2024-03-10 02:30:00'",
                "TIMESTAMP '2024-11-03 06:00:00Z'",
            ];
            (random.pick(&TIMESTAMPS).into(), random.pick(&literals).into())
        }
    }
}

fn text_literal(random: &mut Random) -> String {
    format!("'{}'", random.pick(&TEXTS))
}

/// A filter of at most `depth` levels above its leaves.
pub(super) fn filter(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.one_in(5) {
        return leaf(random);
    }
    let below = depth - 1;
    match random.below(13) {
        0..=3 => chain(random, below, " AND "),
        4..=6 => chain(random, below, " OR "),
        7 | 8 => format!("NOT ({})", filter(random, below)),
        9 => {
            let test = random.pick(&[
                "IS NULL",
                "IS NOT NULL",
                "IS TRUE",
                "IS NOT TRUE",
                "IS FALSE",
                "IS NOT FALSE",
            ]);
            format!("({}) {test}", filter(random, below))
        }
        10 => {
            let (left, right) = (number(random, below), number(random, below));
            format!("{left} {} {right}", random.pick(&COMPARISONS))
        }
        11 => {
            let (left, right) = (text(random, below), text(random, below));
            match random.below(3) {
                0 => format!("{left} {} {right}", random.pick(&COMPARISONS)),
                1 => format!("{}({left}, {right})", random.pick(&["starts_with", "ends_with", "contains"])),
                _ => format!("{left} LIKE {right}"),
            }
        }
        _ => {
            let (a, b, c) = (filter(random, below), filter(random, below), filter(random, below));
            match random.below(3) {
                0 => format!("CASE WHEN {a} THEN {b} ELSE {c} END"),
                1 => format!("coalesce({a}, {b})"),
                _ => format!("({a}) = ({b})"),
            }
        }
    }
}

fn chain(random: &mut Random, depth: usize, operator: &str) -> String {
    let count = 2 + random.below(3);
    let terms: Vec<String> = (0..count).map(|_| format!("({})", filter(random, depth))).collect();
    terms.join(operator)
}

fn leaf(random: &mut Random) -> String {
    let (column, literal) = leaf_pair(random);
    match random.below(14) {
        0..=3 => format!("{column} {} {literal}", random.pick(&COMPARISONS)),
        4 => format!("{column} IS {}NULL", random.pick(&["", "NOT "])),
        5 => {
            let other = random.pick(&["NULL", &literal, &column]).to_string();
            format!("{column} {}BETWEEN {literal} AND {other}", random.pick(&["", "NOT "]))
        }
        6 | 7 => {
            let mut items = literal;
            for _ in 0..random.below(3) {
                items = items + ", " + random.pick(&["NULL", &column]);
            }
            format!("{column} {}IN ({items})", random.pick(&["", "NOT "]))
        }
        8 | 9 => {
            let pattern =
                random.pick(&["a%", "%b", "%b%", "ab", "a_", "_b%", "%a%c", "", "%", "a\\%", "%bc_bc", "__"]);
            let operator = random.pick(&["LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"]);
            format!("{} {operator} '{pattern}'", random.pick(&TEXT_COLUMNS))
        }
        10 => format!(
            "{} {}",
            "flag",
            random.pick(&["= true", "= false", "IS TRUE", "IS NOT FALSE", "IS NULL"])
        ),
        11 => format!("isnan({})", random.pick(&FLOATS)),
        12 => list_leaf(random),
        _ => "flag".into(),
    }
}

fn list_leaf(random: &mut Random) -> String {
    match random.below(5) {
        0 => format!("array_has(list, {})", random.pick(&["0", "1", "i32", "NULL"])),
        1 => format!("array_has(words, {})", random.pick(&["'a'", "'ab'", "t"])),
        2 => format!("array_has_any(list, {})", random.pick(&["[0, 1]", "[NULL]", "list", "[10, NULL]"])),
        3 => format!("array_has_all(list, {})", random.pick(&["[0]", "[1, 1]", "list", "[0, 10]"])),
        _ => format!("array_has_any(words, {})", random.pick(&["['a', 'b']", "words"])),
    }
}

/// A number.
pub(super) fn number(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.one_in(4) {
        return match random.below(8) {
            0..=2 => random.pick(&INTEGERS).into(),
            3 | 4 => random.pick(&FLOATS).into(),
            5 => random.pick(&DECIMALS).into(),
            _ => random.pick(&["0", "1", "2", "-3", "0.5"]).into(),
        };
    }
    let below = depth - 1;
    let operand = number(random, below);
    match random.below(14) {
        0..=4 => format!("({operand} {} {})", random.pick(&["+", "-", "*", "/", "%"]), number(random, below)),
        5 => format!("-({operand})"),
        6 => format!("{}({operand})", random.pick(&["abs", "round", "floor", "ceil"])),
        7 => format!("coalesce({operand}, {})", number(random, below)),
        8 => format!("nullif({operand}, {})", number(random, below)),
        9 => format!("CASE WHEN {} THEN {operand} ELSE {} END", filter(random, below), number(random, below)),
        10 => {
            let to = random.pick(&["INT", "BIGINT", "DOUBLE", "FLOAT", "TINYINT", "BIGINT UNSIGNED"]);
            let what = if random.one_in(3) { text(random, 0) } else { operand };
            format!("CAST({what} AS {to})")
        }
        11 => format!("length({})", text(random, below)),
        12 => match random.below(3) {
            0 => format!("list[{}]", random.pick(&["1", "2", "-1", "0", "i8"])),
            1 => format!("array_length({})", random.pick(&["list", "words", "pair"])),
            _ => format!("pair[{}]", random.pick(&["1", "2", "3"])),
        },
        _ => {
            let columns = ["day", "day64", "ts_s", "ts_us", "ts_utc", "ts_ny", "clock", "clock64"];
            let column = random.pick(&columns);
            let parts = if column.starts_with("clock") { &PARTS[7..] } else { &PARTS };
            format!("date_part('{}', {column})", random.pick(parts))
        }
    }
}

/// A text.
pub(super) fn text(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.one_in(4) {
        return if random.one_in(3) { text_literal(random) } else { random.pick(&TEXT_COLUMNS).into() };
    }
    let below = depth - 1;
    let operand = text(random, below);
    match random.below(9) {
        0 => format!("{}({operand})", random.pick(&["lower", "upper", "trim"])),
        1 => format!("trim({operand}, {})", random.pick(&["'a'", "'ac '", "t"])),
        2 => format!("substr({operand}, {})", random.pick(&["1", "2", "0", "-1", "i8"])),
        3 => format!(
            "substr({operand}, {}, {})",
            random.pick(&["1", "2", "-1"]),
            random.pick(&["0", "1", "2", "i8"])
        ),
        4 => format!("concat({operand}, {}, t)", text(random, below)),
        5 => format!("({operand} || {})", text(random, below)),
        6 => format!("CASE {operand} WHEN {} THEN {operand} WHEN 'ab' THEN lt END", text(random, below)),
        7 => format!("coalesce({operand}, {})", text(random, below)),
        _ => format!("CAST({} AS STRING)", random.pick(&["i8", "u64", "flag", "i32", "st.a"])),
    }
}

/// A date or timestamp.
pub(super) fn time(random: &mut Random) -> String {
    let units =
        ["year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond"];
    match random.below(4) {
        0 => format!("CAST({} AS TIMESTAMP)", random.pick(&["day", "ts_s", "ts_us"])),
        1 => format!("to_timestamp({})", random.pick(&["f64", "f32", "i32"])),
        _ => format!("date_trunc('{}', {})", random.pick(&units), random.pick(&TIMESTAMPS)),
    }
}
