//! Typed expressions as short text, so that a test can say what it expects of one.

use lancet::expr::Expr;

/// How `filter` is typed: `id < 5:int64`, with `!` after what can fail.
pub(crate) fn typed(filter: &str) -> String {
    let typed = Expr::parse(filter).and_then(|expr| expr.bind(&crate::schema()));
    typed.map_or_else(|error| format!("error: {error}"), |typed| typed.to_string())
}
