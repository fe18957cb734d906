//! Functions of temporal values.

use super::{Function, Returns, Types, bad_value};
use crate::error::{Outcome, argument_error};
use crate::expression::Frame;
use crate::temporal::{
    Clock, Duration, DurationParts, Kind, LocalDateTime, Parts, Units, Zone, between,
    check_nanosecond, convert, from_map, from_nanos, out_of_range, parse, truncate,
};
use crate::value::{Map, Value};

const SOURCE: Types = Types::INSTANT.or(Types::STRING).or(Types::MAP);
const ZONE: Types = Types::STRING;
const UNIT: Types = Types::STRING;
const INSTANT: Types = Types::INSTANT;
const MAP: Types = Types::MAP;
const I: Types = Types::INTEGER;
const N: Types = Types::NUMBER;
const SPAN: Returns = Returns::One(Types::DURATION);

/// The functions of one type of points in time.
macro_rules! functions_of {
    ($table:ident, $kind:expr, $type:expr, $name:literal, $statement:literal, $transaction:literal,
     $realtime:literal, $truncate:literal) => {
        const $table: [Function; 5] = [
            Function::new($name, &[SOURCE], Returns::One($type), |values, frame| {
                construct($kind, values, frame)
            })
            .required(0),
            Function::new($statement, &[ZONE], Returns::One($type), |values, frame| {
                now($kind, frame.clock.statement, values)
            })
            .required(0),
            Function::new(
                $transaction,
                &[ZONE],
                Returns::One($type),
                |values, frame| now($kind, frame.clock.transaction, values),
            )
            .required(0),
            Function::new($realtime, &[ZONE], Returns::One($type), |values, _| {
                now($kind, Clock::realtime(), values)
            })
            .required(0),
            Function::new(
                $truncate,
                &[UNIT, INSTANT, MAP],
                Returns::One($type),
                |values, frame| truncated($kind, values, frame),
            )
            .required(1),
        ];
    };
}

functions_of!(
    DATE,
    Kind::Date,
    Types::DATE,
    "date",
    "date.statement",
    "date.transaction",
    "date.realtime",
    "date.truncate"
);
functions_of!(
    LOCAL_TIME,
    Kind::LocalTime,
    Types::LOCAL_TIME,
    "localtime",
    "localtime.statement",
    "localtime.transaction",
    "localtime.realtime",
    "localtime.truncate"
);
functions_of!(
    TIME,
    Kind::Time,
    Types::TIME,
    "time",
    "time.statement",
    "time.transaction",
    "time.realtime",
    "time.truncate"
);
functions_of!(
    LOCAL_DATETIME,
    Kind::LocalDateTime,
    Types::LOCAL_DATETIME,
    "localdatetime",
    "localdatetime.statement",
    "localdatetime.transaction",
    "localdatetime.realtime",
    "localdatetime.truncate"
);
functions_of!(
    DATETIME,
    Kind::DateTime,
    Types::DATETIME,
    "datetime",
    "datetime.statement",
    "datetime.transaction",
    "datetime.realtime",
    "datetime.truncate"
);

const OTHERS: [Function; 8] = [
    Function::new(
        "datetime.fromepoch",
        &[N, N],
        Returns::One(Types::DATETIME),
        from_epoch,
    ),
    Function::new(
        "datetime.fromepochmillis",
        &[N],
        Returns::One(Types::DATETIME),
        |values, _| from_nanos(whole(values.first())? * 1_000_000, &Zone::UTC),
    ),
    Function::new(
        "duration",
        &[Types::DURATION.or(Types::STRING).or(MAP)],
        SPAN,
        duration,
    ),
    Function::new(
        "duration.between",
        &[INSTANT, INSTANT],
        SPAN,
        |values, _| difference(values, Units::All),
    ),
    Function::new(
        "duration.inMonths",
        &[INSTANT, INSTANT],
        SPAN,
        |values, _| difference(values, Units::Months),
    ),
    Function::new("duration.inDays", &[INSTANT, INSTANT], SPAN, |values, _| {
        difference(values, Units::Days)
    }),
    Function::new(
        "duration.inSeconds",
        &[INSTANT, INSTANT],
        SPAN,
        |values, _| difference(values, Units::Seconds),
    ),
    Function::new("timestamp", &[], Returns::One(I), |_, frame| {
        let now = frame.clock.statement;
        let millis = now.seconds.saturating_mul(1_000);
        Ok(Value::Integer(
            millis.saturating_add(i64::from(now.nanos) / 1_000_000),
        ))
    }),
];

/// The functions of all types.
pub(super) const TABLES: [&[Function]; 6] = [
    &DATE,
    &LOCAL_TIME,
    &TIME,
    &LOCAL_DATETIME,
    &DATETIME,
    &OTHERS,
];

/// The clock's value in a zone, which is UTC by default.
fn now(kind: Kind, clock: LocalDateTime, values: &[Value]) -> Outcome<Value> {
    let zone = match values.first() {
        None => Zone::UTC,
        Some(Value::String(name)) => zone_named(name)?,
        other => return Err(bad_value("STRING", other)),
    };
    now_in(kind, clock, &zone)
}

fn now_in(kind: Kind, clock: LocalDateTime, zone: &Zone) -> Outcome<Value> {
    let at = zone.at_utc(clock).ok_or_else(out_of_range)?;
    convert(kind, &Value::DateTime(Box::new(at)))
}

fn zone_named(name: &str) -> Outcome<Zone> {
    Zone::of(name).ok_or_else(|| {
        argument_error(
            "InvalidArgumentValue",
            format!("there is no time zone '{name}'"),
        )
    })
}

fn construct(kind: Kind, values: &[Value], frame: &Frame<'_>) -> Outcome<Value> {
    match values.first() {
        None => now_in(kind, frame.clock.statement, &Zone::UTC),
        Some(Value::String(text)) => read(kind, text),
        Some(Value::Map(map)) => match (map.len(), map.get("timezone")) {
            // The current value in a zone.
            (1, Some(Value::String(name))) => {
                now_in(kind, frame.clock.statement, &zone_named(name)?)
            }
            _ => from_map(kind, map, frame.clock.statement.date()),
        },
        Some(other) => convert(kind, other),
    }
}

fn read(kind: Kind, text: &str) -> Outcome<Value> {
    // A time of day may begin as it does behind a date.
    let text = match kind {
        Kind::LocalTime | Kind::Time => text.strip_prefix(['T', 't']).unwrap_or(text),
        _ => text,
    };
    let found = match kind {
        Kind::Date => parse::date(text).map(Value::Date),
        Kind::LocalTime => parse::local_time(text).map(Value::LocalTime),
        Kind::Time => parse::time(text).map(Value::Time),
        Kind::LocalDateTime => parse::local_datetime(text).map(Value::LocalDateTime),
        Kind::DateTime => parse::datetime(text).map(|at| Value::DateTime(Box::new(at))),
    };
    found.ok_or_else(|| unreadable(text))
}

fn unreadable(text: &str) -> crate::error::CypherError {
    argument_error(
        "InvalidArgumentValue",
        format!("'{text}' is not a value of this type"),
    )
}

fn truncated(kind: Kind, values: &[Value], frame: &Frame<'_>) -> Outcome<Value> {
    let Some(Value::String(unit)) = values.first() else {
        return Err(bad_value("STRING", values.first()));
    };
    let value = match values.get(1) {
        Some(value) if Parts::of(value).is_some() => value.clone(),
        None => now_in(kind, frame.clock.statement, &Zone::UTC)?,
        other => return Err(bad_value("a date or time", other)),
    };
    let today = frame.clock.statement.date();
    match values.get(2) {
        None => truncate(kind, unit, &value, (&Map::new(), today)),
        Some(Value::Map(map)) => truncate(kind, unit, &value, (map, today)),
        other => Err(bad_value("MAP", other)),
    }
}

/// A whole number, for arithmetic that cannot overflow.
fn whole(value: Option<&Value>) -> Outcome<i128> {
    match value {
        Some(Value::Integer(number)) => Ok(i128::from(*number)),
        other => Err(bad_value("INTEGER", other)),
    }
}

fn from_epoch(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let (seconds, nanos) = (whole(values.first())?, whole(values.get(1))?);
    check_nanosecond(i64::try_from(nanos).unwrap_or(-1))?;
    from_nanos(seconds * 1_000_000_000 + nanos, &Zone::UTC)
}

fn duration(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let found = match values.first() {
        Some(Value::Duration(duration)) => **duration,
        Some(Value::String(text)) => parse::duration(text).ok_or_else(|| unreadable(text))?,
        Some(Value::Map(map)) => duration_of(map)?,
        other => return Err(bad_value("DURATION, MAP or STRING", other)),
    };
    Ok(Value::Duration(Box::new(found)))
}

/// The sum of the fields of a map, which may have fractions.
fn duration_of(map: &Map) -> Outcome<Duration> {
    if map.is_empty() {
        let message = "a duration needs a field, such as days";
        return Err(argument_error("InvalidArgumentValue", message));
    }
    let mut total = DurationParts::default();
    for (key, value) in map.iter() {
        let (whole, part) = match value {
            Value::Integer(number) => (*number, 0.0),
            Value::Float(number) => split(*number)?,
            other => return Err(bad_value("INTEGER or FLOAT", Some(other))),
        };
        let nanos = |unit: i64| {
            #[expect(clippy::cast_precision_loss, reason = "the units are below 2^53")]
            let part = (part * unit as f64).round();
            #[expect(clippy::cast_possible_truncation, reason = "a part is below 1")]
            let part = part as i128;
            i128::from(whole) * i128::from(unit) + part
        };
        let seconds = |unit: i64| Some((whole.checked_mul(unit)?, part * f64::from(unit as u16)));
        let added = match &**key {
            "years" => total.years(whole, part),
            "quarters" => whole
                .checked_mul(3)
                .and_then(|whole| total.quarters(whole, part)),
            "months" => total.months(whole, part),
            "weeks" => total.weeks(whole, part),
            "days" => total.days(whole, part),
            "hours" => seconds(3_600).and_then(|(whole, part)| total.seconds(whole, part)),
            "minutes" => seconds(60).and_then(|(whole, part)| total.seconds(whole, part)),
            "seconds" => total.seconds(whole, part),
            "milliseconds" => total.nanos(nanos(1_000_000)),
            "microseconds" => total.nanos(nanos(1_000)),
            "nanoseconds" => total.nanos(nanos(1)),
            other => {
                let message = format!("a duration has no field '{other}'");
                return Err(argument_error("InvalidArgumentValue", message));
            }
        };
        added.ok_or_else(out_of_range)?;
    }
    total.duration().ok_or_else(out_of_range)
}

/// A number as its whole part and its fraction, both with its sign.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn split(number: f64) -> Outcome<(i64, f64)> {
    match number.abs() < 9.0e18 {
        true => Ok((number.trunc() as i64, number.fract())),
        false => Err(out_of_range()),
    }
}

fn difference(values: &[Value], units: Units) -> Outcome<Value> {
    let [from, to] = values else {
        return Err(bad_value("two values", None));
    };
    match between(from, to, units) {
        Some(Some(duration)) => Ok(Value::Duration(Box::new(duration))),
        Some(None) => Err(out_of_range()),
        None => Err(bad_value("a date or time", Some(to))),
    }
}
