//! Filters through the indices of all stored datasets: with indices and without, the answer is the same.

use crate::{datasets, segments};
use lancet::{Column, DataType, Dataset, IndexUse, Reading};

/// SplitMix64: the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % bound as u64) as usize
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &'a [Box<T>]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Conditions on one column.
pub(crate) struct Conditions {
    pub(crate) column: String,
    is_boolean: bool,
    is_text: bool,
    is_list: bool,
    /// Literals that filters can be written with, most of them values of the column.
    pub(crate) literals: Vec<Box<str>>,
}

impl Conditions {
    pub(crate) fn of(dataset: &Dataset, column: &str) -> Option<Self> {
        let values = dataset.scan().columns([column]).unwrap().collect().unwrap().columns()[0].clone();
        let list = matches!(values.data_type(), DataType::List(_) | DataType::LargeList(_));
        let items = match list {
            true => values.child()?.clone(),
            false => values,
        };
        let step = (items.len() / 12).max(1);
        let mut literals: Vec<Box<str>> =
            (0..items.len()).step_by(step).filter_map(|row| literal(&items, row)).collect();
        literals.extend(others(items.data_type()));
        Some(Conditions {
            column: format!("`{}`", column.replace('.', "`.`")),
            is_boolean: *items.data_type() == DataType::Boolean && !list,
            is_text: matches!(items.data_type(), DataType::Utf8 | DataType::LargeUtf8) && !list,
            is_list: list,
            literals,
        })
        .filter(|conditions| !conditions.literals.is_empty())
    }

    fn one(&self, random: &mut Random) -> String {
        let column = &self.column;
        let literals = &self.literals;
        let value = random.pick(literals);
        let several = |random: &mut Random| {
            let count = 1 + random.below(5);
            (0..count).map(|_| random.pick(literals)).collect::<Vec<_>>().join(", ")
        };
        if self.is_list {
            return match random.below(5) {
                0 => format!("array_has({column}, {value})"),
                1 => format!("array_has_any({column}, [{}])", several(random)),
                2 => format!("array_has_all({column}, [{}])", several(random)),
                3 => format!("{column} IS NULL"),
                _ => format!("{column} IS NOT NULL"),
            };
        }
        if self.is_boolean && random.below(2) == 0 {
            let forms = ["{}", "NOT {}", "{} IS TRUE", "{} IS NOT FALSE", "NOT ({} IS FALSE)"];
            return forms[random.below(forms.len())].replace("{}", column);
        }
        if self.is_text && random.below(2) == 0 {
            let text: String = value.trim_matches('\'').replace("''", "").replace(['%', '_', '\\'], "");
            let head: String = text.chars().take(1 + random.below(4)).collect();
            let part: String = text.chars().skip(1).take(2 + random.below(3)).collect();
            return match random.below(5) {
                0 => format!("{column} LIKE '{head}%'"),
                1 => format!("{column} LIKE '{head}%{part}%'"),
                2 => format!("starts_with({column}, '{head}')"),
                3 => format!("contains({column}, '{part}')"),
                _ => format!("{column} LIKE '%{part}%'"),
            };
        }
        let other = random.pick(literals);
        match random.below(10) {
            0 => format!("{column} = {value}"),
            1 => format!("{column} != {value}"),
            2 => format!("{column} < {value}"),
            3 => format!("{column} >= {value}"),
            4 => format!("{column} BETWEEN {value} AND {other}"),
            5 => format!("{column} > {value} AND {column} <= {other}"),
            6 => format!("{column} IN ({})", several(random)),
            7 => format!("{column} NOT IN ({})", several(random)),
            8 => format!("{column} IS NULL"),
            _ => format!("{column} IS NOT NULL"),
        }
    }
}

/// Value `row` as it is written in a filter; none for NULL and types whose literals need more care.
fn literal(values: &Column, row: usize) -> Option<Box<str>> {
    if values.is_null(row) {
        return None;
    }
    let text = match values.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => format!("'{}'", values.str(row)?.replace('\'', "''")),
        DataType::Int8 => values.primitive::<i8>()?[row].to_string(),
        DataType::Int16 => values.primitive::<i16>()?[row].to_string(),
        DataType::Int32 => values.primitive::<i32>()?[row].to_string(),
        DataType::Int64 => values.primitive::<i64>()?[row].to_string(),
        DataType::UInt8 => values.primitive::<u8>()?[row].to_string(),
        DataType::UInt16 => values.primitive::<u16>()?[row].to_string(),
        DataType::UInt32 => values.primitive::<u32>()?[row].to_string(),
        DataType::UInt64 => values.primitive::<u64>()?[row].to_string(),
        DataType::Float32 => finite(values.primitive::<f32>()?[row].into())?,
        DataType::Float64 => finite(values.primitive::<f64>()?[row])?,
        DataType::Boolean => values.boolean(row)?.to_string(),
        DataType::Date32 => {
            format!("CAST({} AS DATE)", values.primitive::<i32>()?[row])
        }
        DataType::Timestamp(..) => format!("TIMESTAMP '{}'", instant(values, row)?),
        _ => return None,
    };
    Some(text.into())
}

fn finite(value: f64) -> Option<String> {
    value.is_finite().then(|| format!("{value:?}"))
}

/// The second in which a timestamp lies, as a text.
fn instant(values: &Column, row: usize) -> Option<String> {
    let DataType::Timestamp(unit, _) = values.data_type() else { return None };
    let ticks = values.primitive::<i64>()?[row];
    let per_second = 10i64.pow(match unit {
        lancet::TimeUnit::Second => 0,
        lancet::TimeUnit::Millisecond => 3,
        lancet::TimeUnit::Microsecond => 6,
        _ => 9,
    });
    let seconds = ticks.div_euclid(per_second);
    let (days, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Howard Hinnant's days_from_civil, the other way round.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..10 => (year_of_era + era * 400, month + 3),
        _ => (year_of_era + era * 400 + 1, month - 9),
    };
    let in_range = (1..=9999).contains(&year);
    let time = format!("{:02}:{:02}:{:02}", time / 3600, time / 60 % 60, time % 60);
    in_range.then(|| format!("{year:04}-{month:02}-{day:02} {time}Z"))
}

/// Literals that are at the edge of a type, or no values of most columns.
fn others(data_type: &DataType) -> Vec<Box<str>> {
    let texts: &[&str] = match data_type {
        DataType::Float32 | DataType::Float64 => &["0.0", "-0.0", "1e30", "-1e30"],
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => &["0", "-1", "127"],
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => &["0", "255"],
        DataType::Utf8 | DataType::LargeUtf8 => &["''", "'zzz'", "'a'"],
        _ => &[],
    };
    texts.iter().map(|text| (*text).into()).collect()
}

fn tree(random: &mut Random, all: &[Conditions], depth: usize) -> String {
    let one = |random: &mut Random| {
        let of = random.below(all.len());
        all[of].one(random)
    };
    match random.below(if depth == 0 { 1 } else { 6 }) {
        0 => one(random),
        1 => format!("NOT ({})", tree(random, all, depth - 1)),
        2 => format!("({}) IS NOT TRUE", tree(random, all, depth - 1)),
        3 | 4 => format!("({}) AND ({})", tree(random, all, depth - 1), tree(random, all, depth - 1)),
        _ => format!("({}) OR ({})", tree(random, all, depth - 1), tree(random, all, depth - 1)),
    }
}

/// The addresses of the rows that a filter selects, in order.
pub(crate) fn rows(dataset: &Dataset, filter: &str, when: IndexUse) -> Vec<u64> {
    let scan = dataset.scan().indices(when).filter(filter).unwrap().columns(["_rowaddr"]).unwrap();
    let batch = scan.collect().unwrap_or_else(|error| panic!("{}: {filter}: {error}", dataset.root()));
    batch.columns()[0].primitive::<u64>().unwrap().to_vec()
}

#[test]
fn indices_change_no_answer() {
    let mut random = Random(9);
    let (mut asked, mut used, mut exact, mut datasets_with) = (0, 0, 0, 0);
    for path in datasets("").into_iter().chain(datasets("bugs")) {
        let dataset = Dataset::open(&path).unwrap();
        let fields: Vec<i32> =
            segments(&dataset).iter().filter_map(|(entry, _)| entry.fields.first().copied()).collect();
        let columns = fields.iter().filter_map(|field| dataset.schema().path_of(*field));
        let conditions: Vec<Conditions> =
            columns.filter_map(|column| Conditions::of(&dataset, &column)).collect();
        if conditions.is_empty() {
            continue;
        }
        datasets_with += 1;
        for round in 0..48 {
            // A complement below OR and AND, where a superset must not do for it, now and then.
            let filter = match round % 8 {
                7 => {
                    let [a, b, c] = [0, 1, 0].map(|depth| tree(&mut random, &conditions, depth));
                    format!("({a}) OR (({b}) IS NOT TRUE AND ({c}))")
                }
                depth => tree(&mut random, &conditions, depth % 4),
            };
            let expected = rows(&dataset, &filter, IndexUse::Never);
            for when in [IndexUse::Always, IndexUse::Auto] {
                assert_eq!(rows(&dataset, &filter, when), expected, "{}: {filter}", path.display());
            }
            let scan = || dataset.scan().indices(IndexUse::Always).filter(&filter).unwrap();
            assert_eq!(scan().count().unwrap(), expected.len() as u64, "{}: {filter}", path.display());
            let (offset, limit) = (random.below(5), random.below(20));
            let window = scan().offset(offset as u64).limit(limit as u64).columns(["_rowaddr"]).unwrap();
            let window = window.collect().unwrap().columns()[0].primitive::<u64>().unwrap().to_vec();
            let end = expected.len().min(offset + limit);
            assert_eq!(window, expected[offset.min(end)..end], "{}: {filter}", path.display());
            let plan = scan().explain().unwrap();
            asked += 1;
            used += usize::from(plan.index_query.is_some());
            exact += usize::from(plan.fragments.iter().any(|fragment| fragment.reading == Reading::Exact));
        }
    }
    println!(
        "{asked} filters on {datasets_with} datasets: {used} used an index, {exact} of them with exact answers"
    );
    assert!(datasets_with > 20 && used * 2 > asked && exact * 4 > asked, "{used} and {exact} of {asked}");
}
