//! Dates, times and timestamps as text and as numbers, and the zones that they are meant in.
//!
//! Zones come from `jiff` with the IANA database built in, so that an answer does not depend on the machine.

use crate::TimeUnit;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, civil};

const SECONDS_PER_DAY: i128 = 86_400;
const NANOS: i128 = 1_000_000_000;

/// What a text says of a point in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    /// Nanoseconds since 1970-01-01T00:00:00 of the clock on the wall, rounded down.
    local: i128,
    /// Whether it is a little later than that.
    finer: bool,
    /// How far that clock is ahead of UTC, in seconds, if the text says so.
    offset: Option<i64>,
}

/// A number of units, and whether the moment lies between this one and the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ticks {
    /// Units since the epoch, rounded down.
    pub(crate) floor: i64,
    /// Whether that is exact.
    pub(crate) exact: bool,
}

/// The zone with this name, as a column's type names it: `UTC`, `Europe/Berlin`, `+05:30`.
pub(crate) fn zone(name: &str) -> Option<TimeZone> {
    if name == "Z" {
        return Some(TimeZone::UTC);
    }
    match name.starts_with(['+', '-']) {
        true => {
            let mut rest = name;
            let seconds = offset(&mut rest).filter(|_| rest.is_empty())?;
            Some(TimeZone::fixed(Offset::from_seconds(seconds.try_into().ok()?).ok()?))
        }
        false => TimeZone::get(name).ok(),
    }
}

/// How many units a second has.
pub(crate) fn per_second(unit: TimeUnit) -> i64 {
    10i64.pow(unit.digits() as u32)
}

impl Moment {
    /// Parses `YYYY-MM-DD`, or that and `HH:MM[:SS[.digits]]` after a space or a `T`, and then perhaps `Z`, or an
    /// offset of hours and minutes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let days = date(&mut rest)?;
        let mut moment = Moment { local: days * SECONDS_PER_DAY * NANOS, finer: false, offset: None };
        if let Some(time) = rest.strip_prefix([' ', 'T', 't']) {
            rest = time;
            let (nanos, finer) = time_of_day(&mut rest)?;
            moment.local += nanos;
            moment.finer = finer;
            rest = rest.trim_start();
        }
        moment.offset = match rest {
            "" => None,
            "Z" | "z" => Some(0),
            _ => Some(offset(&mut rest).filter(|_| rest.is_empty())?),
        };
        Some(moment)
    }

    /// Whether the text says which instant it is, not only what clocks show.
    pub(crate) fn is_instant(self) -> bool {
        self.offset.is_some()
    }

    /// Parses `HH:MM[:SS[.digits]]`: a moment of the first day.
    pub(crate) fn parse_time(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let (local, finer) = time_of_day(&mut rest)?;
        rest.is_empty().then_some(Moment { local, finer, offset: None })
    }

    /// The moment in units since the epoch, for a column of `zone`: the wall clock of the zone unless the text has an
    /// offset. Without a zone it is the wall clock itself, and an instant is told in UTC. None if it is out of range.
    pub(crate) fn ticks(self, unit: TimeUnit, zone: Option<&TimeZone>) -> Option<Ticks> {
        let nanos = match (self.offset, zone) {
            (Some(offset), _) => self.local - i128::from(offset) * NANOS,
            (None, None) => self.local,
            (None, Some(zone)) => instant(self.local, zone)?,
        };
        let nanos_per_unit = NANOS / i128::from(per_second(unit));
        let floor = nanos.div_euclid(nanos_per_unit).try_into().ok()?;
        Some(Ticks { floor, exact: !self.finer && nanos.rem_euclid(nanos_per_unit) == 0 })
    }

    /// The moment in days since the epoch; an instant is told in UTC.
    pub(crate) fn days(self) -> Option<Ticks> {
        let seconds = self.ticks(TimeUnit::Second, None)?;
        let floor = seconds.floor.div_euclid(SECONDS_PER_DAY as i64);
        let exact = seconds.exact && seconds.floor.rem_euclid(SECONDS_PER_DAY as i64) == 0;
        Some(Ticks { floor, exact })
    }
}

/// The nanoseconds since the epoch at which the clocks of `zone` show `local`. A time that is skipped is moved on by as
/// much as is skipped; one that comes twice is the first.
pub(crate) fn instant(local: i128, zone: &TimeZone) -> Option<i128> {
    let wall = Timestamp::from_nanosecond(local).ok()?;
    let wall: civil::DateTime = TimeZone::UTC.to_datetime(wall);
    Some(zone.to_timestamp(wall).ok()?.as_nanosecond())
}

/// What the clocks of `zone` show at that many nanoseconds since the epoch, as nanoseconds in turn.
pub(crate) fn wall_clock(nanos: i128, zone: &TimeZone) -> Option<i128> {
    let offset = zone.to_offset(Timestamp::from_nanosecond(nanos).ok()?);
    Some(nanos + i128::from(offset.seconds()) * NANOS)
}

/// `YYYY-MM-DD` of so many days since the epoch.
pub(crate) fn format_date(days: i64) -> Option<String> {
    let date = civil::date(1970, 1, 1).checked_add(jiff::Span::new().try_days(days).ok()?).ok()?;
    Some(date.to_string())
}

/// `HH:MM:SS`, and then no digits, or three, six or nine.
pub(crate) fn format_time(nanos: i64) -> Option<String> {
    let seconds = nanos.div_euclid(NANOS as i64);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if !(0..24).contains(&hours) {
        return None;
    }
    let fraction = nanos.rem_euclid(NANOS as i64);
    let fraction = match fraction {
        0 => String::new(),
        _ if fraction % 1_000_000 == 0 => format!(".{:03}", fraction / 1_000_000),
        _ if fraction % 1_000 == 0 => format!(".{:06}", fraction / 1_000),
        _ => format!(".{fraction:09}"),
    };
    Some(format!("{hours:02}:{minutes:02}:{seconds:02}{fraction}"))
}

/// `YYYY-MM-DDTHH:MM:SS[.digits]` in the zone, and then its offset, `Z` if there is none.
pub(crate) fn format_timestamp(nanos: i128, zone: Option<&TimeZone>) -> Option<String> {
    let local = match zone {
        Some(zone) => wall_clock(nanos, zone)?,
        None => nanos,
    };
    let per_day = SECONDS_PER_DAY * NANOS;
    let date = format_date(local.div_euclid(per_day).try_into().ok()?)?;
    let time = format_time(local.rem_euclid(per_day).try_into().ok()?)?;
    let ahead = (local - nanos) / NANOS;
    let offset = match (zone, ahead) {
        (None, _) => String::new(),
        (Some(_), 0) => "Z".into(),
        _ => {
            let sign = if ahead < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", ahead.abs() / 3600, ahead.abs() / 60 % 60)
        }
    };
    Some(format!("{date}T{time}{offset}"))
}

/// Takes `YYYY-MM-DD`: days since the epoch.
fn date(rest: &mut &str) -> Option<i128> {
    let year = digits(rest, 4)?;
    prefix(rest, "-")?;
    let month = digits(rest, 2)?;
    prefix(rest, "-")?;
    let day = digits(rest, 2)?;
    let date = civil::Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    let days = date.since((jiff::Unit::Day, civil::date(1970, 1, 1))).ok()?.get_days();
    Some(days.into())
}

/// Takes `HH:MM[:SS[.digits]]`: nanoseconds since midnight, and whether there are more digits than these.
fn time_of_day(rest: &mut &str) -> Option<(i128, bool)> {
    let hour = digits(rest, 2)?;
    prefix(rest, ":")?;
    let minute = digits(rest, 2)?;
    let (mut second, mut nanos, mut finer) = (0, 0, false);
    if prefix(rest, ":").is_some() {
        second = digits(rest, 2)?;
        if prefix(rest, ".").is_some() {
            let length = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (fraction, after) = rest.split_at(length);
            *rest = after;
            if fraction.is_empty() {
                return None;
            }
            for position in 0..9 {
                let digit = fraction.as_bytes().get(position).map_or(0, |digit| digit - b'0');
                nanos = nanos * 10 + i128::from(digit);
            }
            finer = fraction.bytes().skip(9).any(|digit| digit != b'0');
        }
    }
    let in_range = hour < 24 && minute < 60 && second < 60;
    let seconds = i128::from(hour * 3600 + minute * 60 + second);
    in_range.then_some((seconds * NANOS + nanos, finer))
}

/// Takes `±HH[[:]MM]`: seconds.
fn offset(rest: &mut &str) -> Option<i64> {
    let sign = match prefix(rest, "+") {
        Some(()) => 1,
        None => prefix(rest, "-").map(|()| -1)?,
    };
    let hours = digits(rest, 2)?;
    let minutes = match prefix(rest, ":").is_some() || !rest.is_empty() {
        true => digits(rest, 2)?,
        false => 0,
    };
    (hours < 24 && minutes < 60).then_some(sign * i64::from(hours * 3600 + minutes * 60))
}

fn digits(rest: &mut &str, count: usize) -> Option<u32> {
    let (digits, after) = rest.split_at_checked(count)?;
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    *rest = after;
    digits.parse().ok()
}

fn prefix(rest: &mut &str, text: &str) -> Option<()> {
    *rest = rest.strip_prefix(text)?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(text: &str, unit: TimeUnit, zone_name: Option<&str>) -> Option<(i64, bool)> {
        let zone = zone_name.map(|name| zone(name).unwrap());
        let ticks = Moment::parse(text)?.ticks(unit, zone.as_ref())?;
        Some((ticks.floor, ticks.exact))
    }

    #[test]
    fn local_times_follow_the_zone_and_instants_do_not() {
        let second = |text, zone| ticks(text, TimeUnit::Second, zone);
        assert_eq!(second("2020-01-05 00:00:00", None), Some((1_578_182_400, true)));
        assert_eq!(second("2020-01-05", Some("America/New_York")), Some((1_578_200_400, true)));
        assert_eq!(second("2020-07-05T00:00", Some("America/New_York")), Some((1_593_921_600, true)));
        assert_eq!(second("2020-01-05 00:00:00Z", Some("America/New_York")), Some((1_578_182_400, true)));
        assert_eq!(second("2020-01-05 00:00:00+01:00", None), Some((1_578_178_800, true)));
        assert_eq!(second("2020-01-05 00:00:00 -0130", None), Some((1_578_187_800, true)));
        assert_eq!(second("2020-01-05 00:00:00", Some("+05:30")), Some((1_578_162_600, true)));
        // 02:30 is skipped, 01:30 comes twice.
        assert_eq!(second("2020-03-08 02:30:00", Some("America/New_York")), Some((1_583_652_600, true)));
        assert_eq!(second("2020-11-01 01:30:00", Some("America/New_York")), Some((1_604_208_600, true)));
    }

    #[test]
    fn what_is_finer_than_the_unit_is_told() {
        assert_eq!(ticks("1969-12-31 23:59:59.5", TimeUnit::Second, None), Some((-1, false)));
        assert_eq!(ticks("1970-01-01 00:00:00.0010", TimeUnit::Millisecond, None), Some((1, true)));
        assert_eq!(ticks("1970-01-01 00:00:00.0000000001", TimeUnit::Nanosecond, None), Some((0, false)));
        assert_eq!(ticks("2300-01-01", TimeUnit::Nanosecond, None), None);
        let days = |text| Moment::parse(text).unwrap().days().unwrap();
        assert_eq!(days("1969-12-31 12:00"), Ticks { floor: -1, exact: false });
        assert_eq!(days("1970-01-02"), Ticks { floor: 1, exact: true });
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2020",
            "2020-1-1",
            "2020-13-01",
            "2020-02-30",
            "2020-01-01 24:00",
            "2020-01-01 10",
            "2020-01-01 10:00:60",
            "2020-01-01 10:00:00.",
            "2020-01-01 10:00 +25:00",
            "2020-01-01 10:00x",
            "é020-01-01",
        ] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
        assert!(zone("Mars/Olympus").is_none() && zone("+99:00").is_none());
    }

    #[test]
    fn formats_as_arrow_does() {
        let new_york = zone("America/New_York");
        let format = |nanos, zone: Option<&TimeZone>| format_timestamp(nanos, zone).unwrap();
        assert_eq!(format(0, None), "1970-01-01T00:00:00");
        assert_eq!(format(1_700_000_000_123_456_000, None), "2023-11-14T22:13:20.123456");
        assert_eq!(format(7_000, new_york.as_ref()), "1969-12-31T19:00:00.000007-05:00");
        assert_eq!(format(-1, zone("UTC").as_ref()), "1969-12-31T23:59:59.999999999Z");
    }
}
