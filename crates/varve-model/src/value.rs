//! Property values and their types.

use std::cmp::Ordering;
use std::fmt;

use num_bigint::BigInt;

use crate::many::Many;
use crate::time::{civil_from_days, days_from_civil};
use crate::{Datum, Decimal};

/// The type of a property key's values (HugeGraph's data types, upper-case names on the wire).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum DataType {
    Object,
    Boolean,
    Byte,
    Int,
    Long,
    Float,
    Double,
    Text,
    Blob,
    Date,
    Uuid,
}

impl DataType {
    /// Whether values are numbers.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(
            self,
            Self::Byte | Self::Int | Self::Long | Self::Float | Self::Double
        )
    }

    /// Whether a range index can serve the values: numbers and dates.
    #[must_use]
    pub const fn is_rangeable(self) -> bool {
        self.is_number() || matches!(self, Self::Date)
    }
}

/// How many values one element may hold for a property key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Cardinality {
    Single,
    List,
    Set,
}

/// One property value. `List` and `Set` hold scalars of the property key's data type, in insertion
/// order; a `Set` holds no two equal ones.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// BOOLEAN
    Boolean(bool),
    /// BYTE, signed
    Byte(i8),
    /// INT
    Int(i32),
    /// LONG
    Long(i64),
    /// FLOAT; NaN and infinities are allowed
    Float(f32),
    /// DOUBLE; NaN and infinities are allowed
    Double(f64),
    /// TEXT
    Text(String),
    /// BLOB
    Blob(Vec<u8>),
    /// DATE: milliseconds since 1970 UTC
    Date(i64),
    /// UUID, most significant byte first
    Uuid(u128),
    /// OBJECT: a nested value
    Object(Box<Datum>),
    /// cardinality LIST
    List(Vec<Value>),
    /// cardinality SET
    Set(Vec<Value>),
    /// 16 bits, signed. Only open graphs store this and the following values, under keys of type
    /// OBJECT.
    Short(i16),
    /// A whole number of any size.
    BigInt(Box<BigInt>),
    /// A decimal number of any precision.
    BigDecimal(Box<Decimal>),
    /// One character.
    Char(char),
    /// An instant with the offset it was written with.
    DateTime(DateTime),
    /// A span of time.
    Duration(Duration),
    /// Entries in the order of insertion.
    Map(Vec<(Value, Value)>),
    /// Several values of one key of a vertex.
    Many(Box<Many>),
}

/// What begins the key of a map of one entry that stands for a value of another type: Cypher's
/// types that no [`Value`] has are stored as the map of their name, after this sign, and their
/// text. Maps are no properties in Cypher, so that no other value has such a key.
pub const TAG: char = '@';

/// An instant with the offset it was written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateTime {
    /// Microseconds since 1970 UTC.
    pub micros: i64,
    /// Seconds east of UTC.
    pub offset: i32,
}

/// A span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration {
    /// Whole seconds, rounded down.
    pub seconds: i64,
    /// Nanoseconds after them, below 1,000,000,000.
    pub nanos: u32,
}

impl Value {
    /// The value as a number on the real line, for comparison and arithmetic between number types;
    /// dates count in milliseconds. `None` for everything else.
    #[must_use]
    #[allow(
        clippy::cast_precision_loss,
        reason = "comparison of mixed types is by double, as documented"
    )]
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::Byte(v) => Some(f64::from(v)),
            Self::Short(v) => Some(f64::from(v)),
            Self::Int(v) => Some(f64::from(v)),
            Self::Long(v) | Self::Date(v) => Some(v as f64),
            Self::Float(v) => Some(f64::from(v)),
            Self::Double(v) => Some(v),
            _ => None,
        }
    }

    /// The value as a 64-bit integer when it is a whole-number type or a date.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::Byte(v) => Some(i64::from(v)),
            Self::Short(v) => Some(i64::from(v)),
            Self::Int(v) => Some(i64::from(v)),
            Self::Long(v) | Self::Date(v) => Some(v),
            _ => None,
        }
    }

    /// Order of two values of one type: texts, UUIDs, booleans or blobs. Numbers and dates are
    /// compared by value, exactly between whole numbers and dates, else by IEEE total order. `None`
    /// if the two have no common order.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            (Self::Uuid(a), Self::Uuid(b)) => Some(a.cmp(b)),
            (Self::Boolean(a), Self::Boolean(b)) => Some(a.cmp(b)),
            (Self::Blob(a), Self::Blob(b)) => Some(a.cmp(b)),
            _ => match (self.as_i64(), other.as_i64()) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => Some(self.as_f64()?.total_cmp(&other.as_f64()?)),
            },
        }
    }

    /// The values of this type that equal this one in conditions: of a FLOAT or DOUBLE of zero,
    /// those of both signs, the negative one first.
    #[must_use]
    pub fn equal_forms(&self) -> Vec<Self> {
        match self {
            Self::Float(0.0) => vec![Self::Float(-0.0), Self::Float(0.0)],
            Self::Double(0.0) => vec![Self::Double(-0.0), Self::Double(0.0)],
            other => vec![other.clone()],
        }
    }

    /// The data type of a key for such values; OBJECT for values without a data type of their own.
    #[must_use]
    pub const fn data_type(&self) -> DataType {
        match self {
            Self::Boolean(_) => DataType::Boolean,
            Self::Byte(_) => DataType::Byte,
            Self::Int(_) => DataType::Int,
            Self::Long(_) => DataType::Long,
            Self::Float(_) => DataType::Float,
            Self::Double(_) => DataType::Double,
            Self::Text(_) => DataType::Text,
            Self::Blob(_) => DataType::Blob,
            Self::Date(_) => DataType::Date,
            Self::Uuid(_) => DataType::Uuid,
            Self::Object(_)
            | Self::List(_)
            | Self::Set(_)
            | Self::Short(_)
            | Self::BigInt(_)
            | Self::BigDecimal(_)
            | Self::Char(_)
            | Self::DateTime(_)
            | Self::Duration(_)
            | Self::Map(_)
            | Self::Many(_) => DataType::Object,
        }
    }

    /// Whether two values have the same type and the same content: unlike `==`, true for a NaN and
    /// itself, false for zeros of unlike sign and for decimals of unlike scale.
    #[must_use]
    pub fn is_identical(&self, other: &Self) -> bool {
        let all = |x: &[Self], y: &[Self]| {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.is_identical(y))
        };
        match (self, other) {
            (Self::Float(x), Self::Float(y)) => x.to_bits() == y.to_bits(),
            (Self::Double(x), Self::Double(y)) => x.to_bits() == y.to_bits(),
            (Self::BigDecimal(x), Self::BigDecimal(y)) => {
                x.as_bigint_and_exponent() == y.as_bigint_and_exponent()
            }
            (Self::List(x), Self::List(y)) | (Self::Set(x), Self::Set(y)) => all(x, y),
            (Self::Map(x), Self::Map(y)) => {
                let same = |(x, y): (&(Self, Self), &(Self, Self))| {
                    x.0.is_identical(&y.0) && x.1.is_identical(&y.1)
                };
                x.len() == y.len() && x.iter().zip(y).all(same)
            }
            (Self::Many(x), Self::Many(y)) => {
                let (x, y) = (x.values(), y.values());
                x.len() == y.len()
                    && x.iter().zip(y).all(|(x, y)| {
                        x.number == y.number
                            && x.value.is_identical(&y.value)
                            && x.meta.is_identical(&y.meta)
                    })
            }
            _ => self == other,
        }
    }

    /// The members of a collection, or the value itself as its only member; not for
    /// [`Value::Many`], see [`crate::many::values_of`].
    #[must_use]
    pub fn members(&self) -> &[Value] {
        match self {
            Self::List(items) | Self::Set(items) => items,
            single => std::slice::from_ref(single),
        }
    }
}

/// The FLOAT nearest to the decimal number that `number` was read from.
///
/// Rounding twice, to a double and then to a float, may miss it: 7.038531e-26 is nearest to a
/// double half-way between two floats. The shortest text of a double has the digits it was read
/// from, if these were at most 15, and a float needs nine.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the nearest float is meant"
)]
pub fn nearest_float(number: f64) -> f32 {
    /// The bits of a double that a float has no room for, and half of their range.
    const LOST: u64 = (1 << 29) - 1;
    const HALF: u64 = 1 << 28;
    let is_clear = number.to_bits() & LOST != HALF && number.abs() >= f64::from(f32::MIN_POSITIVE);
    if is_clear || number == 0.0 || !number.is_finite() {
        return number as f32;
    }
    number.to_string().parse().unwrap_or(number as f32)
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [b'-'; 36];
        let mut at = 0;
        for (number, byte) in self.0.to_be_bytes().into_iter().enumerate() {
            // Behind the 4th, 6th, 8th and 10th byte.
            at += usize::from(matches!(number, 4 | 6 | 8 | 10));
            text[at] = DIGITS[usize::from(byte >> 4)];
            text[at + 1] = DIGITS[usize::from(byte & 15)];
            at += 2;
        }
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

/// A UUID as text. It is written in lower case with dashes, and read with dashes or as 32
/// hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uuid(pub u128);

impl Uuid {
    /// Reads the dashed form (8-4-4-4-12) or 32 hexadecimal digits, either case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits: String = match text.len() {
            32 => text.to_owned(),
            36 => {
                let dashed = text
                    .char_indices()
                    .all(|(at, c)| (c == '-') == [8, 13, 18, 23].contains(&at));
                if !dashed {
                    return None;
                }
                text.replace('-', "")
            }
            _ => return None,
        };
        let hex = digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        hex.then(|| u128::from_str_radix(&digits, 16).ok())
            .flatten()
            .map(Self)
    }
}

/// The text of a span of time in the form of ISO 8601 and Java: `PT1H2M3.5S`, `PT0S`, `PT-0.5S`.
#[must_use]
pub fn duration_text(span: Duration) -> String {
    let nanos = i128::from(span.seconds) * 1_000_000_000 + i128::from(span.nanos);
    let (hours, rest) = (nanos / 3_600_000_000_000, nanos % 3_600_000_000_000);
    let (minutes, rest) = (rest / 60_000_000_000, rest % 60_000_000_000);
    let mut text = "PT".to_owned();
    for (number, unit) in [(hours, 'H'), (minutes, 'M')] {
        if number != 0 {
            text.push_str(&number.to_string());
            text.push(unit);
        }
    }
    if rest != 0 || nanos == 0 {
        let sign = if rest < 0 { "-" } else { "" };
        let (whole, part) = (rest.abs() / 1_000_000_000, rest.abs() % 1_000_000_000);
        let part = match part {
            0 => String::new(),
            part => format!(".{part:09}").trim_end_matches('0').to_owned(),
        };
        text.push_str(&format!("{sign}{whole}{part}S"));
    }
    text
}

/// The text of a DATE, `yyyy-MM-dd HH:mm:ss.SSS` in UTC; years outside 0–9999 are written with a
/// sign or more digits.
#[must_use]
pub fn date_text(millis: i64) -> String {
    if let Some(digits) = date_digits(millis) {
        return digits.into_iter().map(char::from).collect();
    }
    let (days, rest) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    let (year, month, day) = civil_from_days(days);
    let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
    let (second, milli) = (rest / 1_000 % 60, rest % 1_000);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{milli:03}")
}

/// [`date_text`] in ASCII without allocation, for the years 0 to 9999; `None` for others.
#[must_use]
pub fn date_digits(millis: i64) -> Option<[u8; 23]> {
    let (days, rest) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    let (year, month, day) = civil_from_days(days);
    if !(0..=9999).contains(&year) {
        return None;
    }
    let mut text = *b"0000-00-00 00:00:00.000";
    let mut put = |to: usize, width: usize, number: i64| {
        let mut left = number;
        for digit in text[to..to + width].iter_mut().rev() {
            *digit = b'0' + (left % 10) as u8;
            left /= 10;
        }
    };
    put(0, 4, year);
    put(5, 2, month);
    put(8, 2, day);
    put(11, 2, rest / 3_600_000);
    put(14, 2, rest / 60_000 % 60);
    put(17, 2, rest / 1_000 % 60);
    put(20, 3, rest % 1_000);
    Some(text)
}

/// Reads `yyyy-M-d`, `yyyy-M-d HH:mm:ss` or `yyyy-M-d HH:mm:ss.S` as UTC: milliseconds since 1970.
/// Month and day have one or two digits, the fraction of the second one to three. `None` for any
/// other form and for dates that do not exist. Years outside 0–9999 are read only as [`date_text`]
/// writes them.
#[must_use]
pub fn parse_date(text: &str) -> Option<i64> {
    if text.starts_with('-') || text.len() > 23 {
        return parse_far_date(text);
    }
    parse_full_date(text).or_else(|| parse_full_date(&filled_date(text)?))
}

/// A date with zeros where its month, its day and its fraction of a second have fewer digits than
/// [`date_text`] writes.
fn filled_date(text: &str) -> Option<String> {
    let (date, time) = match text.split_once(' ') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let (year, month_and_day) = date.split_once('-')?;
    let (month, day) = month_and_day.split_once('-')?;
    if month.is_empty() || day.is_empty() {
        return None;
    }
    let mut filled = format!("{year}-{month:0>2}-{day:0>2}");
    if let Some(time) = time {
        filled.push(' ');
        match time.split_once('.') {
            Some((_, "")) => return None,
            Some((second, fraction)) => filled += &format!("{second}.{fraction:0<3}"),
            None => filled += time,
        }
    }
    Some(filled)
}

/// Reads a date of the years 0–9999 with all digits, and optionally a time.
fn parse_full_date(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let field = |from: usize, to: usize| -> Option<i64> {
        let digits = bytes.get(from..to)?;
        digits.iter().try_fold(0_i64, |sum, b| {
            b.is_ascii_digit().then(|| sum * 10 + i64::from(b - b'0'))
        })
    };
    let mark = |at: usize, mark: u8| (bytes.get(at) == Some(&mark)).then_some(());
    mark(4, b'-')?;
    mark(7, b'-')?;
    let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
    let (mut hour, mut minute, mut second, mut milli) = (0, 0, 0, 0);
    if bytes.len() > 10 {
        mark(10, b' ')?;
        mark(13, b':')?;
        mark(16, b':')?;
        (hour, minute, second) = (field(11, 13)?, field(14, 16)?, field(17, 19)?);
    }
    if bytes.len() > 19 {
        mark(19, b'.')?;
        milli = field(20, 23)?;
    }
    let days = days_from_civil(year, month, day);
    let exists = matches!(bytes.len(), 10 | 19 | 23)
        && civil_from_days(days) == (year, month, day)
        && hour < 24
        && minute < 60
        && second < 60;
    exists.then_some(((days * 24 + hour) * 60 + minute) * 60_000 + second * 1_000 + milli)
}

/// Reads the form of [`date_text`] for a year with a sign or more than four digits.
fn parse_far_date(text: &str) -> Option<i64> {
    let (year, rest) =
        text.split_at_checked(text.len().checked_sub("-MM-dd HH:mm:ss.SSS".len())?)?;
    let year: i64 = year.parse().ok()?;
    // The calendar is the same every 400 years.
    let near = parse_date(&format!("{:04}{rest}", year.rem_euclid(400)))?;
    let days = i128::from(year.div_euclid(400)) * 146_097;
    let millis = i64::try_from(days * 86_400_000 + i128::from(near)).ok()?;
    (date_text(millis) == text).then_some(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuid_reads_both_forms_and_writes_the_dashed_one() {
        let dashed = "835e1153-9281-4957-8691-cf79258e90eb";
        let uuid = Uuid::parse(dashed).expect("dashed form");
        assert_eq!(Uuid::parse("835E1153928149578691CF79258E90EB"), Some(uuid));
        assert_eq!(uuid.to_string(), dashed);
        for bad in [
            "",
            "notuuid",
            "835e1153-9281-4957-8691-cf79258e90e",
            "835e1153x9281-4957-8691-cf79258e90eb",
        ] {
            assert_eq!(Uuid::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn dates_read_and_write() {
        for text in [
            "1970-01-01 00:00:00.000",
            "2017-12-10 23:59:59.999",
            "2000-02-29 12:00:00.001",
            "0001-01-01 00:00:00.000",
        ] {
            assert_eq!(date_text(parse_date(text).expect(text)), text);
        }
        assert_eq!(parse_date("2020-01-02"), Some(1_577_923_200_000));
        for (short, full) in [
            ("2014-1-10", "2014-01-10 00:00:00.000"),
            ("2014-12-9", "2014-12-09 00:00:00.000"),
            ("2014-1-2 03:04:05", "2014-01-02 03:04:05.000"),
            ("2014-1-2 03:04:05.6", "2014-01-02 03:04:05.600"),
            ("2014-01-02 03:04:05.06", "2014-01-02 03:04:05.060"),
        ] {
            assert_eq!(date_text(parse_date(short).expect(short)), full);
        }
        assert_eq!(date_text(-1), "1969-12-31 23:59:59.999");
        assert_eq!(date_text(253_402_300_799_999), "9999-12-31 23:59:59.999");
        assert_eq!(date_text(253_402_300_800_000), "10000-01-01 00:00:00.000");
        assert_eq!(date_text(-62_167_219_200_000), "0000-01-01 00:00:00.000");
        assert_eq!(date_text(-62_167_219_200_001), "-001-12-31 23:59:59.999");
        for millis in [
            i64::MIN,
            -62_167_219_200_001,
            253_402_300_800_000,
            1 << 62,
            i64::MAX,
        ] {
            assert_eq!(parse_date(&date_text(millis)), Some(millis));
        }
        for bad in [
            "2020",
            "10000-01-01",
            "02020-01-02 00:00:00.000",
            "+10000-01-02 00:00:00.000",
            "10000-02-30 00:00:00.000",
            "292278995-01-01 00:00:00.000",
            "-é-01-01 00:00:00.000",
            "-",
            "2020-13-01",
            "2020-02-30",
            "2020-01-02T00:00:00",
            "2020-01-02 24:00:00",
            "2020-01-02 00:00:00.",
            "2020-01-02 00:00:00.0000",
            "2020-01-02 0:00:00",
            "2020-01-02 00:00",
            "2020-01-02 ",
            "2020-1",
            "2020--1",
            "2020-1-",
            "2020-001-2",
            "2020-+1-2",
            "20-1-2",
            "2020-2-30",
            "2020-01-02 00:00:00Z",
        ] {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_float_is_the_one_nearest_to_the_digits_of_a_double() {
        // The double nearest to 7.038531e-26 is half-way between two floats.
        assert_eq!(nearest_float(7.038531e-26), 7.038531e-26_f32);
        assert_ne!(7.038531e-26_f64 as f32, 7.038531e-26_f32);
        let mut bits = 1_u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let float = f32::from_bits((bits >> 32) as u32);
            if float.is_finite() {
                let double: f64 = float.to_string().parse().expect("a number");
                assert_eq!(nearest_float(double).to_bits(), float.to_bits(), "{float}");
            }
        }
        assert!(nearest_float(f64::NAN).is_nan());
        assert_eq!(nearest_float(1e300), f32::INFINITY);
        assert_eq!(nearest_float(-0.0).to_bits(), (-0.0_f32).to_bits());
    }

    #[test]
    fn spans_of_time_write_as_java_writes_them() {
        for (seconds, nanos, text) in [
            (0, 0, "PT0S"),
            (3_723, 500_000_000, "PT1H2M3.5S"),
            (60, 0, "PT1M"),
            (-1, 500_000_000, "PT-0.5S"),
            (-3_660, 0, "PT-1H-1M"),
            (i64::MIN, 0, "PT-2562047788015215H-30M-8S"),
        ] {
            assert_eq!(duration_text(Duration { seconds, nanos }), text);
        }
    }

    #[test]
    fn mixed_numbers_compare_by_value() {
        assert_eq!(Value::Int(3).compare(&Value::Long(4)), Some(Ordering::Less));
        assert_eq!(
            Value::Double(3.5).compare(&Value::Int(3)),
            Some(Ordering::Greater)
        );
        assert_eq!(
            Value::Long(i64::MAX).compare(&Value::Long(i64::MAX - 1)),
            Some(Ordering::Greater)
        );
        assert_eq!(Value::Text("a".into()).compare(&Value::Int(3)), None);
    }
}
