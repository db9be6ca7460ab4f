//! Functions of dates, times and timestamps: by the clocks of a timestamp's zone, in the calendar of ISO 8601.

use super::{
    build,
    expression::Call,
    types::{numbers, plain, unexpected},
};
use crate::{
    Error, Result,
    expr::{DatePart, DateUnit, instant, wall_clock, zone},
};
use jiff::tz::TimeZone;
use lancet_format::{Column, DataType, TimeUnit};

const SECOND: i128 = 1_000_000_000;
const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;
const DAY: i128 = 24 * HOUR;

/// How the numbers of a temporal type are nanoseconds.
struct Clock {
    nanos_per_tick: i128,
    zone: Option<TimeZone>,
    narrow: bool,
}

impl Clock {
    fn of(data_type: &DataType) -> Result<Self> {
        let ticks = |unit: TimeUnit| SECOND / 10i128.pow(unit.digits() as u32);
        let (nanos_per_tick, name, narrow) = match plain(data_type) {
            DataType::Timestamp(unit, name) => (ticks(*unit), name.clone(), false),
            DataType::Date32 => (DAY, None, true),
            DataType::Date64 => (ticks(TimeUnit::Millisecond), None, false),
            DataType::Time32(unit) => (ticks(*unit), None, true),
            DataType::Time64(unit) => (ticks(*unit), None, false),
            other => return Err(unexpected(other)),
        };
        let zone = match &name {
            Some(name) => Some(zone(name).ok_or_else(|| {
                Error::invalid_input(format!("{data_type}: expected a time zone of the IANA database"))
            })?),
            None => None,
        };
        Ok(Clock { nanos_per_tick, zone, narrow })
    }

    /// Nanoseconds since the epoch of every row.
    fn nanos<'a>(&self, column: &'a Column) -> Result<Box<dyn Fn(usize) -> i128 + 'a>> {
        let factor = self.nanos_per_tick;
        Ok(match self.narrow {
            true => {
                let ticks = numbers::<i32>(column)?;
                Box::new(move |row| i128::from(ticks[row]) * factor)
            }
            false => {
                let ticks = numbers::<i64>(column)?;
                Box::new(move |row| i128::from(ticks[row]) * factor)
            }
        })
    }

    /// What the clocks show at that time, as nanoseconds in turn; none beyond the calendar of zones.
    fn local(&self, nanos: i128) -> Option<i128> {
        match &self.zone {
            Some(zone) => wall_clock(nanos, zone),
            None => Some(nanos),
        }
    }
}

/// `date_trunc('unit', timestamp)`
pub(super) fn truncate(unit: DateUnit, data_type: &DataType) -> Result<Call> {
    let clock = Clock::of(data_type)?;
    let data_type = plain(data_type).clone();
    Ok(Call::new(move |values, _, fail| {
        let column = &values[0].column;
        let nanos_of = clock.nanos(column)?;
        let mut out = Vec::with_capacity(column.len());
        for row in 0..column.len() {
            if column.is_null(row) {
                out.push(0);
                continue;
            }
            let nanos = nanos_of(row);
            let ticks = truncated(unit, nanos, &clock).map(|nanos| nanos.div_euclid(clock.nanos_per_tick));
            let ticks = ticks.and_then(|ticks| i64::try_from(ticks).ok());
            if ticks.is_none() {
                fail.row(row, || {
                    format!("date_trunc: {} of {data_type} is out of range", nanos / clock.nanos_per_tick)
                });
            }
            out.push(ticks.unwrap_or(0));
        }
        build::numbers(&data_type, &out, column.validity().cloned())
    }))
}

fn truncated(unit: DateUnit, nanos: i128, clock: &Clock) -> Option<i128> {
    let local = clock.local(nanos)?;
    let step = match unit {
        DateUnit::Microsecond => 1_000,
        DateUnit::Millisecond => 1_000_000,
        DateUnit::Second => SECOND,
        DateUnit::Minute => MINUTE,
        DateUnit::Hour => HOUR,
        _ => {
            let day = days_truncated(unit, local.div_euclid(DAY));
            return match &clock.zone {
                Some(zone) => instant(day * DAY, zone),
                None => Some(day * DAY),
            };
        }
    };
    // Within the hour the clocks do not change, so that an hour which comes twice stays the one that it is.
    Some(nanos - local.rem_euclid(step))
}

fn days_truncated(unit: DateUnit, days: i128) -> i128 {
    let date = Date::of(days);
    match unit {
        DateUnit::Year => Date { month: 1, day: 1, ..date }.days(),
        DateUnit::Quarter => Date { month: (date.month - 1) / 3 * 3 + 1, day: 1, ..date }.days(),
        DateUnit::Month => Date { day: 1, ..date }.days(),
        DateUnit::Week => days - days_since_monday(days),
        _ => days,
    }
}

/// `date_part('part', value)`
pub(super) fn part(part: DatePart, data_type: &DataType) -> Result<Call> {
    let clock = Clock::of(data_type)?;
    let is_time = matches!(plain(data_type), DataType::Time32(_) | DataType::Time64(_));
    use DatePart::*;
    if is_time && !matches!(part, Hour | Minute | Second | Millisecond | Microsecond | Nanosecond | Epoch) {
        return Err(Error::invalid_input(format!("date_part: {data_type} has no {part:?}").to_lowercase()));
    }
    Ok(Call::new(move |values, _, fail| {
        let column = &values[0].column;
        let nanos_of = clock.nanos(column)?;
        let validity = column.validity().cloned();
        if part == Epoch {
            let seconds = (0..column.len()).map(|row| {
                let nanos = nanos_of(row);
                nanos.div_euclid(SECOND) as f64 + nanos.rem_euclid(SECOND) as f64 / SECOND as f64
            });
            return build::numbers(&DataType::Float64, &seconds.collect::<Vec<_>>(), validity);
        }
        let mut out = Vec::with_capacity(column.len());
        for row in 0..column.len() {
            let value = match column.is_null(row) {
                true => Some(0),
                false => {
                    let local = clock.local(nanos_of(row));
                    local.and_then(|local| i32::try_from(part_of(part, local)).ok())
                }
            };
            if value.is_none() {
                fail.row(row, || format!("date_part: {part:?} of {} does not fit int32", nanos_of(row)));
            }
            out.push(value.unwrap_or(0));
        }
        build::numbers(&DataType::Int32, &out, validity)
    }))
}

fn part_of(part: DatePart, local: i128) -> i128 {
    let (days, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    let date = Date::of(days);
    match part {
        DatePart::Year => date.year,
        DatePart::Quarter => (date.month - 1) / 3 + 1,
        DatePart::Month => date.month,
        DatePart::Week => {
            // The week belongs to the year that its Thursday lies in.
            let thursday = days - days_since_monday(days) + 3;
            let first = Date { month: 1, day: 1, ..Date::of(thursday) }.days();
            (thursday - first) / 7 + 1
        }
        DatePart::Day => date.day,
        DatePart::DayOfWeek => (days_since_monday(days) + 1) % 7,
        DatePart::DayOfYear => days - Date { month: 1, day: 1, ..date }.days() + 1,
        DatePart::Hour => time / HOUR,
        DatePart::Minute => time % HOUR / MINUTE,
        DatePart::Second => time % MINUTE / SECOND,
        DatePart::Millisecond => time % MINUTE / 1_000_000,
        DatePart::Microsecond => time % MINUTE / 1_000,
        DatePart::Nanosecond => time % MINUTE,
        DatePart::Epoch => local.div_euclid(SECOND),
    }
}

/// `to_timestamp(seconds)`
pub(super) fn of_seconds() -> Call {
    Call::new(|values, _, fail| {
        let column = &values[0].column;
        let mut out = Vec::with_capacity(column.len());
        for (row, &seconds) in numbers::<f64>(column)?.iter().enumerate() {
            let nanos = (seconds * 1e9).trunc();
            let fits = nanos >= i64::MIN as f64 && nanos < i64::MAX as f64;
            if !fits && !column.is_null(row) {
                fail.row(row, || format!("to_timestamp: {seconds} seconds are out of range"));
            }
            out.push(if fits { nanos as i64 } else { 0 });
        }
        let data_type = DataType::Timestamp(TimeUnit::Nanosecond, None);
        build::numbers(&data_type, &out, column.validity().cloned())
    })
}

/// The day of the epoch was a Thursday.
fn days_since_monday(days: i128) -> i128 {
    (days + 3).rem_euclid(7)
}

/// A day of the Gregorian calendar, extended to all years.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Date {
    year: i128,
    /// From 1.
    month: i128,
    /// From 1.
    day: i128,
}

/// Days of 400 years, after which the calendar repeats.
const ERA: i128 = 146_097;
/// From 0000-03-01 to 1970-01-01.
const EPOCH: i128 = 719_468;

impl Date {
    /// Years are counted from March here, so that a leap day is their last.
    fn of(days: i128) -> Self {
        let days = days + EPOCH;
        let (era, day_of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march = (5 * day_of_year + 2) / 153;
        let month = if march < 10 { march + 3 } else { march - 9 };
        let year = era * 400 + year_of_era + i128::from(month <= 2);
        Date { year, month, day: day_of_year - (153 * march + 2) / 5 + 1 }
    }

    /// Days since 1970-01-01.
    fn days(self) -> i128 {
        let year = self.year - i128::from(self.month <= 2);
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let march = if self.month > 2 { self.month - 3 } else { self.month + 9 };
        let day_of_year = (153 * march + 2) / 5 + self.day - 1;
        era * ERA + 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year - EPOCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_is_that_of_the_zones() {
        for days in (-719_000..2_900_000).step_by(97).chain([-1, 0, 1, 59, 789, 11_016]) {
            let date = Date::of(days);
            let expected =
                jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(days as i64)).unwrap();
            let found = (date.year, date.month, date.day);
            assert_eq!(found, (expected.year().into(), expected.month().into(), expected.day().into()));
            assert_eq!(date.days(), days);
            let local = days * DAY;
            assert_eq!(part_of(DatePart::DayOfYear, local), i128::from(expected.day_of_year()));
            assert_eq!(part_of(DatePart::Week, local), i128::from(expected.iso_week_date().week()));
            let sunday = expected.weekday().to_sunday_zero_offset();
            assert_eq!(part_of(DatePart::DayOfWeek, local), i128::from(sunday));
        }
    }

    #[test]
    fn cuts_by_the_clocks_of_the_zone() {
        let cut = |unit, at: &str, name: Option<&str>| {
            let data_type = DataType::Timestamp(TimeUnit::Second, name.map(Into::into));
            let at: jiff::Timestamp = at.parse().unwrap();
            let found = truncated(unit, at.as_nanosecond(), &Clock::of(&data_type).unwrap()).unwrap();
            jiff::Timestamp::from_nanosecond(found).unwrap().to_string()
        };
        let new_york = Some("America/New_York");
        assert_eq!(cut(DateUnit::Day, "2024-07-04T03:10:00Z", None), "2024-07-04T00:00:00Z");
        assert_eq!(cut(DateUnit::Day, "2024-07-04T03:10:00Z", new_york), "2024-07-03T04:00:00Z");
        assert_eq!(cut(DateUnit::Month, "2024-03-20T03:10:00Z", new_york), "2024-03-01T05:00:00Z");
        assert_eq!(cut(DateUnit::Quarter, "2024-06-20T03:10:00Z", None), "2024-04-01T00:00:00Z");
        assert_eq!(cut(DateUnit::Week, "2024-07-04T03:10:00Z", None), "2024-07-01T00:00:00Z");
        assert_eq!(cut(DateUnit::Hour, "2024-07-04T03:10:00Z", Some("+05:30")), "2024-07-04T02:30:00Z");
        // The second 01:30 of the night in which the clocks go back.
        assert_eq!(cut(DateUnit::Hour, "2024-11-03T06:30:00Z", new_york), "2024-11-03T06:00:00Z");
    }
}
