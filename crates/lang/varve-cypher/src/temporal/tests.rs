//! Tests of the calendar, texts and zones.

use proptest::prelude::*;

use super::{Date, Duration, LocalDateTime, YEAR_MAX, Zone, parse};

fn date(text: &str) -> Date {
    parse::date(text).expect(text)
}

#[test]
fn days_and_fields_agree() {
    let first = date("-999999999-01-01").days;
    let last = date("+999999999-12-31").days;
    assert_eq!(Date::of_days(first - 1).or(Date::of_days(last + 1)), None);
    let near = [first, last, 0, -719_468, 11_016];
    for center in near {
        for days in center - 800..=center + 800 {
            let Some(date) = Date::of_days(days) else {
                continue;
            };
            let (year, month, day) = date.fields();
            assert_eq!(Date::of(year, month, day), Some(date));
            assert_eq!(parse::date(&date.to_string()), Some(date));
            let (week_year, week) = date.week();
            if week_year.abs() <= YEAR_MAX {
                let again = parse::date_of_week(week_year, week, date.weekday());
                assert_eq!(again, Some(date), "{date}");
            }
            assert_eq!(parse::ordinal_date(year, date.ordinal()), Some(date));
        }
    }
}

#[test]
fn dates_that_do_not_exist_are_refused() {
    for text in [
        "",
        "-",
        "+",
        "2015-02-29",
        "2015-13",
        "2015-00-01",
        "2015-W54",
        "2015-W00",
        "2015-W01-8",
        "2015-366",
        "2015-000",
        "10000-01-01",
        "+1000000000-01-01",
        "2015-1-1",
        "2015-W30-",
        "é",
        "2015-Q5",
        "2015-Q1-91",
        "20150",
        "2015-07-21T",
        "2015-07-",
        "-2015",
        "2015W30-1",
    ] {
        let expected = (text == "-2015").then(|| date("-2015-01-01"));
        assert_eq!(parse::date(text), expected, "{text}");
    }
    for text in [
        "24",
        "2360",
        "12:",
        "12:3",
        "12:30:",
        "12:30:00.",
        "1",
        "12:3000",
        "é",
    ] {
        assert_eq!(parse::local_time(text), None, "{text}");
    }
    for text in ["+19", "+1", "01", "+01:60", "+01:00:00:00", "", "Zz"] {
        assert_eq!(parse::offset(text), None, "{text}");
    }
    for text in [
        "", "P", "PT", "P1", "P1D1D", "P1D2M", "PT1D", "P1H", "P--1D", "P1.D", "P.5D", "D",
    ] {
        assert_eq!(parse::duration(text), None, "{text}");
    }
}

#[test]
fn clocks_skip_and_repeat_hours() {
    let zone = Zone::of("Europe/Stockholm").expect("a zone");
    let at = |text: &str, wish| {
        let local = parse::local_datetime(text).expect(text);
        zone.at_local(local, wish).expect(text).to_string()
    };
    let gap = at("2017-03-26T02:30", None);
    assert_eq!(gap, "2017-03-26T03:30+02:00[Europe/Stockholm]");
    let first = at("2017-10-29T02:30", None);
    assert_eq!(first, "2017-10-29T02:30+02:00[Europe/Stockholm]");
    let second = at("2017-10-29T02:30", Some(3_600));
    assert_eq!(second, "2017-10-29T02:30+01:00[Europe/Stockholm]");
    // Years that the database does not know have the first rule, and the last.
    let far = at("+999999999-07-01T12:00", None);
    assert_eq!(far, "+999999999-07-01T12:00+02:00[Europe/Stockholm]");
    assert!(at("-999999998-07-01T12:00", None).starts_with("-999999998-07-01T12:00+0"));
    assert!(Zone::of("Europe/Nowhere").is_none());
}

#[test]
fn datetimes_keep_the_moment_of_a_wrong_offset() {
    let found = parse::datetime("2015-07-21T21:40+05:00[Europe/London]").expect("a datetime");
    assert_eq!(found.to_string(), "2015-07-21T17:40+01:00[Europe/London]");
}

proptest! {
    #[test]
    fn texts_never_panic(text in "[-+0-9PTWDMYHSZQ:.,é\\[\\]/a]{0,24}") {
        let _ = parse::date(&text);
        let _ = parse::local_time(&text);
        let _ = parse::time(&text);
        let _ = parse::local_datetime(&text);
        let _ = parse::datetime(&text);
        let _ = parse::duration(&text);
    }

    #[test]
    fn durations_print_as_they_read(
        months: i64,
        days: i64,
        seconds: i64,
        nanos in 0_u32..1_000_000_000,
    ) {
        let all = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        // Others have too many seconds on average.
        let Some(duration) = Duration::of(months, days, all) else {
            return Ok(());
        };
        let text = duration.to_string();
        // The largest numbers overflow when their units are multiplied.
        if let Some(again) = parse::duration(&text) {
            prop_assert_eq!(again, duration, "{}", text);
        } else {
            let fits = -(i64::MAX - 3_600)..=i64::MAX - 3_600;
            prop_assert!(!fits.contains(&seconds), "{}", text);
        }
    }

    #[test]
    fn moments_print_as_they_read(
        seconds in -31_557_014_167_219_200_i64..31_556_889_864_403_199,
        nanos in 0_u32..1_000_000_000,
    ) {
        let at = LocalDateTime { seconds, nanos };
        prop_assert_eq!(parse::local_datetime(&at.to_string()), Some(at));
        let zoned = Zone::of("America/New_York").and_then(|zone| zone.at_utc(at));
        if let Some(zoned) = zoned {
            prop_assert_eq!(parse::datetime(&zoned.to_string()), Some(zoned));
        }
    }
}
