//! Java's regular expressions: what Java itself says of them, and how long the bad ones take.

use varve_omrs::Exception;
use varve_omrs::matching::{Pattern, Shape};
use varve_testkit::random::Random;

/// Patterns and texts with Java's verdicts, one character a text, `E` where Java refuses the
/// pattern. The program that wrote it is beside it.
const JAVA: &str = include_str!("patterns/java.txt");

/// Undoes the escapes of UTF-16 code units.
fn unescaped(text: &str) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        units.extend(rest[..at].encode_utf16());
        units.push(u16::from_str_radix(&rest[at + 1..at + 5], 16).expect("four digits"));
        rest = &rest[at + 5..];
    }
    units.extend(rest.encode_utf16());
    String::from_utf16(&units).expect("whole characters")
}

/// What Java does and this does not.
const NOT_SUPPORTED: &[&str] = &[
    "\\p{InGreek}",
    "\\p{javaMirrored}",
    "a++",
    "a*+",
    "a?+",
    "(?>a)",
    "(?=a)a",
    "(?!b)a",
    "(?<=a)b",
    "(a)\\1",
    "(?<n>a)\\k<n>",
    "a$\n",
    "a$b",
    "(a$|b)c",
    "abc\\Z\n",
    "(?m)^a$",
    "\\uD83D",
    "\\X",
    "\\N{LATIN SMALL LETTER A}",
    "$a",
];

#[test]
fn patterns_match_what_they_match_in_java() {
    let mut lines = JAVA.lines();
    let texts = lines.next().expect("the texts");
    let texts: Vec<String> = texts.split('|').map(unescaped).collect();
    let mut wrong = Vec::new();
    for line in lines {
        let (pattern, verdicts) = line.rsplit_once('|').expect("a verdict");
        let pattern = unescaped(pattern);
        let read = Pattern::new(&pattern, "p");
        let exception = read.as_ref().err().map(|error| error.exception);
        let wanted = match verdicts {
            "E" => Some(Exception::InvalidParameter),
            _ if NOT_SUPPORTED.contains(&pattern.as_str()) => Some(Exception::FunctionNotSupported),
            _ => None,
        };
        if exception != wanted {
            wrong.push(format!("{pattern:?}: {read:?}, wanted {wanted:?}"));
        }
        let Ok(read) = read else { continue };
        for (text, verdict) in texts.iter().zip(verdicts.bytes()) {
            if read.matches(text) != (verdict == b'1') {
                wrong.push(format!(
                    "{pattern:?} on {text:?}: Java says {}",
                    verdict as char
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn shape(pattern: &str) -> Shape {
    Pattern::new(pattern, "p").expect(pattern).shape().clone()
}

#[test]
fn what_an_index_can_use_is_seen() {
    let is = |text: &str| Shape::Is(text.to_owned());
    let starts = |text: &str| Shape::Starts(text.to_owned());
    let contains = |text: &str| Shape::Contains(text.to_owned());
    assert_eq!(shape("\\Qa.b\\E"), is("a.b"));
    assert_eq!(shape("plain"), is("plain"));
    assert_eq!(shape("\\Qa\\E\\\\E\\Qb\\E"), is("a\\Eb"));
    assert_eq!(shape("\\Qab\\E.*"), starts("ab"));
    assert_eq!(shape("ab.*"), starts("ab"));
    assert_eq!(shape("ab[c-f]+x"), starts("ab"));
    assert_eq!(shape(".*\\QAb\\E"), contains("Ab"));
    assert_eq!(shape(".*\\QAb\\E.*"), contains("Ab"));
    assert_eq!(shape("(?i)\\QAb\\E"), contains("ab"));
    assert_eq!(shape("(?i)\\Q12\\E"), is("12"));
    assert_eq!(shape(".*x.*longer.*y"), contains("longer"));
    assert_eq!(shape("(a|b)*"), Shape::Unknown);
    assert_eq!(shape(".*"), Shape::Unknown);
}

#[test]
fn strings_that_match_have_the_shape() {
    let mut random = Random::new(7);
    let pieces = [
        "a", "B", ".", ".*", "[ab]", "(?:a|B)", "x?", "(?i)", "\\Q.b\\E", "\n", "é", "+",
    ];
    let letters = ["a", "b", "A", "B", ".", "x", "\n", "é", "E"];
    for _ in 0..3000 {
        let pattern: String = (0..random.below(5))
            .map(|_| *random.pick(&pieces))
            .collect();
        let Ok(read) = Pattern::new(&pattern, "p") else {
            continue;
        };
        for _ in 0..20 {
            let text: String = (0..random.below(5))
                .map(|_| *random.pick(&letters))
                .collect();
            let fits = match read.shape() {
                Shape::Is(wanted) => text == *wanted,
                Shape::Starts(start) => text.starts_with(start),
                Shape::Contains(part) => text.to_lowercase().contains(&part.to_lowercase()),
                Shape::Unknown => true,
            };
            assert!(fits || !read.matches(&text), "{pattern:?} matches {text:?}");
            let is_only = matches!(read.shape(), Shape::Is(_));
            assert!(
                !is_only || fits == read.matches(&text),
                "{pattern:?} {text:?}"
            );
        }
    }
}

#[test]
fn bad_patterns_are_refused_or_harmless() {
    let long = "a".repeat(100_000);
    let nested = format!("{}a{}", "(".repeat(50_000), ")".repeat(50_000));
    let classes = format!("{}a{}", "[".repeat(50_000), "]".repeat(50_000));
    let cases = [
        "(a+)+b".to_owned(),
        "(a|aa)*c".to_owned(),
        "(.*)*x".to_owned(),
        "(a*)*(a*)*(a*)*b".to_owned(),
        "((a{1000}){1000}){1000}".to_owned(),
        "(\\p{L}{100}){100}".to_owned(),
        format!("({})", "a?".repeat(5000)),
        format!("{}x", "a|".repeat(15_000)),
        nested,
        classes,
        "a".repeat(30_000) + "+",
        "\\Q".repeat(100_000),
    ];
    for pattern in &cases {
        match Pattern::new(pattern, "p") {
            Ok(read) => assert!(
                !read.matches(&long),
                "{}",
                &pattern[..20.min(pattern.len())]
            ),
            Err(error) => assert!(
                matches!(
                    error.exception,
                    Exception::InvalidParameter | Exception::FunctionNotSupported
                ),
                "{error}"
            ),
        }
    }
}

#[test]
fn texts_of_megabytes_are_quoted() {
    let text = "x\n".repeat(5_000_000);
    let pattern = Pattern::new(&format!("\\Q{text}\\E"), "p").expect("one quote");
    assert!(pattern.matches(&text));
    assert!(!pattern.matches(&text[1..]));
}

#[test]
fn only_quoted_texts_may_be_long() {
    let plain = "a, b; c ".repeat(100_000);
    let pattern = Pattern::new(&plain, "p").expect("a plain text");
    assert_eq!(*pattern.shape(), Shape::Is(plain.clone()));
    assert!(pattern.matches(&plain) && !pattern.matches(&plain[1..]));
    let general = |length: usize| Pattern::new(&format!("{}.?", "a".repeat(length)), "p");
    assert!(general(5_000).is_ok());
    let error = general(70_000).unwrap_err();
    assert_eq!(error.exception, Exception::FunctionNotSupported);
}
