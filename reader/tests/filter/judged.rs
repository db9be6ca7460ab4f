//! The library before the judge.

use super::{
    data::{Random, Table, read},
    expressions,
    judge::{Ask, Plain, Stop, truth, value},
};
use crate::{
    expr::{Expr, Typed},
    filter::{Computed, Mask, Predicate, Scratch},
};

/// Runs `case` with the seeds that the environment asks for, or a few.
fn cases(default: u64, mut case: impl FnMut(&mut Random) -> bool) {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let (first, count) =
        (number("LANCET_FILTER_SEED").unwrap_or(1), number("LANCET_FILTER_CASES").unwrap_or(default));
    let mut told = 0;
    for seed in first..first + count {
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&mut Random(seed))));
        match failed {
            Ok(judged) => told += u64::from(judged),
            Err(panic) => {
                eprintln!("seed {seed}: run with LANCET_FILTER_SEED={seed} LANCET_FILTER_CASES=1");
                std::panic::resume_unwind(panic);
            }
        }
    }
    assert!(count < 50 || told * 2 > count, "only {told} of {count} cases were judged");
}

fn bind(table: &Table, text: &str, condition: bool) -> Option<Typed> {
    let expr = Expr::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let bound = if condition { expr.bind_filter(&table.schema) } else { expr.bind(&table.schema) };
    bound.ok()
}

#[test]
fn filters_select_what_the_judge_says() {
    cases(150, |random| {
        let mut table = Table::new(random);
        let text = expressions::filter(random, 4);
        let Some(typed) = bind(&table, &text, true) else { return false };
        // Rows that are not in question must not matter.
        let everything = random.one_in(2);
        let mut asked = Mask::filled(table.rows, true);
        (0..table.rows).for_each(|row| asked.set(row, everything || random.one_in(2)));
        let expected: Vec<_> = asked
            .iter()
            .map(|row| (row, truth(&typed, &|column| table.value(column, row), Ask::True)))
            .collect();
        if expected.iter().any(|(_, answer)| *answer == Err(Stop::Pass)) {
            return false;
        }
        let predicate = Predicate::new(&typed).unwrap_or_else(|error| panic!("{text}: {error}"));
        table.bind(predicate.columns());
        let mut scratch = Scratch::default();
        // The second time with the tables of the first.
        for _ in 0..2 {
            let mut mask = asked.clone();
            let result = predicate.select(&mut table, &mut mask, &mut scratch);
            match expected.iter().find(|(_, answer)| answer.is_err()) {
                Some((row, _)) => assert!(result.is_err(), "{text}: row {row} is an error"),
                None => {
                    result.unwrap_or_else(|error| panic!("{text}: {error}, expected {expected:?}"));
                    for (row, answer) in &expected {
                        let values = || -> Vec<Plain> {
                            predicate.columns().iter().map(|column| table.value(column, *row)).collect()
                        };
                        assert_eq!(
                            mask.get(*row),
                            *answer == Ok(Some(true)),
                            "{text}: row {row}, {:?} of {:?}",
                            values(),
                            predicate.columns()
                        );
                    }
                    assert!(mask.iter().all(|row| asked.get(row)), "{text}: rows that were not asked for");
                }
            }
        }
        true
    });
}

#[test]
fn computed_values_are_those_of_the_judge() {
    cases(150, |random| {
        let mut table = Table::new(random);
        let text = match random.below(4) {
            0 => expressions::text(random, 3),
            1 => expressions::time(random),
            2 => expressions::filter(random, 2),
            _ => expressions::number(random, 3),
        };
        let Some(typed) = bind(&table, &text, false) else { return false };
        let judge = |row: usize| value(&typed, &|column| table.value(column, row));
        let expected: Vec<_> = (0..table.rows).map(judge).collect();
        if expected.contains(&Err(Stop::Pass)) {
            return false;
        }
        let computed = Computed::new(&typed).unwrap_or_else(|error| panic!("{text}: {error}"));
        table.bind(computed.columns());
        let result = computed.column(&mut table, &mut Scratch::default());
        if let Some(row) = expected.iter().position(Result::is_err) {
            assert!(result.is_err(), "{text}: row {row} is an error");
            return true;
        }
        let column = result.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(column.len(), table.rows, "{text}");
        for (row, expected) in expected.iter().enumerate() {
            let found = read(&column, row);
            let same = match (&found, expected) {
                (found, Ok(Plain::Float(b))) => {
                    matches!(found, Plain::Float(a) if a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
                }
                (found, Ok(expected)) => found == expected,
                (_, Err(_)) => false,
            };
            assert!(same, "{text}: row {row} is {found:?}, expected {expected:?}");
        }
        true
    });
}

/// What is nested as deeply as the language allows is evaluated on a small stack, and in no more steps than it has
/// levels.
#[test]
fn deep_expressions_take_little() {
    let nested = |open: &str, inner: &str, close: &str, levels: usize| {
        format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
    };
    let filters = [
        nested("NOT (", "i32 > 1 OR flag", ")", 30),
        nested("(", "i32 > 1 AND f64 > 0.5", ") IS NULL", 30),
        nested("((", "i32 > 1", ") IS TRUE) IS NOT FALSE", 15),
        nested("(", "flag", " AND 1 / i32 > 0 OR 1 / i8 > 0)", 15),
        nested("abs(", "i32", ") + 1", 25) + " > 0",
        nested("CASE (", "i32", ") WHEN 1 THEN 2 WHEN i8 THEN 3 ELSE 4 END", 20) + " = 4",
        nested("coalesce((", "flag", ") = (i32 > 1), flag)", 15),
    ];
    let evaluate = move || {
        for (text, seed) in filters.iter().zip(0..) {
            let mut table = Table::new(&mut Random(seed));
            let Ok(expr) = Expr::parse(text) else { panic!("{text}") };
            let typed = expr.bind_filter(&table.schema).unwrap_or_else(|error| panic!("{text}: {error}"));
            let predicate = Predicate::new(&typed).unwrap();
            table.bind(predicate.columns());
            let mut mask = Mask::filled(table.rows, true);
            let result = predicate.select(&mut table, &mut mask, &mut Scratch::default());
            let judge = |row: usize| truth(&typed, &|column| table.value(column, row), Ask::True);
            match (0..table.rows).map(judge).collect::<Result<Vec<_>, _>>() {
                Ok(answers) => {
                    result.unwrap_or_else(|error| panic!("{text}: {error}"));
                    let found: Vec<bool> = (0..table.rows).map(|row| mask.get(row)).collect();
                    let expected: Vec<bool> = answers.iter().map(|answer| *answer == Some(true)).collect();
                    assert_eq!(found, expected, "{text}");
                }
                Err(_) => assert!(result.is_err(), "{text}"),
            }
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(evaluate).unwrap().join().unwrap();
}

#[test]
fn what_no_row_needs_is_not_read() {
    let mut table = Table::new(&mut Random(3));
    let typed = bind(&table, "t LIKE 'a%' AND i32 IN (1, 2) AND isnan(f64) AND u64 + 1 > 0", true).unwrap();
    let predicate = Predicate::new(&typed).unwrap();
    table.bind(predicate.columns());
    let mut none = Mask::filled(table.rows, false);
    predicate.select(&mut table, &mut none, &mut Scratch::default()).unwrap();
    assert_eq!(table.asked, 0);
    let typed = bind(&table, "t LIKE 'a%' AND _rowid < 0", true).unwrap();
    let predicate = Predicate::new(&typed).unwrap();
    table.bind(predicate.columns());
    let mut mask = Mask::filled(table.rows, true);
    predicate.select(&mut table, &mut mask, &mut Scratch::default()).unwrap();
    assert!(mask.is_none());
    assert_eq!(table.asked, 1, "the cheap comparison comes first and leaves nothing");
}
