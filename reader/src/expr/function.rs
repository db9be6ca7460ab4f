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
    /// `trim(text[, characters])`: utf8 without spaces, or those characters, at both ends.
    Trim,
    /// `substr(text, start[, count])`: utf8, in characters; `start` counts from 1, and what lies before the
    /// text counts too. A `count` below zero is an error.
    Substr,
    /// `concat(value, …)`: utf8; NULL arguments are skipped.
    Concat,
    /// `left || right`: utf8.
    Join,
    /// `abs(number)`: the number's type; the least integer of its type is an error.
    Abs,
    /// `round(number[, digits])`: half away from zero; the number's float type, float64 for others.
    Round,
    /// `floor(number)`: the number's float type, float64 for others.
    Floor,
    /// `ceil(number)`: the number's float type, float64 for others.
    Ceil,
    /// `coalesce(value, …)`: the first that is not NULL.
    Coalesce,
    /// `nullif(value, other)`: NULL where the two are equal, else the value, also where `other` is NULL.
    NullIf,
    /// `isnan(number)`: bool; never true for other numbers than floats.
    IsNan,
    /// `date_trunc(unit, timestamp)`: the timestamp's type, in its own zone; of a date a timestamp(ns). The unit
    /// is a literal, see [`DateUnit`].
    DateTrunc(DateUnit),
    /// `date_part(unit, timestamp)`: int32, float64 for `epoch`; of a timestamp in its own zone, or of a date or
    /// a time.
    DatePart(DatePart),
    /// `to_timestamp(value)`: timestamp(ns), of a text, of a number of seconds, or of a date or timestamp. It is
    /// the cast's kind of function: a text that is none is an error.
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
    /// `list[index]`: the item, counted from 1, or from −1 at the end; NULL where there is none.
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
