//! What the names of columns and files say.

/// The last words of the names of ids.
const KEYS: [&str; 12] = [
    "id", "ids", "code", "key", "uuid", "guid", "no", "ref", "fk", "nr", "number", "nummer",
];
/// What the names of ids end with where they are one word: `customerid`, `Personalnummer`.
const KEY_ENDS: [&str; 3] = ["nummer", "nr", "id"];
/// Names that many tables have, and that say nothing about another table.
const GENERIC: [&str; 8] = [
    "name",
    "title",
    "label",
    "description",
    "type",
    "status",
    "date",
    "comment",
];
/// Names of the source and the target of an edge.
const ENDS: [(&str, &str); 14] = [
    ("source", "target"),
    ("src", "dst"),
    ("source", "dest"),
    ("source", "destination"),
    ("src", "dest"),
    ("from", "to"),
    ("origin", "destination"),
    ("origin", "dest"),
    ("start", "end"),
    ("out v", "in v"),
    ("follower", "followee"),
    ("sender", "receiver"),
    ("parent", "child"),
    ("a", "b"),
];
/// Names of the start and the end of a valid time, best first.
const TIMES: [(&str, &str); 27] = [
    ("valid from", "valid to"),
    ("since", "until"),
    ("from", "to"),
    ("from", "until"),
    ("start", "end"),
    ("started", "ended"),
    ("begin", "end"),
    ("began", "ended"),
    ("hired", "left"),
    ("joined", "left"),
    ("from", "till"),
    ("since", "to"),
    ("von", "bis"),
    ("ab", "bis"),
    ("seit", "bis"),
    ("begin", "ende"),
    ("beginn", "ende"),
    ("start", "ende"),
    ("anfang", "ende"),
    ("startdatum", "enddatum"),
    ("eintritt", "austritt"),
    ("debut", "fin"),
    ("du", "au"),
    ("depuis", "jusque"),
    ("inicio", "fin"),
    ("desde", "hasta"),
    ("inizio", "fine"),
];
/// Those that stand alone, best first.
const STARTS: [&str; 13] = [
    "valid from",
    "since",
    "from",
    "start",
    "started",
    "hired",
    "von",
    "ab",
    "seit",
    "beginn",
    "eintritt",
    "debut",
    "desde",
];
/// Words that the names of valid times may have besides.
const TIME_WORDS: [&str; 5] = ["date", "time", "at", "on", "datum"];
/// Words that only names of instants have.
const INSTANT_WORDS: [&str; 8] = [
    "date",
    "time",
    "timestamp",
    "at",
    "created",
    "updated",
    "creation",
    "birthday",
];

/// The words of a name, in lower case and in the singular, without numbers.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for each in name.chars() {
        let starts = (before.is_lowercase() && each.is_uppercase())
            || (before.is_numeric() != each.is_numeric());
        if starts || !each.is_alphanumeric() {
            words.push(String::new());
        }
        if each.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(each.to_lowercase());
        }
        before = each;
    }
    words.retain(|word| !word.is_empty() && !word.chars().all(char::is_numeric));
    words.iter().map(|word| singular(word)).collect()
}

fn singular(word: &str) -> String {
    let stem = |end: &str| word.strip_suffix(end).filter(|stem| stem.len() > 1);
    match word {
        "people" => "person".to_owned(),
        _ if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") => {
            word.to_owned()
        }
        _ => match (stem("ies"), stem("sses"), stem("s")) {
            (Some(stem), _, _) => format!("{stem}y"),
            (_, Some(stem), _) => format!("{stem}ss"),
            (_, _, Some(stem)) => stem.to_owned(),
            _ => word.to_owned(),
        },
    }
}

pub(super) fn is_key(word: &str) -> bool {
    KEYS.contains(&word)
}

/// The words of a column's name without that of a key.
pub(super) fn stem(name: &str) -> Vec<String> {
    let mut words = words(name);
    // `customerid` without a capital.
    if let [only] = &*words
        && !is_key(only)
        && let Some(stem) = KEY_ENDS.iter().find_map(|end| only.strip_suffix(end))
        && stem.len() > 2
    {
        return vec![singular(stem)];
    }
    while words.last().is_some_and(|word| is_key(word)) {
        words.pop();
    }
    words
}

/// How much a column's name looks like that of the id of its own table: 0 to 3.
pub(super) fn as_key(column: &str, label: &str) -> u8 {
    let (all, stem, label) = (words(column), stem(column), words(label));
    let has_key = all.last().is_some_and(|word| is_key(word)) || all != stem;
    match has_key {
        true if stem.is_empty() => 3,
        true if stem == label || (label.len() == 2 && label.ends_with(&stem)) => 3,
        true => 1,
        false => 0,
    }
}

/// A column's name, taken apart once: it is compared with those of all other columns.
pub(super) struct Parts {
    stem: Vec<String>,
    is_generic: bool,
    is_role: bool,
    is_key: bool,
}

impl Parts {
    /// The parts of a name.
    pub(super) fn of(name: &str) -> Self {
        let stem = stem(name);
        Self {
            is_generic: stem.iter().all(|word| GENERIC.contains(&word.as_str())),
            is_role: stem.iter().any(|word| is_end(word)) || is_role(&stem),
            is_key: words(name).last().is_some_and(|word| is_key(word)),
            stem,
        }
    }
}

/// How much a column's name looks like a reference to the key of another table, whose label has
/// these words: 0 to 3.
pub(super) fn as_reference(column: &Parts, key: &Parts, label: &[String]) -> u8 {
    let own = &column.stem;
    if own.is_empty() {
        return 0;
    }
    let is_same = !column.is_generic && *own == key.stem;
    let is_entity = own.ends_with(label) || (label.len() == 2 && label.ends_with(own));
    match () {
        () if is_same || is_entity => 3,
        () if column.is_role => 2,
        () if column.is_key => 1,
        () if own.iter().any(|word| is_part(word, label)) => 1,
        () => 0,
    }
}

/// Whether a word begins one of the label, as `ship` begins `shipper`.
fn is_part(word: &str, label: &[String]) -> bool {
    word.len() > 3 && label.iter().any(|of_label| of_label.starts_with(word))
}

fn is_end(word: &str) -> bool {
    ENDS.iter()
        .any(|(one, other)| word == *one || word == *other)
}

/// Whether a column names another row of the same kind.
fn is_role(words: &[String]) -> bool {
    const ROLES: [&str; 8] = [
        "manager",
        "boss",
        "supervisor",
        "parent",
        "mentor",
        "spouse",
        "friend",
        "report",
    ];
    words.iter().any(|word| ROLES.contains(&word.as_str()))
}

/// The columns that are named like the source and the target of an edge.
pub(super) fn ends(columns: &[&str]) -> Option<(usize, usize)> {
    let stems: Vec<String> = columns.iter().map(|name| stem(name).join(" ")).collect();
    let at = |wanted: &str| {
        let mut places = stems.iter().enumerate();
        // `source airport`, but not `start date`.
        let is_so = |stem: &str| {
            stem == wanted
                || stem
                    .strip_prefix(wanted)
                    .is_some_and(|it| it.starts_with(' '))
        };
        places.find(|(_, stem)| is_so(stem)).map(|(at, _)| at)
    };
    let named = ENDS.iter().find_map(|(from, to)| {
        let (from, to) = (at(from)?, at(to)?);
        let rest = |at: usize, end: &str| stems[at].split(' ').skip(end.split(' ').count()).count();
        (from != to && rest(from, "x") == rest(to, "x")).then_some((from, to))
    });
    // `person1,person2` and `Person.id|Person.id`.
    let is_key = |name: &str| words(name).last().is_some_and(|word| is_key(word));
    let numbered = |name: &str| name.ends_with(|last: char| last.is_ascii_digit());
    named.or_else(|| {
        (1..columns.len()).find_map(|to| {
            let is_so = is_key(columns[to]) || numbered(columns[to]);
            let from = (0..to).find(|from| stems[*from] == stems[to] && !stems[to].is_empty())?;
            is_so.then_some((from, to))
        })
    })
}

/// The columns that are named like the start and the end of a valid time, among those that
/// `is_time` says are dates.
pub(super) fn times(
    columns: &[String],
    is_time: impl Fn(usize) -> bool,
) -> (Option<usize>, Option<usize>) {
    let plain = |name: &String| {
        let mut words = words(name);
        words.retain(|word| !TIME_WORDS.contains(&word.as_str()));
        words.join(" ").replace('é', "e")
    };
    let names: Vec<String> = columns.iter().map(plain).collect();
    let ending = |wanted: &str| {
        let ends = |name: &String| {
            let rest = name.strip_suffix(wanted)?;
            (rest.is_empty() || rest.ends_with(' ')).then(|| rest.to_owned())
        };
        let found = names.iter().enumerate().filter(|(at, _)| is_time(*at));
        let found = found.filter_map(move |(at, name)| Some((at, ends(name)?)));
        found.collect::<Vec<_>>()
    };
    for (from, to) in TIMES {
        let (starts, stops) = (ending(from), ending(to));
        let pair = starts.iter().find_map(|(start, of)| {
            let stop = stops.iter().find(|(_, other)| of == other)?;
            Some((Some(*start), Some(stop.0)))
        });
        if let Some(pair) = pair {
            return pair;
        }
    }
    let alone = |wanted: &&str| {
        let mut places = names.iter().enumerate();
        places.find(|(at, name)| name == wanted && is_time(*at))
    };
    let found = STARTS.iter().find_map(alone).map(|(at, _)| at);
    (found, None)
}

/// Whether the name is that of an instant.
pub(super) fn is_instant(name: &str) -> bool {
    let words = words(name);
    words
        .iter()
        .any(|word| INSTANT_WORDS.contains(&word.as_str()))
}

/// Whether a date of this name is no start and no end of what a row says.
pub(super) fn is_no_period(name: &str) -> bool {
    const WORDS: [&str; 10] = [
        "created",
        "updated",
        "modified",
        "changed",
        "creation",
        "birthday",
        "birth",
        "born",
        "geboren",
        "geburtsdatum",
    ];
    words(name)
        .iter()
        .any(|word| WORDS.contains(&word.as_str()))
}

/// A name that a schema element may have.
pub(super) fn clean(name: &str) -> String {
    let clean = name.trim().trim_start_matches('~');
    let clean = clean.replace(['#', '>', ':', '!'], "_");
    let clean = clean.trim_matches('_');
    match clean.is_empty() {
        true => "column".to_owned(),
        false => clean.to_owned(),
    }
}

/// The label of a file's rows: its name without its ending and the number of a part.
pub(super) fn label_of(file: &str) -> String {
    let mut name = file.split('.').next().unwrap_or_default();
    while let Some((front, last)) = name.rsplit_once('_') {
        let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || front.is_empty() {
            break;
        }
        name = front;
    }
    clean(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_have_words() {
        for (name, expected) in [
            ("CustomerID", &["customer", "id"][..]),
            ("person_knows_person", &["person", "know", "person"]),
            ("Person.id_2", &["person", "id"]),
            ("companies", &["company"]),
            ("addresses", &["address"]),
            ("status", &["status"]),
        ] {
            assert_eq!(words(name), expected, "{name}");
        }
        assert_eq!(stem("customerid"), ["customer"]);
        assert_eq!(stem("Personalnummer"), ["personal"]);
        assert_eq!(as_key("PersNr", "mitarbeiter"), 1);
        assert_eq!(as_key("amt", "aemter"), 0);
    }

    #[test]
    fn ends_and_times_are_recognized() {
        let ends_of = |names: &[&str]| ends(names);
        assert_eq!(ends_of(&["when", "source_id", "target_id"]), Some((1, 2)));
        assert_eq!(ends_of(&["airline", "origin", "destination"]), Some((1, 2)));
        assert_eq!(ends_of(&["Person.id", "Person.id_2", "x"]), Some((0, 1)));
        assert_eq!(ends_of(&["person1", "person2"]), Some((0, 1)));
        assert_eq!(
            ends_of(&["source_airport", "destination_airport"]),
            Some((0, 1))
        );
        assert_eq!(ends_of(&["id", "name", "country_id"]), None);
        let times_of = |names: &[&str]| times(&owned(names), |_| true);
        assert_eq!(
            times_of(&["x", "valid_from", "valid_to"]),
            (Some(1), Some(2))
        );
        assert_eq!(times_of(&["start_date", "end_date"]), (Some(0), Some(1)));
        assert_eq!(times_of(&["work_from", "work_until"]), (Some(0), Some(1)));
        assert_eq!(times_of(&["gültig_von", "gültig_bis"]), (Some(0), Some(1)));
        assert_eq!(times_of(&["GültigAb", "GültigBis"]), (Some(0), Some(1)));
        assert_eq!(times_of(&["fin", "début"]), (Some(1), Some(0)));
        assert_eq!(times_of(&["Beginn", "Ende"]), (Some(0), Some(1)));
        assert_eq!(times_of(&["since"]), (Some(0), None));
        assert_eq!(times_of(&["birthday", "to"]), (None, None));
    }

    #[test]
    fn references_are_named_like_what_they_refer_to() {
        for (column, key, label, expected) in [
            ("CustomerID", "CustomerID", "customers", 3),
            ("company_id", "id", "companies", 3),
            ("company", "id", "companies", 3),
            ("Person.id_2", "id", "person", 3),
            ("origin", "iata", "airports", 2),
            ("ReportsTo", "EmployeeID", "employees", 2),
            ("mentor_id", "id", "person", 2),
            ("owner_id", "id", "person", 1),
            ("name", "name", "city", 0),
            ("id", "id", "person", 0),
            ("quantity", "id", "person", 0),
        ] {
            let found = as_reference(&Parts::of(column), &Parts::of(key), &words(label));
            assert_eq!(found, expected, "{column} of {label}");
        }
    }

    #[test]
    fn labels_are_names_of_files() {
        for (file, label) in [
            ("people.csv.gz", "people"),
            ("person_knows_person_0_0.csv", "person_knows_person"),
            ("a:b.csv", "a_b"),
        ] {
            assert_eq!(label_of(file), label);
        }
    }
}
