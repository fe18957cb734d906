//! The proleptic Gregorian calendar and ISO weeks. Days count from 1970-01-01.

use super::{Date, LocalDateTime, LocalTime, NANOS_PER_SECOND, YEAR_MAX};

/// Days of 400 years.
const CYCLE_DAYS: i64 = 146_097;

/// Whether the year has a 29 February.
pub(crate) const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The days of a month, 1 to 12.
pub(crate) const fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days of a year.
pub(crate) const fn year_days(year: i64) -> i64 {
    365 + is_leap(year) as i64
}

/// The ISO weeks of a year: 52 or 53.
pub(crate) fn weeks(year: i64) -> i64 {
    let first = Date::first_of_year(year).weekday();
    // A year has 53 weeks if it begins on a Thursday, or on a Wednesday and is a leap year.
    52 + i64::from(first == 4 || (first == 3 && is_leap(year)))
}

impl Date {
    /// The date of a year, month and day, if it exists and the year is within the range.
    pub(crate) fn of(year: i64, month: i64, day: i64) -> Option<Date> {
        let exists = (-YEAR_MAX..=YEAR_MAX).contains(&year)
            && (1..=12).contains(&month)
            && (1..=month_days(year, month)).contains(&day);
        exists.then(|| Date::civil(year, month, day))
    }

    /// The date of fields that exist. Years begin in March here, so that a leap day ends one.
    fn civil(year: i64, month: i64, day: i64) -> Date {
        let year = year - i64::from(month <= 2);
        let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_cycle = year * 365 + year / 4 - year / 100 + day_of_year;
        // 719,468 days lie between 0000-03-01 and 1970-01-01.
        let days = cycle * CYCLE_DAYS + day_of_cycle - 719_468;
        Date { days }
    }

    pub(crate) fn first_of_year(year: i64) -> Date {
        Date::civil(year, 1, 1)
    }

    /// A date by its number of days, if its year is within the range.
    pub(crate) fn of_days(days: i64) -> Option<Date> {
        let first = Date::civil(-YEAR_MAX, 1, 1).days;
        let last = Date::civil(YEAR_MAX, 12, 31).days;
        (first..=last).contains(&days).then_some(Date { days })
    }

    /// Year, month and day.
    pub(crate) fn fields(self) -> (i64, i64, i64) {
        let days = self.days + 719_468;
        let (cycle, day) = (days.div_euclid(CYCLE_DAYS), days.rem_euclid(CYCLE_DAYS));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day_of_year = day - (365 * year + year / 4 - year / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 {
            shifted + 3
        } else {
            shifted - 9
        };
        (year + cycle * 400 + i64::from(month <= 2), month, day)
    }

    pub(crate) fn year(self) -> i64 {
        self.fields().0
    }

    /// The day of the year, from 1.
    pub(crate) fn ordinal(self) -> i64 {
        self.days - Date::first_of_year(self.year()).days + 1
    }

    /// The day of the week: Monday is 1.
    pub(crate) fn weekday(self) -> i64 {
        (self.days + 3).rem_euclid(7) + 1
    }

    /// The ISO week's year and number.
    pub(crate) fn week(self) -> (i64, i64) {
        // A week belongs to the year of its Thursday.
        let thursday = Date {
            days: self.days + 4 - self.weekday(),
        };
        (thursday.year(), (thursday.ordinal() - 1) / 7 + 1)
    }

    /// The Monday of the first ISO week of a year.
    pub(crate) fn first_week(year: i64) -> Date {
        let fourth = Date::civil(year, 1, 4);
        Date {
            days: fourth.days + 1 - fourth.weekday(),
        }
    }

    /// The quarter, from 1.
    pub(crate) fn quarter(self) -> i64 {
        (self.fields().1 - 1) / 3 + 1
    }

    /// The first day of the date's quarter.
    pub(crate) fn first_of_quarter(self) -> Date {
        Date::civil(self.year(), self.quarter() * 3 - 2, 1)
    }

    /// The date so many months later. A day that the month lacks becomes its last one.
    pub(crate) fn plus_months(self, months: i64) -> Option<Date> {
        let (year, month, day) = self.fields();
        let total = (year * 12 + month - 1).checked_add(months)?;
        let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
        Date::of(year, month, day.min(month_days(year, month)))
    }

    pub(crate) fn plus_days(self, days: i64) -> Option<Date> {
        Date::of_days(self.days.checked_add(days)?)
    }

    pub(crate) const fn at(self, time: LocalTime) -> LocalDateTime {
        LocalDateTime {
            seconds: self.days * 86_400 + time.nanos / NANOS_PER_SECOND,
            nanos: (time.nanos % NANOS_PER_SECOND) as u32,
        }
    }
}

impl LocalTime {
    pub(crate) const MIDNIGHT: LocalTime = LocalTime { nanos: 0 };

    /// A time of fields, if they are in range.
    pub(crate) fn of(hour: i64, minute: i64, second: i64, nano: i64) -> Option<LocalTime> {
        let exists = (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..60).contains(&second)
            && (0..NANOS_PER_SECOND).contains(&nano);
        exists.then(|| LocalTime {
            nanos: ((hour * 60 + minute) * 60 + second) * NANOS_PER_SECOND + nano,
        })
    }

    /// Hour, minute, second and nanosecond.
    pub(crate) const fn fields(self) -> (i64, i64, i64, i64) {
        let seconds = self.nanos / NANOS_PER_SECOND;
        let (hour, minute) = (seconds / 3_600, seconds / 60 % 60);
        (hour, minute, seconds % 60, self.nanos % NANOS_PER_SECOND)
    }
}

impl LocalDateTime {
    pub(crate) const fn date(self) -> Date {
        Date {
            days: self.seconds.div_euclid(86_400),
        }
    }

    pub(crate) const fn time(self) -> LocalTime {
        LocalTime {
            nanos: self.seconds.rem_euclid(86_400) * NANOS_PER_SECOND + self.nanos as i64,
        }
    }

    /// A date and time by its number of seconds, if its year is within the range.
    pub(crate) fn of_seconds(seconds: i64, nanos: u32) -> Option<LocalDateTime> {
        Date::of_days(seconds.div_euclid(86_400)).map(|_| LocalDateTime { seconds, nanos })
    }

    /// The date and time so many seconds later.
    pub(crate) fn plus_seconds(self, seconds: i64) -> Option<LocalDateTime> {
        LocalDateTime::of_seconds(self.seconds.checked_add(seconds)?, self.nanos)
    }

    /// Nanoseconds since 1970.
    pub(crate) fn total_nanos(self) -> i128 {
        i128::from(self.seconds) * i128::from(NANOS_PER_SECOND) + i128::from(self.nanos)
    }

    /// The date and time of so many nanoseconds since 1970, if its year is within the range.
    pub(crate) fn of_nanos(nanos: i128) -> Option<LocalDateTime> {
        let second = i128::from(NANOS_PER_SECOND);
        let seconds = i64::try_from(nanos.div_euclid(second)).ok()?;
        let rest = u32::try_from(nanos.rem_euclid(second)).ok()?;
        LocalDateTime::of_seconds(seconds, rest)
    }
}
