//! Literals as values: numbers of every width, strings with escapes, UUIDs.

use num_bigint::BigInt;
use varve_model::Decimal;

use crate::tree::{Argument, Text};

/// The most digits of a `BigInteger` or `BigDecimal` literal.
pub const NUMBER_DIGITS_MAX: usize = 1_000;

/// The error message of an invalid literal.
pub(crate) type Wrong = String;

/// Parses a number token of digits, letters and points.
pub(crate) fn number(text: &str, negative: bool) -> Result<Argument, Wrong> {
    // The most frequent case: a few plain digits.
    let bytes = text.as_bytes();
    if bytes.len() <= 9
        && bytes.iter().all(u8::is_ascii_digit)
        && (bytes[0] != b'0' || bytes.len() == 1)
    {
        let value = bytes
            .iter()
            .fold(0, |value, digit| value * 10 + i32::from(digit - b'0'));
        return Ok(Argument::Int(if negative { -value } else { value }));
    }
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let decimal = !hexadecimal
        && (text.contains(['.', 'e', 'E']) || text.ends_with(['f', 'F', 'd', 'D', 'm', 'M']));
    if decimal {
        decimal_number(text, negative)
    } else {
        integer(text, negative, hexadecimal)
    }
}

/// The digits of a text without underscores, preceded by a sign if negative.
fn digits(text: &str, negative: bool) -> Result<String, Wrong> {
    let mut digits = String::with_capacity(text.len() + 1);
    if negative {
        digits.push('-');
    }
    digits.extend(text.chars().filter(|digit| *digit != '_'));
    if digits.len() > NUMBER_DIGITS_MAX + 1 {
        return Err(format!("a number has at most {NUMBER_DIGITS_MAX} digits"));
    }
    Ok(digits)
}

fn integer(text: &str, negative: bool, hexadecimal: bool) -> Result<Argument, Wrong> {
    let last = text.as_bytes()[text.len() - 1].to_ascii_lowercase();
    let suffix = match last {
        b'b' if hexadecimal => None,
        b'b' | b's' | b'i' | b'l' | b'n' | b'g' => Some(last),
        _ => None,
    };
    let body = &text[..text.len() - usize::from(suffix.is_some())];
    let (body, radix) = if hexadecimal {
        (&body[2..], 16)
    } else if body.len() > 1 && body.starts_with('0') {
        (&body[1..], 8)
    } else {
        (body, 10)
    };
    let digits = digits(body, negative)?;
    let wrong = || format!("'{}' is not a number", shortened(text));
    let named = |class: &str| {
        format!(
            "{}{} is out of range for {class}",
            if negative { "-" } else { "" },
            shortened(text)
        )
    };
    let big = || BigInt::parse_bytes(digits.as_bytes(), radix).ok_or_else(wrong);
    let small = i64::from_str_radix(&digits, radix);
    let narrow = |class| match &small {
        Ok(value) => Ok(*value),
        Err(_) => big().and_then(|_| Err(named(class))),
    };
    Ok(match suffix {
        Some(b'b') => Argument::Byte(i8::try_from(narrow("Byte")?).map_err(|_| named("Byte"))?),
        Some(b's') => Argument::Short(i16::try_from(narrow("Short")?).map_err(|_| named("Short"))?),
        Some(b'i') => {
            Argument::Int(i32::try_from(narrow("Integer")?).map_err(|_| named("Integer"))?)
        }
        Some(b'l') => Argument::Long(narrow("Long")?),
        Some(_) => Argument::BigInt(Box::new(big()?)),
        None => match small {
            Ok(value) => i32::try_from(value).map_or(Argument::Long(value), Argument::Int),
            Err(_) => Argument::BigInt(Box::new(big()?)),
        },
    })
}

fn decimal_number(text: &str, negative: bool) -> Result<Argument, Wrong> {
    let last = text.as_bytes()[text.len() - 1].to_ascii_lowercase();
    let suffix = matches!(last, b'f' | b'd' | b'm' | b'g').then_some(last);
    let body = &text[..text.len() - usize::from(suffix.is_some())];
    let digits = digits(body, negative)?;
    let wrong = || format!("'{}' is not a number", shortened(text));
    if digits
        .bytes()
        .any(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
    {
        return Err(wrong());
    }
    Ok(match suffix {
        Some(b'f') => Argument::Float(digits.parse().map_err(|_| wrong())?),
        Some(b'm' | b'g') => {
            Argument::BigDecimal(Box::new(Decimal::parse(&digits).ok_or_else(wrong)?))
        }
        _ => Argument::Double(digits.parse().map_err(|_| wrong())?),
    })
}

/// The beginning of a text, for messages.
pub(crate) fn shortened(text: &str) -> &str {
    match text.char_indices().nth(SHORTENED_CHARS) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The most characters of a wrong text that a message repeats.
const SHORTENED_CHARS: usize = 60;

/// The content of a string token, which includes the quotes.
pub(crate) fn string(token: &str) -> Result<Text, Wrong> {
    let quote = &token[..1];
    let triple = token.len() >= 6 && token[1..].starts_with(quote) && token[2..].starts_with(quote);
    let edge = if triple { 3 } else { 1 };
    let body = &token[edge..token.len() - edge];
    if body.contains('\\') {
        unescaped(body)
    } else {
        Ok(Text::from(body))
    }
}

fn unescaped(body: &str) -> Result<Text, Wrong> {
    let mut text = Text::with_capacity(body.len());
    let mut rest = body;
    while let Some(place) = rest.find('\\') {
        text.push_str(&rest[..place]);
        rest = &rest[place + 1..];
        let Some(escape) = rest.chars().next() else {
            return Err("a string ends with a backslash".to_owned());
        };
        let mut length = escape.len_utf8();
        match escape {
            'b' => text.push('\u{8}'),
            't' => text.push('\t'),
            'n' => text.push('\n'),
            'f' => text.push('\u{c}'),
            'r' => text.push('\r'),
            '"' | '\'' | '\\' | '$' => text.push(escape),
            '\n' => {}
            '\r' if rest[1..].starts_with('\n') => length = 2,
            'u' => length = unicode_escape(rest, &mut text)?,
            '0'..='7' => {
                let most = if escape <= '3' { 3 } else { 2 };
                length = rest
                    .bytes()
                    .take(most)
                    .take_while(|byte| matches!(byte, b'0'..=b'7'))
                    .count();
                let code = u32::from_str_radix(&rest[..length], 8).unwrap_or(0);
                text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            _ => return Err(format!("a string has no escape \\{escape}")),
        }
        rest = &rest[length..];
    }
    text.push_str(rest);
    Ok(text)
}

/// Reads `uXXXX`, and the second half of a surrogate pair with it. Returns the number of bytes
/// read.
fn unicode_escape(rest: &str, text: &mut Text) -> Result<usize, Wrong> {
    let (unit, length) = code_unit(rest)?;
    if (0xD800..0xDC00).contains(&unit) && rest[length..].starts_with("\\u") {
        let (low, low_length) = code_unit(&rest[length + 1..])?;
        if (0xDC00..0xE000).contains(&low) {
            let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            return Ok(length + 1 + low_length);
        }
    }
    text.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    Ok(length)
}

/// One UTF-16 code unit written as `u…uXXXX`, and the number of bytes read.
fn code_unit(rest: &str) -> Result<(u32, usize), Wrong> {
    let start = rest.bytes().take_while(|byte| *byte == b'u').count();
    let digits = rest.get(start..start + 4);
    let unit = digits
        .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
        .and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let unit = unit.ok_or("\\u in a string needs four hexadecimal digits")?;
    Ok((unit, start + 4))
}

/// Parses a UUID: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
pub(crate) fn uuid(text: &str) -> Result<u128, Wrong> {
    let wrong = || format!("'{}' is not a UUID", shortened(text));
    let bytes = text.as_bytes();
    let mut value = 0;
    if bytes.len() != 36 {
        return Err(wrong());
    }
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(place, 8 | 13 | 18 | 23) {
            if *byte != b'-' {
                return Err(wrong());
            }
        } else {
            let digit = char::from(*byte).to_digit(16).ok_or_else(wrong)?;
            value = value << 4 | u128::from(digit);
        }
    }
    Ok(value)
}
