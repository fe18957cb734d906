//! Skips JSON without reading it: strings eight bytes at a time, and whole values in one loop that
//! builds nothing.

/// The limits of a value that is skipped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The most levels of objects and lists, its own included.
    pub(crate) depth: usize,
    /// The most values, itself included.
    pub(crate) values: usize,
    /// Length of one string or number in bytes, as written.
    pub(crate) text_bytes: usize,
}

/// A value that was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Passed {
    /// The offset of its end.
    pub(crate) end: usize,
    /// The number of its values, itself included.
    pub(crate) values: usize,
    /// The number of its levels, its own included; 0 for a value that is neither object nor list.
    pub(crate) levels: usize,
}

/// The most levels that `value` can track. Callers that allow more skip deeper values level by
/// level.
const LEVELS: usize = 128;
/// The byte 1 in each byte of a word: a factor that repeats a byte.
const EACH: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Marks with its highest bit the first byte of `word` that ends a run of plain characters: a
/// quote, a backslash or a control character. Bytes after the first one may be marked wrongly.
const fn ends_of_plain(word: u64) -> u64 {
    let quote = word ^ (EACH * b'"' as u64);
    let backslash = word ^ (EACH * b'\\' as u64);
    let is_quote = quote.wrapping_sub(EACH) & !quote;
    let is_backslash = backslash.wrapping_sub(EACH) & !backslash;
    let is_control = word.wrapping_sub(EACH * 0x20) & !word;
    (is_quote | is_backslash | is_control) & HIGH
}

/// The offset of the first quote, backslash or control character from `at` on.
#[inline]
#[must_use]
pub fn plain_end(text: &[u8], mut at: usize) -> Option<usize> {
    while let Some(word) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let ends = ends_of_plain(u64::from_le_bytes(*word));
        if ends != 0 {
            return Some(at + (ends.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
    let rest = text.get(at..)?.iter().position(is_end)?;
    Some(at + rest)
}

/// The offset of the first byte from `at` on that is not white space.
#[inline]
pub(crate) fn after_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The number that the four hexadecimal digits at `at` denote.
pub(crate) fn four_hex_digits(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at.checked_add(4)?)?;
    digits.iter().try_fold(0, |unit, digit| {
        Some(unit * 16 + char::from(*digit).to_digit(16)?)
    })
}

/// The end of the value that begins at `at` or after white space there. `None` if it is malformed,
/// over a bound, or has more than `LEVELS` levels.
pub(crate) fn value(text: &[u8], mut at: usize, bounds: Bounds) -> Option<Passed> {
    let (mut values, mut depth, mut levels) = (0, 0, 0);
    // A bit for each open level, the innermost lowest: whether it is an object.
    let mut objects = 0_u128;
    'value: loop {
        at = after_space(text, at);
        values += 1;
        match *text.get(at)? {
            b'"' => at = string(text, at, bounds)?,
            open @ (b'{' | b'[') => {
                depth += 1;
                if depth > bounds.depth.min(LEVELS) {
                    return None;
                }
                levels = levels.max(depth);
                let is_object = open == b'{';
                objects = objects << 1 | u128::from(is_object);
                at = after_space(text, at + 1);
                match (*text.get(at)?, is_object) {
                    (b'}', true) | (b']', false) => {}
                    (_, true) => {
                        at = key(text, at, bounds)?;
                        continue;
                    }
                    (_, false) => continue,
                }
            }
            b't' => at = word(text, at, b"true")?,
            b'f' => at = word(text, at, b"false")?,
            b'n' => at = word(text, at, b"null")?,
            _ => at = number(text, at, bounds)?,
        }
        while depth > 0 {
            at = after_space(text, at);
            let is_object = objects & 1 == 1;
            match *text.get(at)? {
                b',' => {
                    at += 1;
                    if is_object {
                        at = key(text, after_space(text, at), bounds)?;
                    }
                    continue 'value;
                }
                b'}' if is_object => {}
                b']' if !is_object => {}
                _ => return None,
            }
            at += 1;
            depth -= 1;
            objects >>= 1;
        }
        return (values <= bounds.values).then_some(Passed {
            end: at,
            values,
            levels,
        });
    }
}

/// The end of the string whose opening quote is at `at`.
#[inline]
fn string(text: &[u8], at: usize, bounds: Bounds) -> Option<usize> {
    let start = at + 1;
    let mut at = start;
    loop {
        at = plain_end(text, at)?;
        match text[at] {
            b'"' => return (at - start <= bounds.text_bytes).then_some(at + 1),
            b'\\' => at = escape(text, at + 1)?,
            _ => return None,
        }
    }
}

/// The end of the property name that begins at `at` and of its colon.
#[inline]
fn key(text: &[u8], at: usize, bounds: Bounds) -> Option<usize> {
    if *text.get(at)? != b'"' {
        return None;
    }
    let at = after_space(text, string(text, at, bounds)?);
    (*text.get(at)? == b':').then_some(at + 1)
}

/// The end of the escape whose backslash is before `at`.
fn escape(text: &[u8], at: usize) -> Option<usize> {
    match *text.get(at)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 1),
        b'u' => match four_hex_digits(text, at + 1)? {
            0xD800..=0xDBFF => {
                let second = at + 5;
                let has_second = text.get(second..)?.starts_with(b"\\u");
                let low = four_hex_digits(text, second + 2).filter(|_| has_second)?;
                (0xDC00..=0xDFFF).contains(&low).then_some(second + 6)
            }
            0xDC00..=0xDFFF => None,
            _ => Some(at + 5),
        },
        _ => None,
    }
}

#[inline]
fn word(text: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    let is_it = text[at..].starts_with(word);
    is_it.then_some(at + word.len())
}

/// The end of the number that begins at `at`.
#[inline]
fn number(text: &[u8], start: usize, bounds: Bounds) -> Option<usize> {
    let mut at = start + usize::from(text[start] == b'-');
    let whole = at;
    at = digits(text, at)?;
    if text[whole] == b'0' && at > whole + 1 {
        return None;
    }
    if text.get(at) == Some(&b'.') {
        at = digits(text, at + 1)?;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(text.get(at), Some(b'+' | b'-')));
        at = digits(text, at)?;
    }
    (at - start <= bounds.text_bytes).then_some(at)
}

/// The end of the digits at `at`, of which there must be one.
#[inline]
fn digits(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    (at > start).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Bounds = Bounds {
        depth: 1_000,
        values: 1_000,
        text_bytes: 1_000,
    };

    #[test]
    fn the_end_of_plain_text_is_found_at_every_place() {
        for length in 0..40 {
            for before in 0..9 {
                for end in [b'"', b'\\', 0, 0x1F] {
                    let mut text = vec![b'x'; before];
                    // Characters whose bytes are near those that end a run, and some that are not
                    // ASCII.
                    let plain = "!#[] \u{7f}é\u{10ffff}".bytes().cycle();
                    text.extend(plain.take(length));
                    let whole = text.clone();
                    assert_eq!(plain_end(&whole, before), None);
                    text.push(end);
                    text.extend(b"\"\\ more\n");
                    assert_eq!(plain_end(&text, before), Some(before + length));
                }
            }
        }
        assert_eq!(plain_end(b"abc", 9), None);
    }

    #[test]
    fn values_are_counted_as_they_are_read_one_by_one() {
        let count =
            |text: &str| value(text.as_bytes(), 0, WIDE).map(|it| (it.end, it.values, it.levels));
        assert_eq!(count(" [1, {} ,{\"a\" : null}] ,"), Some((22, 5, 2)));
        assert_eq!(count("[[],[[]],[]]"), Some((12, 5, 3)));
        assert_eq!(count("\"\\u00e9\\\"\\ud83d\\ude00\"x"), Some((22, 1, 0)));
        assert_eq!(count("-0.5e+7,"), Some((7, 1, 0)));
        assert_eq!(count("[]"), Some((2, 1, 1)));
        for wrong in [
            "",
            "[",
            "[1",
            "[1,]",
            "{1:2}",
            "{\"a\"}",
            "{\"a\":}",
            "[}",
            "{]",
            "01",
            "-",
            "1.",
            "1e",
            "tru",
            "nul",
            "\"",
            "\"\\x\"",
            "\"\\ud83d\"",
            "\"\\udc00\"",
            "\"\u{1}\"",
            "\"\\u12g4\"",
            "{\"a\":1,}",
            "{,}",
            "[,]",
        ] {
            assert_eq!(count(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_deeper_than_is_distinguished_is_left_to_the_caller() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(value(deep(LEVELS).as_bytes(), 0, WIDE).is_some());
        assert!(value(deep(LEVELS + 1).as_bytes(), 0, WIDE).is_none());
        let shallow = Bounds { depth: 3, ..WIDE };
        assert!(value(deep(3).as_bytes(), 0, shallow).is_some());
        assert!(value(deep(4).as_bytes(), 0, shallow).is_none());
    }
}
