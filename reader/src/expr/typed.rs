//! [`Typed`]: an expression over the columns of one schema, every node with its type.
//!
//! What an evaluator may rely on:
//!
//! - The two sides of a comparison, the items of an IN, the branches of a CASE have the same type once dictionaries
//!   are taken as their values, and utf8 and large utf8, and the kinds of binary, as one. Where types differed there
//!   is a [`Node::Cast`] in between.
//! - A literal is already in the type of what it is compared with, and on the right of it: `column op literal` is
//!   [`Node::Compare`] of a [`Node::Column`] and a [`Node::Literal`].
//! - No node without a column is left that could have been computed beforehand, apart from LIKE, CASE, calls of functions,
//!   and what would be an error.
//! - Trees are at most four times [`MAX_DEPTH`](super::MAX_DEPTH) deep, however long their AND and OR chains are.

use super::{Arithmetic, Comparison, Function, Scalar, Test};
use crate::{DataType, Field};
use std::sync::Arc;

/// A typed expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Typed {
    pub(crate) node: Node,
    pub(crate) data_type: DataType,
    pub(crate) can_fail: bool,
}

/// What a [`Typed`] expression does.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Node {
    /// A constant of the node's type.
    Literal(Scalar),
    /// A column, or a field of structs.
    Column(ColumnRef),
    /// A comparison of two values of one type; NULL where one of them is.
    Compare {
        /// Which one.
        op: Comparison,
        /// The left side; never a literal, unless both are.
        left: Box<Typed>,
        /// The right side.
        right: Box<Typed>,
    },
    /// True where all are true, false where one is false, else NULL. Two terms or more, none an AND itself, those
    /// that cannot fail first, else in the order of the text.
    And(Vec<Typed>),
    /// True where one is true, false where all are false, else NULL. Otherwise like `And`.
    Or(Vec<Typed>),
    /// NULL where the operand is.
    Not(Box<Typed>),
    /// A test that is never NULL.
    Is {
        /// What is tested.
        operand: Box<Typed>,
        /// For what.
        test: Test,
        /// Whether it is IS NOT.
        negated: bool,
    },
    /// `operand >= low AND operand <= high`, in three-valued logic.
    Between {
        /// What is compared, of the same type as the bounds.
        operand: Box<Typed>,
        /// The least value.
        low: Box<Typed>,
        /// The greatest value.
        high: Box<Typed>,
        /// Whether it is NOT BETWEEN.
        negated: bool,
    },
    /// Whether the operand equals one of a list: true if so, else NULL if the operand or one of the list is NULL,
    /// else false. With an empty list it is false, and NULL where the operand is.
    In {
        /// What is compared.
        operand: Box<Typed>,
        /// The constants of the list in the operand's type, without NULL, none twice, and its parameters.
        values: Arc<[Scalar]>,
        /// Whether the list also holds NULL.
        has_null: bool,
        /// The items that are no constants.
        others: Vec<Typed>,
        /// Whether it is NOT IN.
        negated: bool,
    },
    /// LIKE or ILIKE: `%` stands for any text, `_` for any character, the escape takes from the next character
    /// its meaning. The whole text must match.
    Like {
        /// The text.
        operand: Box<Typed>,
        /// The pattern, a text too.
        pattern: Box<Typed>,
        /// The escape character.
        escape: char,
        /// Whether it is ILIKE.
        ignore_case: bool,
        /// Whether it is NOT LIKE.
        negated: bool,
    },
    /// Arithmetic of two numbers of one type, which is the node's type. Integers wrap; dividing integers by zero is an
    /// error. The two sides of decimals have precisions and scales of their own but the width of the node's type,
    /// which says the result's; where it does not fit, or divides by zero, there is an error.
    Arithmetic {
        /// Which one.
        op: Arithmetic,
        /// The left side.
        left: Box<Typed>,
        /// The right side.
        right: Box<Typed>,
    },
    /// A number with the other sign; integers wrap.
    Negate(Box<Typed>),
    /// A function of values.
    Call {
        /// Which one.
        function: Function,
        /// Its arguments, in number and type as the function's description says.
        arguments: Vec<Typed>,
    },
    /// The value of the first branch whose condition is true, or whose condition equals the operand.
    Case {
        /// What the conditions are compared with; without one they are booleans.
        operand: Option<Box<Typed>>,
        /// Conditions and values.
        branches: Vec<(Typed, Typed)>,
        /// The value where no branch is taken; NULL if absent.
        otherwise: Option<Box<Typed>>,
    },
    /// The operand in the node's type; an error where it does not fit.
    Cast(Box<Typed>),
    /// A field of a struct that is not a column; NULL where the struct is.
    Field {
        /// The struct.
        operand: Box<Typed>,
        /// Which of its fields.
        index: usize,
    },
}

/// A column that an expression reads.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ColumnRef {
    /// A field of the schema: the fields on the way to it, from the top. A value is NULL where one of the structs
    /// on the way is.
    Field(Arc<[Arc<Field>]>),
    /// `_rowid`.
    RowId,
    /// `_rowaddr`.
    RowAddress,
    /// `_row_created_at_version`.
    CreatedAtVersion,
    /// `_row_last_updated_at_version`.
    LastUpdatedAtVersion,
}

impl ColumnRef {
    /// The id of the field in the schema; none for the columns besides it.
    pub fn field_id(&self) -> Option<i32> {
        match self {
            ColumnRef::Field(path) => path.last().map(|field| field.id),
            _ => None,
        }
    }
}

impl Typed {
    /// What the expression does.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// The type of its values.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Whether computing it may end in an error: it divides integers or decimals, or casts data, or one of its parts
    /// does. Such operands of AND and OR are evaluated last, and only on the rows that they decide.
    pub fn can_fail(&self) -> bool {
        self.can_fail
    }

    /// The value, if it is the same for every row and known.
    pub fn constant(&self) -> Option<&Scalar> {
        match &self.node {
            Node::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// The nodes directly below this one.
    pub fn children(&self) -> Vec<&Typed> {
        match &self.node {
            Node::Literal(_) | Node::Column(_) => Vec::new(),
            Node::Compare { left, right, .. } | Node::Arithmetic { left, right, .. } => vec![left, right],
            Node::And(terms) | Node::Or(terms) => terms.iter().collect(),
            Node::Not(operand)
            | Node::Is { operand, .. }
            | Node::Negate(operand)
            | Node::Cast(operand)
            | Node::Field { operand, .. } => vec![operand],
            Node::Between { operand, low, high, .. } => vec![operand, low, high],
            Node::In { operand, others, .. } => std::iter::once(&**operand).chain(others).collect(),
            Node::Like { operand, pattern, .. } => vec![operand, pattern],
            Node::Call { arguments, .. } => arguments.iter().collect(),
            Node::Case { operand, branches, otherwise } => operand
                .as_deref()
                .into_iter()
                .chain(branches.iter().flat_map(|(condition, value)| [condition, value]))
                .chain(otherwise.as_deref())
                .collect(),
        }
    }

    /// Calls `visit` with every column that the expression reads, as often as it occurs.
    pub fn columns<'a>(&'a self, visit: &mut dyn FnMut(&'a ColumnRef)) {
        if let Node::Column(column) = &self.node {
            visit(column);
        }
        for child in self.children() {
            child.columns(visit);
        }
    }
}
