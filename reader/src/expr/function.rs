//! [`Function`]: the functions that an expression may call.

/// A function. Unless its line says otherwise, it is NULL where one of its arguments is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Function {
    /// `starts_with(text, prefix)`: bool.
    StartsWith,
    /// `ends_with(text, suffix)`: bool.
    EndsWith,
    /// `contains(text, part)`: bool.
    Contains,
    /// `regexp_like(text, pattern[, flags])`, also called `regexp_match`: bool, whether the pattern matches
    /// somewhere.
    RegexpLike,
    /// `lower(text)`: utf8, by Unicode's rules.
    Lower,
    /// `upper(text)`: utf8, by Unicode's rules.
    Upper,
    /// `length(text)`: int32, in characters.
    Length,
    /// `trim(text[, characters])`: utf8 without spaces, or without those characters, at both ends.
    Trim,
    /// `substr(text, start[, count])`: utf8, in characters, the numbers int64; `start` counts from 1, and what lies
    /// before the text counts too. A `count` below zero is an error.
    Substr,
    /// `concat(text, …)`: utf8; NULL arguments are skipped.
    Concat,
    /// `left || right`: utf8.
    Join,
    /// `abs(number)`: the number's type; the least integer of its type is an error.
    Abs,
    /// `round(number[, digits])`: half away from zero; of float32 or float64, which is its type too, and digits as
    /// int64.
    Round,
    /// `floor(number)`: of float32 or float64, which is its type too.
    Floor,
    /// `ceil(number)`: of float32 or float64, which is its type too.
    Ceil,
    /// `coalesce(value, …)`: the first that is not NULL; all have the type of the result.
    Coalesce,
    /// `nullif(value, other)`: NULL where the two are equal, else the value, also where `other` is NULL; both have
    /// the type of the result.
    NullIf,
    /// `isnan(number)`: bool, of float32 or float64.
    IsNan,
    /// `date_trunc('unit', timestamp)`: the timestamp's type, by the clocks of its own zone. A date is cast to
    /// timestamp(ns) first.
    DateTrunc(DateUnit),
    /// `date_part('part', timestamp)`: int32, float64 for `epoch`; of a timestamp by the clocks of its own zone, of a
    /// date, or of a time.
    DatePart(DatePart),
    /// `to_timestamp(seconds)`: timestamp(ns) of a float64. Of other types it is no function but casts.
    ToTimestamp,
    /// `array_has(list, item)`, also called `array_contains`: bool; NULL if the list or the item is.
    ArrayHas,
    /// `array_has_any(list, list)`: bool, whether some item of the second is in the first. A NULL item equals
    /// NULL items.
    ArrayHasAny,
    /// `array_has_all(list, list)`: bool, whether every item of the second is in the first. A NULL item equals
    /// NULL items.
    ArrayHasAll,
    /// `array_length(list)`: uint64.
    ArrayLength,
    /// `list[index]`: the item at an int64, counted from 1, or from −1 at the end; NULL where there is none.
    Element,
}

/// What [`Function::DateTrunc`] cuts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Their names say it.
pub enum DateUnit {
    Year,
    Quarter,
    Month,
    /// Weeks begin on Mondays.
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
}

/// What [`Function::DatePart`] takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Their names say it.
pub enum DatePart {
    Year,
    Quarter,
    Month,
    /// The week of ISO 8601, 1 to 53.
    Week,
    Day,
    /// Day of the week, 0 is Sunday.
    DayOfWeek,
    /// Day of the year, from 1.
    DayOfYear,
    Hour,
    Minute,
    Second,
    /// The seconds in milliseconds, fraction included.
    Millisecond,
    /// The seconds in microseconds, fraction included.
    Microsecond,
    /// The seconds in nanoseconds, fraction included.
    Nanosecond,
    /// Seconds since 1970-01-01T00:00:00Z with their fraction.
    Epoch,
}

impl Function {
    /// What is called like this, and with how many arguments; none of the functions that are no function any more
    /// once types are known.
    pub(super) fn named(name: &str) -> Option<(Self, std::ops::RangeInclusive<usize>)> {
        use Function::*;
        Some(match name {
            "starts_with" => (StartsWith, 2..=2),
            "ends_with" => (EndsWith, 2..=2),
            "contains" => (Contains, 2..=2),
            "regexp_like" | "regexp_match" => (RegexpLike, 2..=3),
            "lower" => (Lower, 1..=1),
            "upper" => (Upper, 1..=1),
            "length" => (Length, 1..=1),
            "trim" => (Trim, 1..=2),
            "substr" => (Substr, 2..=3),
            "concat" => (Concat, 1..=usize::MAX),
            "abs" => (Abs, 1..=1),
            "round" => (Round, 1..=2),
            "floor" => (Floor, 1..=1),
            "ceil" => (Ceil, 1..=1),
            "coalesce" => (Coalesce, 1..=usize::MAX),
            "nullif" => (NullIf, 2..=2),
            "isnan" => (IsNan, 1..=1),
            "to_timestamp" => (ToTimestamp, 1..=1),
            "array_has" | "array_contains" => (ArrayHas, 2..=2),
            "array_has_any" => (ArrayHasAny, 2..=2),
            "array_has_all" => (ArrayHasAll, 2..=2),
            "array_length" => (ArrayLength, 1..=1),
            _ => return None,
        })
    }
}

impl DateUnit {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match &*name.to_lowercase() {
            "year" => DateUnit::Year,
            "quarter" => DateUnit::Quarter,
            "month" => DateUnit::Month,
            "week" => DateUnit::Week,
            "day" => DateUnit::Day,
            "hour" => DateUnit::Hour,
            "minute" => DateUnit::Minute,
            "second" => DateUnit::Second,
            "millisecond" => DateUnit::Millisecond,
            "microsecond" => DateUnit::Microsecond,
            _ => return None,
        })
    }
}

impl DatePart {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match &*name.to_lowercase() {
            "year" => DatePart::Year,
            "quarter" => DatePart::Quarter,
            "month" => DatePart::Month,
            "week" => DatePart::Week,
            "day" => DatePart::Day,
            "dow" => DatePart::DayOfWeek,
            "doy" => DatePart::DayOfYear,
            "hour" => DatePart::Hour,
            "minute" => DatePart::Minute,
            "second" => DatePart::Second,
            "millisecond" => DatePart::Millisecond,
            "microsecond" => DatePart::Microsecond,
            "nanosecond" => DatePart::Nanosecond,
            "epoch" => DatePart::Epoch,
            _ => return None,
        })
    }
}
