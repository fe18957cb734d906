//! Formats numbers for a report.

/// A number rounded to a whole one, with thousands separators.
pub(crate) fn whole(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut out = String::new();
    if number <= -0.5 {
        out.push('−');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with two decimals below 10, one below 100, and none from 100 on.
pub(crate) fn three(number: f64) -> String {
    match number.abs() {
        size if size >= 99.95 => whole(number),
        size if size >= 9.995 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// Microseconds as whole milliseconds, truncated as JMeter does.
pub(crate) fn whole_ms(us: f64) -> String {
    whole((us / 1_000.0).floor())
}

/// Microseconds as milliseconds, formatted by [`three`].
pub(crate) fn ms(us: f64) -> String {
    three(us / 1_000.0)
}

/// A value of a table; a dash if it is unknown.
pub(crate) fn optional<V>(value: Option<V>, text: impl FnOnce(V) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), text)
}

/// A size in a suitable unit.
pub(crate) fn bytes(size: f64) -> String {
    for (unit, name) in [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if size >= unit as f64 {
            return format!("{} {name}", three(size / unit as f64));
        }
    }
    format!("{} B", whole(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_right() {
        assert_eq!(whole(1_234_567.4), "1,234,567");
        assert_eq!(whole(999.0), "999");
        assert_eq!(whole(-1_000.0), "−1,000");
        assert_eq!(three(0.123), "0.12");
        assert_eq!(three(12.34), "12.3");
        assert_eq!(three(99.96), "100");
        assert_eq!(three(1_234.0), "1,234");
        assert_eq!(whole_ms(1_999.0), "1");
        assert_eq!(ms(1_999.0), "2.00");
        assert_eq!(bytes(1_536.0), "1.50 KiB");
        assert_eq!(bytes(12.0), "12 B");
    }
}
