//! The text form of [`Retention`]: how long superseded versions of a label's elements are kept.

use varve_model::schema::Retention;

use crate::GraphError;

/// The user-data member with a label's retention in text form, if it is not the default. Clients
/// that do not know Varve can send and read it like any user data.
pub const HISTORY: &str = "~history";

/// Units of a duration and their length in microseconds, longest first.
const UNITS: [(char, i64); 4] = [
    ('d', 86_400_000_000),
    ('h', 3_600_000_000),
    ('m', 60_000_000),
    ('s', 1_000_000),
];

/// Reads `all`, `none`, or a duration such as `30d`, `12h`, `15m`, `90s` (whole, positive).
///
/// # Errors
/// [`crate::ErrorKind::InvalidArgument`] for anything else.
pub fn parse_retention(text: &str) -> Result<Retention, GraphError> {
    match text {
        "all" => Ok(Retention::All),
        "none" => Ok(Retention::None),
        _ => duration(text).map(Retention::For).ok_or_else(|| {
            GraphError::invalid(format!(
                "The history must be 'all', 'none' or a duration like '30d', '12h', '15m' or '90s', but got: '{text}'"
            ))
        }),
    }
}

fn duration(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let micros = UNITS.iter().find(|(name, _)| *name == unit)?.1;
    let digits = &text[..text.len() - unit.len_utf8()];
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let count: i64 = all_digits.then(|| digits.parse().ok()).flatten()?;
    count.checked_mul(micros).filter(|total| *total > 0)
}

/// The text form, in the longest unit that divides a duration.
#[must_use]
pub fn retention_text(retention: Retention) -> String {
    match retention {
        Retention::All => "all".to_owned(),
        Retention::None => "none".to_owned(),
        Retention::For(micros) => {
            let (unit, length) = UNITS
                .into_iter()
                .find(|(_, length)| micros % length == 0)
                .unwrap_or(UNITS[UNITS.len() - 1]);
            format!("{}{unit}", micros / length)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_and_write() {
        for text in ["all", "none", "1d", "30d", "12h", "15m", "90s", "36h"] {
            assert_eq!(retention_text(parse_retention(text).expect(text)), text);
        }
        assert_eq!(
            parse_retention("24h").expect("a day"),
            Retention::For(86_400_000_000)
        );
        assert_eq!(retention_text(Retention::For(86_400_000_000)), "1d");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "ALL",
            "d",
            "0d",
            "-1d",
            "1.5h",
            "1w",
            "1",
            "30 d",
            "9999999999999d",
            "1é",
        ] {
            let error = parse_retention(text).expect_err(text);
            assert!(
                error.message.ends_with(&format!("but got: '{text}'")),
                "{error}"
            );
        }
    }
}
