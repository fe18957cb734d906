//! The values of numbers, strings and names in backticks.

use crate::error::ErrorKind;
use crate::tree::{ExpressionKind, Text};

/// What is wrong with a literal.
pub(crate) type Fault = (ErrorKind, String);

/// The number of this text, with a minus sign before it or not.
pub(crate) fn number(text: &str, negative: bool) -> Result<ExpressionKind, Fault> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', b'o', ..] => (&text[2..], 8),
        bytes
            if bytes
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'_') =>
        {
            (text, 10)
        }
        _ => return float(text, negative),
    };
    let invalid = || {
        let message = format!("'{}' is not a number", shortened(text));
        (ErrorKind::InvalidNumberLiteral, message)
    };
    // Other versions read it as an octal number.
    if radix == 10 && digits.len() > 1 && digits.starts_with('0') {
        let message = format!(
            "'{}' begins with 0; octal numbers begin with 0o",
            shortened(text)
        );
        return Err((ErrorKind::InvalidNumberLiteral, message));
    }
    let mut value: Option<i64> = Some(0);
    let mut after_digit = radix != 10;
    for byte in digits.bytes() {
        if byte == b'_' && after_digit {
            after_digit = false;
            continue;
        }
        let digit = char::from(byte).to_digit(radix).ok_or_else(invalid)?;
        let digit = i64::from(digit);
        after_digit = true;
        // Negative values reach one further.
        value = value
            .and_then(|value| value.checked_mul(i64::from(radix)))
            .and_then(|value| value.checked_sub(digit));
    }
    if digits.is_empty() || !after_digit {
        return Err(invalid());
    }
    let value = if negative {
        value
    } else {
        value.and_then(i64::checked_neg)
    };
    value.map(ExpressionKind::Integer).ok_or_else(|| {
        let message = format!("the integer '{}' does not fit 64 bits", shortened(text));
        (ErrorKind::IntegerOverflow, message)
    })
}

fn float(text: &str, negative: bool) -> Result<ExpressionKind, Fault> {
    let invalid = || {
        let message = format!("'{}' is not a number", shortened(text));
        (ErrorKind::InvalidNumberLiteral, message)
    };
    let is_float = text.contains(['.', 'e', 'E']);
    let digits = match text.strip_suffix(['f', 'F', 'd', 'D']) {
        Some(digits) if is_float => digits,
        _ => text,
    };
    let bytes = digits.as_bytes();
    let separates = |place: usize| {
        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        digit(bytes.get(place.wrapping_sub(1))) && digit(bytes.get(place + 1))
    };
    let underscores = digits.match_indices('_').map(|(place, _)| place);
    let plain = |byte: &u8| {
        byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-' | b'_')
    };
    if !bytes.iter().all(plain) || !underscores.into_iter().all(separates) {
        return Err(invalid());
    }
    let value: f64 = digits.replace('_', "").parse().map_err(|_| invalid())?;
    if value.is_infinite() {
        let message = format!("the float '{}' does not fit 64 bits", shortened(text));
        return Err((ErrorKind::FloatingPointOverflow, message));
    }
    Ok(ExpressionKind::Float(if negative { -value } else { value }))
}

/// The value of a string with its quotes. The fault comes with the offset of the escape.
pub(crate) fn string(text: &str) -> Result<Text, (usize, Fault)> {
    let quote = &text[..1];
    let inner = &text[1..text.len() - 1];
    if !inner.contains('\\') && !inner.contains(quote) {
        return Ok(Text::from(inner));
    }
    let mut value = Text::default();
    let mut rest = inner;
    while let Some(next) = rest.chars().next() {
        let place = text.len() - 1 - rest.len();
        rest = &rest[next.len_utf8()..];
        if next == '\\' {
            let escaped = escape(&mut rest).map_err(|fault| (place, fault))?;
            value.push(escaped);
        } else {
            value.push(next);
            // A quote in a string is written twice.
            if quote.contains(next) {
                rest = rest.strip_prefix(quote).unwrap_or(rest);
            }
        }
    }
    Ok(value)
}

/// Reads what follows a backslash.
fn escape(rest: &mut &str) -> Result<char, Fault> {
    let Some(kind) = rest.chars().next() else {
        return Err((
            ErrorKind::UnexpectedSyntax,
            "a string ends with a backslash".to_owned(),
        ));
    };
    *rest = &rest[kind.len_utf8()..];
    match kind {
        '\\' | '\'' | '"' | '`' => Ok(kind),
        't' => Ok('\t'),
        'b' => Ok('\u{8}'),
        'n' => Ok('\n'),
        'r' => Ok('\r'),
        'f' => Ok('\u{C}'),
        'u' => {
            let first = hexadecimal(rest, 4)?;
            // Characters over U+FFFF are written as two surrogates.
            let second = match rest.strip_prefix("\\u") {
                Some(mut after) if (0xD800..0xDC00).contains(&first) => {
                    let second = hexadecimal(&mut after, 4)?;
                    *rest = after;
                    second
                }
                _ => return character(first),
            };
            if !(0xDC00..0xE000).contains(&second) {
                return character(first);
            }
            character(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        }
        'U' => hexadecimal(rest, 6).and_then(character),
        _ => Err((
            ErrorKind::UnexpectedSyntax,
            format!("'\\{kind}' is no escape; write '\\\\' for a backslash"),
        )),
    }
}

fn hexadecimal(rest: &mut &str, digits: usize) -> Result<u32, Fault> {
    let code = rest.get(..digits);
    let code = code.filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let value = code.and_then(|code| u32::from_str_radix(code, 16).ok());
    let Some(value) = value else {
        let message = format!("a Unicode escape needs {digits} hexadecimal digits");
        return Err((ErrorKind::InvalidUnicodeLiteral, message));
    };
    *rest = &rest[digits..];
    Ok(value)
}

fn character(code: u32) -> Result<char, Fault> {
    char::from_u32(code).ok_or_else(|| {
        let message = format!("U+{code:04X} is not a character");
        (ErrorKind::InvalidUnicodeLiteral, message)
    })
}

/// The name in backticks.
pub(crate) fn escaped_name(text: &str) -> Text {
    Text::from(text[1..text.len() - 1].replace("``", "`"))
}

/// At most 40 characters of a text, for messages.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((place, _)) => format!("{}…", &text[..place]),
        None => text.to_owned(),
    }
}
