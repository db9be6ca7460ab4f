//! Dates and times of the proleptic Gregorian calendar, of every year that 64 bits can hold.

use super::text::show;
use lancet::TimeUnit;

const SECONDS_A_DAY: i64 = 86_400;

/// Appends `YYYY-MM-DD`, `days` after 1970-01-01.
///
/// Years outside 0 to 9999 are written as ISO 8601 expands them, with a sign.
pub(super) fn date(out: &mut String, days: i64) {
    // Years are counted from March of the year 0, so that leap days come last; 400 of them are one era.
    const DAYS_AN_ERA: i64 = 146_097;
    const MARCH_OF_0_TO_1970: i64 = 719_468;
    // The days of an era and of 1970 apart, lest the sum overflow.
    let (era, day) = (days.div_euclid(DAYS_AN_ERA), days.rem_euclid(DAYS_AN_ERA) + MARCH_OF_0_TO_1970);
    let (era, day) = (era + day / DAYS_AN_ERA, day % DAYS_AN_ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = year + 400 * era + i64::from(month >= 10);
    let month = if month < 10 { month + 3 } else { month - 9 };
    match year {
        0..=9999 => show(out, format_args!("{year:04}-{month:02}-{day:02}")),
        _ => show(out, format_args!("{year:+05}-{month:02}-{day:02}")),
    }
}

/// Appends `HH:MM:SS` with the digits of the unit.
pub(super) fn time(out: &mut String, value: i64, unit: TimeUnit) {
    let (seconds, fraction) = split(value, unit);
    // A time before the day's start or behind its end is wrong, and shown as what it is.
    if seconds < 0 {
        out.push('-');
        let (seconds, fraction) = match fraction {
            0 => (-seconds, 0),
            _ => (-seconds - 1, per_second(unit) - fraction),
        };
        clock(out, seconds, fraction, unit);
    } else {
        clock(out, seconds, fraction, unit);
    }
}

/// Appends an RFC 3339 timestamp with the digits of the unit; `Z` if the column has a time zone.
pub(super) fn timestamp(out: &mut String, value: i64, unit: TimeUnit, zoned: bool) {
    let (seconds, fraction) = split(value, unit);
    date(out, seconds.div_euclid(SECONDS_A_DAY));
    out.push('T');
    clock(out, seconds.rem_euclid(SECONDS_A_DAY), fraction, unit);
    if zoned {
        out.push('Z');
    }
}

fn per_second(unit: TimeUnit) -> i64 {
    10_i64.pow(unit.digits() as u32)
}

/// Whole seconds, rounded down, and the rest in the unit.
fn split(value: i64, unit: TimeUnit) -> (i64, i64) {
    (value.div_euclid(per_second(unit)), value.rem_euclid(per_second(unit)))
}

fn clock(out: &mut String, seconds: i64, fraction: i64, unit: TimeUnit) {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    show(out, format_args!("{hours:02}:{minutes:02}:{seconds:02}"));
    if unit.digits() > 0 {
        show(out, format_args!(".{fraction:0width$}", width = unit.digits()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TimeUnit::*;

    fn written(write: impl Fn(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    #[test]
    fn dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (-25_509, "1900-02-28"),
            (-25_508, "1900-03-01"),
            (-719_162, "0001-01-01"),
            (-719_528, "0000-01-01"),
            (-719_529, "-0001-12-31"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "+10000-01-01"),
            (i64::from(i32::MAX), "+5881580-07-11"),
            (i64::from(i32::MIN), "-5877641-06-23"),
        ] {
            assert_eq!(written(|out| date(out, days)), expected);
        }
    }

    #[test]
    fn days_follow_each_other() {
        let mut previous = written(|out| date(out, -800_001));
        for days in -800_000..-600_000 {
            let next = written(|out| date(out, days));
            let day = |text: &str| text.rsplit('-').next().unwrap().parse::<u32>().unwrap();
            assert!(day(&next) == day(&previous) + 1 || (day(&next) == 1 && day(&previous) >= 28), "{next}");
            previous = next;
        }
    }

    #[test]
    fn times() {
        for (value, unit, expected) in [
            (0, Second, "00:00:00"),
            (86_399, Second, "23:59:59"),
            (3_723_004, Millisecond, "01:02:03.004"),
            (86_399_999_999, Microsecond, "23:59:59.999999"),
            (1, Nanosecond, "00:00:00.000000001"),
            (-1, Second, "-00:00:01"),
            (-1, Millisecond, "-00:00:00.001"),
            (-86_400_500, Millisecond, "-24:00:00.500"),
            (i64::MIN, Nanosecond, "-2562047:47:16.854775808"),
        ] {
            assert_eq!(written(|out| time(out, value, unit)), expected);
        }
    }

    #[test]
    fn timestamps() {
        for (value, unit, zoned, expected) in [
            (0, Second, false, "1970-01-01T00:00:00"),
            (-1, Nanosecond, true, "1969-12-31T23:59:59.999999999Z"),
            (-62_135_596_800_000, Millisecond, false, "0001-01-01T00:00:00.000"),
            (253_402_300_800_000_000, Microsecond, true, "+10000-01-01T00:00:00.000000Z"),
            (i64::MIN, Nanosecond, false, "1677-09-21T00:12:43.145224192"),
            (i64::MAX, Nanosecond, false, "2262-04-11T23:47:16.854775807"),
            (i64::MAX, Second, false, "+292277026596-12-04T15:30:07"),
            (i64::MIN, Second, false, "-292277022657-01-27T08:29:52"),
        ] {
            assert_eq!(written(|out| timestamp(out, value, unit, zoned)), expected);
        }
    }
}
