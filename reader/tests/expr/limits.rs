//! Long filters work, deep ones are errors; neither takes much of the stack, or time that grows with the depth in more
//! than proportion: that would never end here.

use crate::schema;
use lancet::expr::{Expr, MAX_DEPTH, col};

/// Runs in a thread with a small stack.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn long_chains_are_flat() {
    on_a_small_stack(|| {
        for operator in [" AND ", " OR "] {
            let terms: Vec<String> = (0..20_000).map(|term| format!("id != {term}")).collect();
            let expr = Expr::parse(&terms.join(operator)).unwrap();
            let text = expr.to_string();
            assert_eq!(text, terms.join(operator));
            assert_eq!(expr.bind_filter(&schema()).unwrap().children().len(), terms.len());
            // An error at the end of it drops it too.
            assert!(Expr::parse(&(text + operator)).is_err());
        }
        let list: Vec<String> = (0..100_000).map(|item| item.to_string()).collect();
        let typed = Expr::parse(&format!("id IN ({})", list.join(","))).unwrap().bind(&schema()).unwrap();
        assert_eq!(typed.children().len(), 1);
    });
}

#[test]
fn chains_that_are_built_one_by_one_are_flat_too() {
    on_a_small_stack(|| {
        let chain = (0..50_000).fold(col("id").gt(0), |chain, term| chain.and(col("id").not_eq(term)));
        assert_eq!(chain.bind_filter(&schema()).unwrap().children().len(), 50_001);
    });
}

#[test]
fn deep_trees_are_errors() {
    on_a_small_stack(|| {
        let nested = |open: &str, close: &str, count: usize| {
            format!("{}{}{}", open.repeat(count), "i32", close.repeat(count))
        };
        let shapes = [
            ("(", ")"),
            ("NOT ", ""),
            ("- ", ""),
            ("+ ", ""),
            ("CAST(", " AS BIGINT)"),
            ("abs(", ")"),
            ("CASE WHEN flag THEN ", " END"),
            ("CASE ", " WHEN 1 THEN 2 END"),
            ("CASE WHEN flag THEN 1 ELSE ", " END"),
            ("[", "]"),
            ("l[", "]"),
            ("", "[1]"),
            ("", ".a"),
            ("", " + 1"),
            ("1 + (", ")"),
            ("", " IS NULL"),
            ("", " = 1"),
            ("flag AND (flag OR ", ")"),
            ("", " BETWEEN 1 AND 2"),
            ("1 BETWEEN 1 AND ", ""),
            ("", " IN (1)"),
            ("1 IN (", ")"),
            ("", " LIKE 'a'"),
            ("coalesce(1, ", ")"),
            ("CASE 1 WHEN ", " THEN 2 END"),
            ("array_has_any(l, ", ")"),
            ("date_trunc('day', ", ")"),
        ];
        for (open, close) in shapes {
            for count in [2_000, 3 * MAX_DEPTH] {
                let error = Expr::parse(&nested(open, close, count)).map(drop).err();
                // A path of fields is long, not deep.
                let expected = close != ".a";
                assert_eq!(error.is_some(), expected, "{open}…{close}");
            }
            // What is just not too deep is typed, or refused for what it is.
            for count in MAX_DEPTH / 2 - 2..MAX_DEPTH {
                if let Ok(expr) = Expr::parse(&nested(open, close, count)) {
                    assert!(Expr::parse(&expr.to_string()).is_ok_and(|back| back == expr), "{open}…{close}");
                    let _ = expr.bind(&schema());
                }
            }
        }
        let error = Expr::parse(&nested("(", ")", 1000)).unwrap_err().to_string();
        assert!(
            error.starts_with("expected an expression of at most 64 levels, at line 1, column 129"),
            "{error}"
        );
    });
}

#[test]
fn deep_trees_that_are_built_are_errors() {
    on_a_small_stack(|| {
        let negated = (0..100_000).fold(col("flag"), |expr, _| !expr);
        assert_eq!(
            negated.bind(&schema()).unwrap_err().to_string(),
            "expected an expression of at most 64 levels"
        );
        let sum = (0..100_000).fold(col("id"), |sum, _| sum + 1);
        assert!(sum.gt(0).and(col("flag")).bind_filter(&schema()).is_err());
        let least = (0..MAX_DEPTH - 1).fold(col("flag"), |expr, _| !expr);
        assert!(least.bind_filter(&schema()).is_ok());
    });
}
