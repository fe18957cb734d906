//! Translates Java's character classes to those of the `regex` crate.

use super::java_regex::{Fault, Flags, Fold, NESTING_MAX, Parser, Token, not_supported, syntax};

/// A character class in the syntax of the `regex` crate, in brackets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClassText {
    pub(super) text: String,
    /// Whether case is ignored for all of Unicode. If Java folds ASCII letters only, both cases are
    /// in the text.
    pub(super) folds: bool,
}

impl ClassText {
    /// Makes a class from the text between the brackets.
    pub(super) fn ranges(ranges: &str) -> Self {
        Self {
            text: format!("[{ranges}]"),
            folds: false,
        }
    }
}

const SPACES: &str = " \\t\\n\\x0B\\f\\r";
const HORIZONTAL_SPACES: &str =
    " \\t\\x{A0}\\x{1680}\\x{180E}\\x{2000}-\\x{200A}\\x{202F}\\x{205F}\\x{3000}";
const VERTICAL_SPACES: &str = "\\n\\x0B\\f\\r\\x{85}\\x{2028}\\x{2029}";
const PUNCTUATION: &str = "!-/:-@\\[-`{-~";

/// Java's names of ASCII classes, with their ranges.
const POSIX: &[(&str, &str)] = &[
    ("Lower", "a-z"),
    ("Upper", "A-Z"),
    ("ASCII", "\\x00-\\x7F"),
    ("Alpha", "A-Za-z"),
    ("Digit", "0-9"),
    ("Alnum", "A-Za-z0-9"),
    ("Punct", PUNCTUATION),
    ("Graph", "!-~"),
    ("Print", " -~"),
    ("Blank", " \\t"),
    ("Cntrl", "\\x00-\\x1F\\x7F"),
    ("XDigit", "0-9A-Fa-f"),
    ("Space", SPACES),
    ("L1", "\\x00-\\x{FF}"),
    ("LD", "\\p{L}\\p{Nd}"),
    ("all", "\\x{0}-\\x{10FFFF}"),
];

/// The general categories whose names Java accepts without a prefix.
const CATEGORIES: &[&str] = &[
    "C", "Cc", "Cf", "Cn", "Co", "L", "LC", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn",
    "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm",
    "So", "Z", "Zl", "Zp", "Zs",
];

pub(super) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t'..='\r')
}

/// Parses a class, after its opening bracket.
pub(super) fn class(parser: &mut Parser, flags: Flags, depth: u32) -> Result<ClassText, Fault> {
    let text = bracketed(parser, flags, depth)?;
    Ok(ClassText {
        text,
        folds: flags.fold() == Fold::Unicode,
    })
}

fn bracketed(parser: &mut Parser, flags: Flags, depth: u32) -> Result<String, Fault> {
    if depth > NESTING_MAX {
        return Err(not_supported("its classes are nested too deeply"));
    }
    let negation = if parser.take('^') { "^" } else { "" };
    let mut operands = vec![String::new()];
    let mut is_first = true;
    loop {
        let operand = operands.last_mut().ok_or_else(|| syntax("a class"))?;
        match parser.next() {
            None => return Err(syntax("a class is not closed")),
            Some(Token::Plain(']')) if !is_first => break,
            Some(Token::Plain('[')) => {
                let nested = bracketed(parser, flags, depth + 1)?;
                operand.push_str(&nested);
            }
            Some(Token::Plain('&')) if parser.take('&') => operands.push(String::new()),
            Some(Token::Plain(space)) if flags.comments() && (is_space(space) || space == '#') => {
                return Err(not_supported("white space in a class that is ignored"));
            }
            Some(token) => item(parser, token, flags, operand)?,
        }
        is_first = false;
    }
    operands.retain(|operand| !operand.is_empty());
    if operands.is_empty() {
        return Err(syntax("a class is empty"));
    }
    let operands: Vec<String> = operands.iter().map(|one| format!("[{one}]")).collect();
    Ok(format!("[{negation}{}]", operands.join("&&")))
}

/// Parses a character, a range, or a predefined class.
fn item(parser: &mut Parser, token: Token, flags: Flags, text: &mut String) -> Result<(), Fault> {
    if let Token::Escaped(escaped) = token
        && let Some(class) = predefined(parser, escaped, flags)?
    {
        text.push_str(&class.text);
        return Ok(());
    }
    let from = character(parser, token)?;
    let is_range = parser.peek() == Some(Token::Plain('-'))
        && !matches!(parser.peek_second(), None | Some(Token::Plain(']' | '[')));
    if !is_range {
        push_range(text, from, from, flags.fold());
        return Ok(());
    }
    parser.next();
    let token = parser
        .next()
        .ok_or_else(|| syntax("a class is not closed"))?;
    let to = character(parser, token)?;
    if to < from {
        return Err(syntax("a range of characters goes backwards"));
    }
    push_range(text, from, to, flags.fold());
    Ok(())
}

fn character(parser: &mut Parser, token: Token) -> Result<char, Fault> {
    match token {
        Token::Plain(character) | Token::Quoted(character) => Ok(character),
        Token::Escaped(escaped) => escaped_character(parser, escaped),
    }
}

/// Adds a range of characters. With ASCII folding, also adds the letters of the other case.
fn push_range(text: &mut String, from: char, to: char, fold: Fold) {
    let mut push = |from: u32, to: u32| {
        text.push_str(&format!("\\x{{{from:X}}}-\\x{{{to:X}}}"));
    };
    let (from, to) = (u32::from(from), u32::from(to));
    push(from, to);
    if fold != Fold::Ascii {
        return;
    }
    for (first, last, other) in [('a', 'z', 'A'), ('A', 'Z', 'a')] {
        let (first, last, other) = (u32::from(first), u32::from(last), u32::from(other));
        let (low, high) = (from.max(first), to.min(last));
        if low <= high {
            push(low - first + other, high - first + other);
        }
    }
}

/// The predefined class of an escape such as `\d`.
pub(super) fn predefined(
    parser: &mut Parser,
    escaped: char,
    flags: Flags,
) -> Result<Option<ClassText>, Fault> {
    let ranges = match escaped.to_ascii_lowercase() {
        'd' | 'w' | 's' if flags.unicode_classes() => {
            return Ok(Some(ClassText::ranges(&format!("\\{escaped}"))));
        }
        'd' => "0-9",
        'w' => "A-Za-z0-9_",
        's' => SPACES,
        'h' => HORIZONTAL_SPACES,
        'v' => VERTICAL_SPACES,
        'p' => return property(parser, escaped == 'P', flags).map(Some),
        _ => return Ok(None),
    };
    let negation = if escaped.is_ascii_uppercase() {
        "^"
    } else {
        ""
    };
    Ok(Some(ClassText::ranges(&format!("{negation}{ranges}"))))
}

/// The class of `\p{…}`.
fn property(parser: &mut Parser, negated: bool, flags: Flags) -> Result<ClassText, Fault> {
    let name = property_name(parser)?;
    let ranges = match POSIX.iter().find(|(posix, _)| *posix == name) {
        Some(_) if flags.unicode_classes() => {
            return Err(not_supported("the flag U with classes of POSIX"));
        }
        Some(("Lower" | "Upper", _)) if flags.fold() != Fold::None => "A-Za-z".to_owned(),
        Some((_, ranges)) => (*ranges).to_owned(),
        None => {
            let own = unicode_property(&name)?;
            let folded = match flags.fold() {
                Fold::None => None,
                Fold::Ascii | Fold::Unicode => cases(&own),
            };
            folded.map_or_else(|| format!("\\p{{{own}}}"), str::to_owned)
        }
    };
    let negation = if negated { "^" } else { "" };
    Ok(ClassText::ranges(&format!("{negation}{ranges}")))
}

/// What a class of letters of one case becomes where case is ignored; `None` for other classes.
fn cases(property: &str) -> Option<&'static str> {
    let (_, value) = property.split_once('=').unwrap_or(("", property));
    match value.to_ascii_lowercase().as_str() {
        "lu" | "ll" | "lt" => Some("\\p{Lu}\\p{Ll}\\p{Lt}"),
        "uppercase" | "lowercase" => Some("\\p{Uppercase}\\p{Lowercase}\\p{Lt}"),
        _ => None,
    }
}

fn property_name(parser: &mut Parser) -> Result<String, Fault> {
    match parser.next() {
        Some(Token::Plain('{')) => {}
        Some(Token::Plain(letter)) => return Ok(letter.to_string()),
        _ => return Err(syntax("\\p has no name")),
    }
    let mut name = String::new();
    loop {
        match parser.next() {
            Some(Token::Plain('}')) if !name.is_empty() => return Ok(name),
            Some(Token::Plain(character)) if character != '}' => name.push(character),
            _ => return Err(syntax("the name after \\p is not closed")),
        }
    }
}

/// The `regex` crate's name of a property.
fn unicode_property(name: &str) -> Result<String, Fault> {
    let unknown = || Fault::Syntax(format!("no property of characters is called {name}"));
    let lower = name.to_ascii_lowercase();
    let is_word = |name: &str| {
        let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
        !name.is_empty() && name.chars().all(is_part)
    };
    if let Some((key, value)) = name.split_once('=') {
        if !is_word(value) {
            return Err(unknown());
        }
        return match key.to_ascii_lowercase().as_str() {
            "sc" | "script" => Ok(format!("Script={value}")),
            "gc" | "general_category" => Ok(format!("General_Category={value}")),
            "blk" | "block" => Err(not_supported("blocks of characters")),
            _ => Err(unknown()),
        };
    }
    if !is_word(name) {
        return Err(unknown());
    }
    match lower.as_str() {
        "javalowercase" => return Ok("Lowercase".to_owned()),
        "javauppercase" => return Ok("Uppercase".to_owned()),
        "javaalphabetic" => return Ok("Alphabetic".to_owned()),
        "istitlecase" => return Ok("Lt".to_owned()),
        "isdigit" => return Ok("Nd".to_owned()),
        _ => {}
    }
    if lower.starts_with("java") {
        return Err(not_supported("classes by the methods of Java"));
    }
    if lower.starts_with("in") {
        return Err(not_supported("blocks of characters"));
    }
    if lower.starts_with("is") {
        return Ok(name[2..].to_owned());
    }
    if CATEGORIES.contains(&name) {
        return Ok(name.to_owned());
    }
    Err(unknown())
}

/// The character of an escape.
pub(super) fn escaped_character(parser: &mut Parser, escaped: char) -> Result<char, Fault> {
    match escaped {
        't' => Ok('\t'),
        'n' => Ok('\n'),
        'r' => Ok('\r'),
        'f' => Ok('\u{C}'),
        'a' => Ok('\u{7}'),
        'e' => Ok('\u{1B}'),
        'c' => match parser.next() {
            Some(Token::Plain(control)) if control.is_ascii() => Ok(char::from(control as u8 ^ 64)),
            _ => Err(syntax("\\c has no character")),
        },
        '0' => octal(parser),
        'x' if parser.take('{') => {
            let mut code = 0;
            let mut length = 0;
            while !parser.take('}') {
                code = hexadecimal(parser, 1, code)?;
                length += 1;
            }
            let found = char::from_u32(code).filter(|_| length > 0);
            found.ok_or_else(|| syntax("\\x{…} is no character"))
        }
        'x' => {
            let code = hexadecimal(parser, 2, 0)?;
            char::from_u32(code).ok_or_else(|| syntax("\\x is no character"))
        }
        'u' => unicode(parser),
        _ if escaped.is_ascii_alphanumeric() => {
            Err(Fault::Syntax(format!("\\{escaped} is not known")))
        }
        _ => Ok(escaped),
    }
}

fn octal(parser: &mut Parser) -> Result<char, Fault> {
    let mut code = 0;
    let mut length = 0;
    while length < 3
        && let Some(Token::Plain(digit @ '0'..='7')) = parser.peek()
    {
        let larger = code * 8 + (digit as u32 - '0' as u32);
        if larger > 0o377 {
            break;
        }
        code = larger;
        length += 1;
        parser.next();
    }
    let found = char::from_u32(code).filter(|_| length > 0);
    found.ok_or_else(|| syntax("\\0 has no octal digits"))
}

fn hexadecimal(parser: &mut Parser, digits: usize, mut code: u32) -> Result<u32, Fault> {
    let bad = || syntax("a hexadecimal digit is missing");
    for _ in 0..digits {
        let Some(Token::Plain(character)) = parser.next() else {
            return Err(bad());
        };
        let digit = character.to_digit(16).ok_or_else(bad)?;
        code = code.checked_mul(16).ok_or_else(bad)? + digit;
    }
    Ok(code)
}

/// Reads four digits, or twice four for a surrogate pair.
fn unicode(parser: &mut Parser) -> Result<char, Fault> {
    let high = hexadecimal(parser, 4, 0)?;
    if let Some(character) = char::from_u32(high) {
        return Ok(character);
    }
    let half = || not_supported("half of a character");
    if high >= 0xDC00 || parser.next() != Some(Token::Escaped('u')) {
        return Err(half());
    }
    let low = hexadecimal(parser, 4, 0)?;
    if !(0xDC00..=0xDFFF).contains(&low) {
        return Err(half());
    }
    char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)).ok_or_else(half)
}
