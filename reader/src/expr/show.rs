//! [`Typed`] → short text for people: every literal with its type, and `!` behind what can fail.

use super::{ColumnRef, Node, Scalar, Typed};
use std::fmt;

impl fmt::Display for Typed {
    /// As `(id < 5:int64)`; not the language of filters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show(self))
    }
}

fn show(typed: &Typed) -> String {
    let join = |terms: &[Typed], between: &str| terms.iter().map(show).collect::<Vec<_>>().join(between);
    let not = |negated: bool| if negated { "not " } else { "" };
    let text = match typed.node() {
        Node::Literal(value) => format!("{}:{}", scalar(value), typed.data_type()),
        Node::Column(ColumnRef::Field(path)) => {
            path.iter().map(|field| &*field.name).collect::<Vec<_>>().join("/")
        }
        Node::Column(column) => format!("{column:?}"),
        Node::Compare { op, left, right } => format!("({} {} {})", show(left), op.symbol(), show(right)),
        Node::And(terms) => format!("({})", join(terms, " and ")),
        Node::Or(terms) => format!("({})", join(terms, " or ")),
        Node::Not(operand) => format!("(not {})", show(operand)),
        Node::Is { operand, test, negated } => format!("({} is {}{test:?})", show(operand), not(*negated)),
        Node::Between { operand, low, high, negated } => {
            format!("({} {}between {}, {})", show(operand), not(*negated), show(low), show(high))
        }
        Node::In { operand, values, has_null, others, negated } => {
            let mut items: Vec<String> = values.iter().map(scalar).collect();
            items.extend(has_null.then(|| "NULL".to_string()));
            items.extend(others.iter().map(show));
            format!("({} {}in [{}])", show(operand), not(*negated), items.join(", "))
        }
        Node::Like { operand, pattern, escape, ignore_case, negated } => {
            let like = if *ignore_case { "ilike" } else { "like" };
            format!("({} {}{like} {} {escape})", show(operand), not(*negated), show(pattern))
        }
        Node::Arithmetic { op, left, right } => format!("({} {} {})", show(left), op.symbol(), show(right)),
        Node::Negate(operand) => format!("(- {})", show(operand)),
        Node::Call { function, arguments } => format!("{function:?}({})", join(arguments, ", ")),
        Node::Case { operand, branches, otherwise } => {
            let operand = operand.as_ref().map_or(String::new(), |operand| format!(" {}", show(operand)));
            let branches: Vec<_> =
                branches.iter().map(|(a, b)| format!(" {} => {}", show(a), show(b))).collect();
            let otherwise =
                otherwise.as_ref().map_or(String::new(), |value| format!(" else {}", show(value)));
            format!("case{operand}{}{otherwise}", branches.join(""))
        }
        Node::Cast(operand) => format!("{}::{}", show(operand), typed.data_type()),
        Node::Field { operand, index } => format!("{}.{index}", show(operand)),
    };
    let fails = typed.can_fail() && !typed.children().iter().any(|child| child.can_fail());
    if fails { format!("{text}!") } else { text }
}

fn scalar(value: &Scalar) -> String {
    match value {
        Scalar::Null => "NULL".into(),
        Scalar::Boolean(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::UInt(value) => value.to_string(),
        Scalar::Float16(value) => format!("{value:?}"),
        Scalar::BFloat16(value) => format!("{value:?}"),
        Scalar::Float32(value) => format!("{value:?}"),
        Scalar::Float64(value) => format!("{value:?}"),
        Scalar::Decimal128(value) => value.to_string(),
        Scalar::Decimal256(value) => value.to_string(),
        Scalar::Text(value) => format!("'{value}'"),
        Scalar::Binary(bytes) => format!("{bytes:02x?}"),
        Scalar::List(items) => format!("[{}]", items.iter().map(scalar).collect::<Vec<_>>().join(", ")),
        Scalar::Parameter(number) => format!("${}", number + 1),
    }
}
