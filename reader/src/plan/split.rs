//! From a filter to what indices may answer: its conjuncts, each with a tree of conditions if it has one.
//!
//! NOT is pushed down to the conditions, which keeps three-valued logic: the rows for which NOT (a AND b) is true are
//! those for which a is false or b is. So a tree only ever says for which rows it is true, and NULL needs no set of its
//! own.

use super::condition::{self, Condition};
use crate::expr::{Node, Scalar, Test, Typed};
use std::ops::Bound;

/// A term of a filter; it is true where all of them are.
#[derive(Debug, Clone)]
pub(crate) struct Conjunct {
    /// The term itself.
    pub(crate) typed: Typed,
    /// What indices may tell about it.
    pub(crate) tree: Option<Tree>,
}

/// Conditions, joined. Each is given by its number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Leaf(usize),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    /// The rows that are not in the answer of the inner tree, which must be exact.
    Complement(Box<Tree>),
    /// The rows of the inner tree and no others, but perhaps not all of these.
    AtMost(Box<Tree>),
}

/// The terms of a filter, and the conditions in their trees.
pub(crate) fn split(filter: &Typed) -> (Vec<Conjunct>, Vec<Condition>) {
    let (mut terms, mut conditions) = (Vec::new(), Vec::new());
    flatten(filter, true, &mut terms);
    let conjunct = |(typed, wanted): (Typed, bool)| Conjunct {
        tree: tree(&typed, wanted, &mut conditions),
        typed: if wanted { typed } else { typed.negated() },
    };
    let mut conjuncts: Vec<Conjunct> = terms.into_iter().map(conjunct).collect();
    drop_not_null(&mut conjuncts, &conditions);
    join_ranges(&mut conjuncts, &mut conditions);
    drop_unused(&mut conjuncts, &mut conditions);
    (conjuncts, conditions)
}

/// Takes out the conditions that no tree has any more, and gives the others new numbers.
fn drop_unused(conjuncts: &mut [Conjunct], conditions: &mut Vec<Condition>) {
    const UNUSED: usize = usize::MAX;
    let mut numbers = vec![UNUSED; conditions.len()];
    let mut used = 0;
    for tree in conjuncts.iter_mut().filter_map(|conjunct| conjunct.tree.as_mut()) {
        tree.renumber(&mut |number| {
            if numbers[number] == UNUSED {
                numbers[number] = used;
                used += 1;
            }
            numbers[number]
        });
    }
    let mut kept: Vec<(usize, Condition)> =
        numbers.into_iter().zip(conditions.drain(..)).filter(|(number, _)| *number != UNUSED).collect();
    kept.sort_unstable_by_key(|(number, _)| *number);
    conditions.extend(kept.into_iter().map(|(_, condition)| condition));
}

/// Takes `c IS NOT NULL` out where another conjunct on `c`, which is never true for NULL, says so anyway.
fn drop_not_null(conjuncts: &mut Vec<Conjunct>, conditions: &[Condition]) {
    let leaf = |conjunct: &Conjunct| match &conjunct.tree {
        Some(Tree::Leaf(number)) => Some(&conditions[*number]),
        _ => None,
    };
    let is_null_test = |condition: &Condition| condition.test == condition::Test::IsNull;
    let implied: Vec<i32> = conjuncts
        .iter()
        .filter_map(leaf)
        .filter(|condition| !is_null_test(condition))
        .map(|condition| condition.field)
        .collect();
    conjuncts.retain(|conjunct| {
        !leaf(conjunct).is_some_and(|condition| {
            is_null_test(condition) && condition.negated && implied.contains(&condition.field)
        })
    });
}

/// Makes one conjunct of two that bound the same column from below and from above.
fn join_ranges(conjuncts: &mut Vec<Conjunct>, conditions: &mut [Condition]) {
    let mut number = 0;
    while number < conjuncts.len() {
        let (before, rest) = conjuncts.split_at_mut(number);
        let own = &mut rest[0];
        let earlier =
            before.iter_mut().find(|earlier| join(earlier.tree.as_ref(), own.tree.as_ref(), conditions));
        match earlier {
            Some(earlier) => {
                let both = vec![earlier.typed.clone(), own.typed.clone()];
                earlier.typed = Typed::joined(both, true);
                conjuncts.remove(number);
            }
            None => number += 1,
        }
    }
}

/// If `into` bounds a column on one side and `from` on the other, makes `into` do both; whether it did.
fn join(into: Option<&Tree>, from: Option<&Tree>, conditions: &mut [Condition]) -> bool {
    let (Some(&Tree::Leaf(into)), Some(&Tree::Leaf(from))) = (into, from) else { return false };
    let (a, b) = (&conditions[into], &conditions[from]);
    if a.field != b.field || a.negated || b.negated {
        return false;
    }
    use condition::Test::Range;
    let test = match (&a.test, &b.test) {
        (Range(Bound::Unbounded, high), Range(low, Bound::Unbounded))
        | (Range(low, Bound::Unbounded), Range(Bound::Unbounded, high)) => Range(low.clone(), high.clone()),
        _ => return false,
    };
    conditions[into].test = test;
    true
}

/// The terms of which all must be true (or false, unless they are `wanted`).
fn flatten(typed: &Typed, wanted: bool, terms: &mut Vec<(Typed, bool)>) {
    match (typed.node(), wanted) {
        (Node::And(inner), true) | (Node::Or(inner), false) => {
            inner.iter().for_each(|term| flatten(term, wanted, terms));
        }
        (Node::Not(operand), _) => flatten(operand, !wanted, terms),
        _ => terms.push((typed.clone(), wanted)),
    }
}

/// The rows for which `typed` is true, or false unless it is `wanted`, as far as conditions tell.
fn tree(typed: &Typed, wanted: bool, conditions: &mut Vec<Condition>) -> Option<Tree> {
    match typed.node() {
        Node::Not(operand) => tree(operand, !wanted, conditions),
        Node::And(terms) if wanted => all(terms, wanted, conditions),
        Node::Or(terms) if !wanted => all(terms, wanted, conditions),
        Node::And(terms) | Node::Or(terms) => {
            let start = conditions.len();
            let trees: Option<Vec<Tree>> = terms.iter().map(|term| tree(term, wanted, conditions)).collect();
            if trees.is_none() {
                conditions.truncate(start);
            }
            trees.map(Tree::Or)
        }
        // IS TRUE and IS FALSE are never NULL: where they are false, the operand is anything else.
        Node::Is { operand, test: test @ (Test::True | Test::False), negated } => {
            let inner = tree(operand, *test == Test::True, conditions)?;
            match *negated == wanted {
                false => Some(inner),
                true if inner.is_exact() => Some(Tree::Complement(Box::new(inner))),
                true => None,
            }
        }
        Node::Literal(Scalar::Boolean(_)) => None,
        _ => {
            let condition = Condition::of(typed, wanted)?;
            let exact = condition.exact;
            conditions.push(condition);
            let leaf = Tree::Leaf(conditions.len() - 1);
            Some(if exact { leaf } else { Tree::AtMost(Box::new(leaf)) })
        }
    }
}

/// Of terms of which all must hold, those that conditions tell about.
fn all(terms: &[Typed], wanted: bool, conditions: &mut Vec<Condition>) -> Option<Tree> {
    let mut trees: Vec<Tree> = Vec::new();
    let mut served = 0;
    for term in terms {
        let Some(found) = tree(term, wanted, conditions) else { continue };
        served += 1;
        if !trees.iter().any(|earlier| join(Some(earlier), Some(&found), conditions)) {
            trees.push(found);
        }
    }
    match served == terms.len() {
        true => Some(Tree::And(trees)),
        false if trees.is_empty() => None,
        false => Some(Tree::AtMost(Box::new(Tree::And(trees)))),
    }
}

impl Tree {
    /// Whether the answer is exact if those of all conditions are.
    fn is_exact(&self) -> bool {
        match self {
            Tree::Leaf(_) => true,
            Tree::And(trees) | Tree::Or(trees) => trees.iter().all(Tree::is_exact),
            Tree::Complement(inner) => inner.is_exact(),
            Tree::AtMost(_) => false,
        }
    }

    /// Gives every condition another number.
    fn renumber(&mut self, number_of: &mut dyn FnMut(usize) -> usize) {
        match self {
            Tree::Leaf(number) => *number = number_of(*number),
            Tree::And(trees) | Tree::Or(trees) => trees.iter_mut().for_each(|tree| tree.renumber(number_of)),
            Tree::Complement(inner) | Tree::AtMost(inner) => inner.renumber(number_of),
        }
    }

    /// Calls `visit` with every condition's number.
    pub(crate) fn leaves(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Tree::Leaf(number) => visit(*number),
            Tree::And(trees) | Tree::Or(trees) => trees.iter().for_each(|tree| tree.leaves(visit)),
            Tree::Complement(inner) | Tree::AtMost(inner) => inner.leaves(visit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataType, Field, Schema, expr::Expr};
    use std::sync::Arc;

    fn schema() -> Schema {
        let item = Arc::new(Field::new("item", 5, DataType::Int32, true));
        let fields = [
            ("a", DataType::Int32),
            ("b", DataType::Boolean),
            ("t", DataType::Utf8),
            ("f", DataType::Float64),
            ("l", DataType::List(item)),
        ];
        let mut schema = Schema::default();
        schema.fields = fields
            .into_iter()
            .zip(0..)
            .map(|((name, data_type), id)| Arc::new(Field::new(name, id, data_type, true)))
            .collect();
        schema
    }

    /// The conjuncts of a filter as their trees, `-` for one that no index can serve.
    fn trees(filter: &str) -> String {
        fn show(tree: &Tree, conditions: &[Condition]) -> String {
            let join = |trees: &[Tree], between: &str| {
                let trees: Vec<String> = trees.iter().map(|tree| show(tree, conditions)).collect();
                format!("({})", trees.join(between))
            };
            match tree {
                Tree::Leaf(number) => conditions[*number].to_string(),
                Tree::And(trees) => join(trees, " and "),
                Tree::Or(trees) => join(trees, " or "),
                Tree::Complement(inner) => format!("all but {}", show(inner, conditions)),
                Tree::AtMost(inner) => format!("some of {}", show(inner, conditions)),
            }
        }
        let typed = Expr::parse(filter).unwrap().bind_filter(&schema()).unwrap();
        let (conjuncts, conditions) = split(&typed);
        let mut used = Vec::new();
        let trees = || conjuncts.iter().filter_map(|conjunct| conjunct.tree.as_ref());
        trees().for_each(|tree| tree.leaves(&mut |number| used.push(number)));
        used.sort_unstable();
        assert!(used.iter().copied().eq(0..conditions.len()), "{filter}: {used:?}");
        let show =
            |conjunct: &Conjunct| conjunct.tree.as_ref().map_or("-".into(), |tree| show(tree, &conditions));
        conjuncts.iter().map(show).collect::<Vec<String>>().join("; ")
    }

    #[test]
    fn conjuncts_and_their_trees() {
        for (filter, expected) in [
            ("a = 1", "a ="),
            ("a != 1", "NOT (a =)"),
            ("NOT (a < 1 OR b)", "NOT (a range); NOT (b =)"),
            ("a > 1 AND t = 'x' AND a <= 5", "a range; t ="),
            ("a > 1 AND a > 2", "a range; a range"),
            ("a IS NOT NULL AND a > 1", "a range"),
            ("a IS NOT NULL AND t = 'x'", "NOT (a is null); t ="),
            ("a = 1 OR t = 'x'", "(a = or t =)"),
            ("a = 1 OR a + 1 = 2", "-"),
            ("(a = 1 AND a + 1 = 2) OR t = 'x'", "(some of (a =) or t =)"),
            ("b IS TRUE", "b ="),
            ("b IS NOT TRUE", "all but b ="),
            ("(a > 1) IS FALSE", "NOT (a range)"),
            ("t LIKE 'ab%'", "t starts with"),
            ("t LIKE 'a%b'", "some of t starts with"),
            ("t NOT LIKE 'ab%'", "NOT (t starts with)"),
            ("t NOT LIKE 'a%b'", "-"),
            ("t LIKE '%abc%'", "t contains"),
            ("t LIKE 'abc'", "t ="),
            ("t ILIKE 'abc%'", "-"),
            ("array_has(l, 1)", "l has any"),
            ("NOT array_has_all(l, [1, 2])", "NOT (l has all)"),
            ("a IN (1, 2, NULL)", "a in"),
            ("a NOT IN (1, NULL)", "-"),
            ("a BETWEEN 1 AND 5", "a range"),
            ("f = 0", "f ="),
        ] {
            assert_eq!(trees(filter), expected, "{filter}");
        }
    }
}
