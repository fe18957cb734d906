//! The rules that `promtool check metrics` holds a page of metrics against, from Prometheus'
//! documentation.

use std::collections::{BTreeMap, BTreeSet};

/// Units that have a base unit, and abbreviations of units.
const FOREIGN_UNITS: [&str; 34] = [
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "minutes",
    "hours",
    "days",
    "kilobytes",
    "megabytes",
    "gigabytes",
    "kibibytes",
    "mebibytes",
    "gibibytes",
    "bits",
    "percent",
    "celsius_degrees",
    "fahrenheit",
    "grams",
    "s",
    "ms",
    "us",
    "ns",
    "sec",
    "b",
    "kb",
    "mb",
    "gb",
    "tb",
    "pb",
    "m",
    "h",
    "d",
    "kib",
    "mib",
    "gib",
];

/// One family: its help, its type and its samples' names and labels.
#[derive(Default)]
struct Family {
    help: Option<String>,
    kind: Option<String>,
    samples: BTreeSet<String>,
}

/// What is wrong with a page; empty if nothing is.
pub(crate) fn problems(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for line in page.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("HELP"), Some(name), Some(text)) => {
                let family = families.entry(name.to_owned()).or_default();
                if family.help.replace(text.to_owned()).is_some() {
                    found.push(format!("{name}: a second HELP"));
                }
            }
            (Some("#"), Some("TYPE"), Some(name), Some(kind)) => {
                let family = families.entry(name.to_owned()).or_default();
                if !family.samples.is_empty() || family.kind.replace(kind.to_owned()).is_some() {
                    found.push(format!("{name}: a second TYPE, or one after samples"));
                }
            }
            (Some("#"), ..) => found.push(format!("no HELP or TYPE: {line}")),
            _ => sample(line, &mut families, &mut found),
        }
    }
    for (name, family) in &families {
        family_problems(name, family, &mut found);
    }
    found
}

/// Takes in a line like `name{label="value"} 1`.
fn sample(line: &str, families: &mut BTreeMap<String, Family>, found: &mut Vec<String>) {
    let Some((series, value)) = line.rsplit_once(' ') else {
        found.push(format!("not a sample: {line}"));
        return;
    };
    if value != "+Inf" && value.parse::<f64>().is_err() {
        found.push(format!("not a number: {line}"));
    }
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let labels = labels.strip_suffix('}').unwrap_or("no end");
    let base = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| {
        let base = name.strip_suffix(suffix)?;
        let kind = families.get(base)?.kind.as_deref();
        (kind == Some("histogram")).then(|| base.to_owned())
    });
    let is_histogram = base.is_some();
    let Some(family) = families.get_mut(base.as_deref().unwrap_or(name)) else {
        found.push(format!("{name}: a sample before HELP and TYPE"));
        return;
    };
    if !family.samples.insert(series.to_owned()) {
        found.push(format!("{series}: twice"));
    }
    for label in labels.split("\",").filter(|label| !label.is_empty()) {
        let (label, value) = label.split_once("=\"").unwrap_or((label, "no value"));
        let value = value.strip_suffix('"').unwrap_or(value);
        if !is_snake(label) || value.contains(['"', '\n']) {
            found.push(format!("{series}: the label {label}"));
        }
        if label == "quantile" || (label == "le" && !is_histogram) {
            found.push(format!("{series}: the label {label} is one of histograms"));
        }
    }
}

/// Letters, digits and `_`, none of them large.
fn is_snake(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn family_problems(name: &str, family: &Family, found: &mut Vec<String>) {
    let mut wrong = |what: &str| found.push(format!("{name}: {what}"));
    if family
        .help
        .as_deref()
        .is_none_or(|help| help.trim().is_empty())
    {
        wrong("no help");
    }
    if family.samples.is_empty() {
        wrong("no samples");
    }
    if !is_snake(name) {
        wrong("not in snake_case");
    }
    let kind = family.kind.as_deref().unwrap_or("none");
    if !["counter", "gauge", "histogram", "untyped"].contains(&kind) {
        wrong("no type that is known");
    }
    if (kind == "counter") != name.ends_with("_total") {
        wrong("a counter, and nothing else, ends in _total");
    }
    if ["_bucket", "_sum", "_count"]
        .iter()
        .any(|suffix| name.ends_with(suffix))
    {
        wrong("the end of its name is one of histograms");
    }
    let words: Vec<&str> = name.split('_').collect();
    if words.iter().any(|word| FOREIGN_UNITS.contains(word)) {
        wrong("another unit than the base unit");
    }
    if words
        .iter()
        .any(|word| ["counter", "gauge", "histogram", "summary"].contains(word))
    {
        wrong("its type is in its name");
    }
}

#[test]
fn faults_of_a_page_are_found() {
    let sound = "# HELP a_total An a.\n# TYPE a_total counter\na_total{x=\"1\",y=\"2\"} 3\n";
    assert_eq!(problems(sound), [""; 0]);
    for (wrong, problem) in [
        ("# TYPE a gauge\na 1\n", "a: no help"),
        ("a 1\n", "a: a sample before HELP and TYPE"),
        (
            "# HELP a An a.\n# TYPE a counter\na 1\n",
            "a: a counter, and nothing else, ends in _total",
        ),
        (
            "# HELP a_ms An a.\n# TYPE a_ms gauge\na_ms 1\n",
            "a_ms: another unit than the base unit",
        ),
        (
            "# HELP a An a.\n# TYPE a gauge\na{le=\"1\"} 1\n",
            "a{le=\"1\"}: the label le is one of histograms",
        ),
        ("# HELP a An a.\n# TYPE a gauge\na 1\na 2\n", "a: twice"),
    ] {
        assert_eq!(problems(wrong), [problem]);
    }
}
