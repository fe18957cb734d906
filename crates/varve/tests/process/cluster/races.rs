//! Several clients that write to the same vertices: lists that are appended to, registers that are
//! overwritten. Every value is written once, so the order that the server has made of the writes
//! can be read off, and held against what clients saw.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value as Json, json};

use super::outcome::{Outcome, found, outcome};
use crate::acknowledged::Random;
use crate::server::Client;

/// Lists, and as many registers.
const COUNT: u64 = 3;
/// Values of one client are apart from another's by this.
const VALUES_OF_CLIENT: i64 = 1_000_000;

/// What the races need of the schema.
pub(crate) const SCHEMA: [(&str, &str); 4] = [
    (
        "propertykeys",
        r#"{"name":"items","data_type":"LONG","cardinality":"LIST"}"#,
    ),
    ("propertykeys", r#"{"name":"last","data_type":"LONG"}"#),
    (
        "vertexlabels",
        r#"{"name":"list","id_strategy":"CUSTOMIZE_STRING","properties":["items"],"nullable_keys":["items"]}"#,
    ),
    (
        "vertexlabels",
        r#"{"name":"register","id_strategy":"CUSTOMIZE_STRING","properties":["last"]}"#,
    ),
];

/// A value that was written, and what its writer knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    value: i64,
    started: Instant,
    /// When it was acknowledged.
    done: Option<Instant>,
    /// Whether it is known that it was not stored.
    refused: bool,
}

/// A list that was read while others wrote.
#[derive(Debug, Clone)]
struct Seen {
    started: Instant,
    ended: Instant,
    items: Vec<i64>,
}

/// One client of the races.
pub(crate) struct Racer {
    number: i64,
    random: Random,
    next: i64,
    written: BTreeMap<String, Vec<Written>>,
    seen: BTreeMap<String, Vec<Seen>>,
}

fn path_of(id: &str) -> String {
    format!("/graphs/hugegraph/graph/vertices/%22{id}%22")
}

fn list_id(at: u64) -> String {
    format!("list-{at}")
}

fn register_id(at: u64) -> String {
    format!("register-{at}")
}

/// Makes the lists; the registers are made by who writes first.
pub(crate) fn prepare(client: &Client) {
    for at in 0..COUNT {
        let body = json!({ "label": "list", "id": list_id(at), "properties": {} });
        let made = client.try_ask(
            "POST",
            "/graphs/hugegraph/graph/vertices",
            &body.to_string(),
        );
        assert_eq!(made.expect("an answer").0, 201);
    }
}

impl Racer {
    pub(crate) fn new(number: u32, seed: u64) -> Self {
        Self {
            number: i64::from(number),
            random: Random::new(seed),
            next: 0,
            written: BTreeMap::new(),
            seen: BTreeMap::new(),
        }
    }

    /// One write or read.
    pub(crate) fn step(&mut self, client: &Client) {
        let at = self.random.below(COUNT);
        match self.random.below(3) {
            0 => self.append(client, list_id(at)),
            1 => self.overwrite(client, register_id(at)),
            _ => self.look(client, list_id(at)),
        }
    }

    fn next_value(&mut self) -> i64 {
        self.next += 1;
        self.number * VALUES_OF_CLIENT + self.next
    }

    fn append(&mut self, client: &Client, id: String) {
        let value = self.next_value();
        let body = json!({ "label": "list", "properties": { "items": [value] } });
        let path = format!("{}?action=append", path_of(&id));
        self.write(client, id, value, &path, &body);
    }

    fn overwrite(&mut self, client: &Client, id: String) {
        let value = self.next_value();
        let body = json!({
            "vertices": [{ "label": "register", "id": id, "properties": { "last": value } }],
            "update_strategies": { "last": "OVERRIDE" }, "create_if_not_exist": true
        });
        self.write(
            client,
            id,
            value,
            "/graphs/hugegraph/graph/vertices/batch",
            &body,
        );
    }

    fn write(&mut self, client: &Client, id: String, value: i64, path: &str, body: &Json) {
        let started = Instant::now();
        let answer = client.try_ask("PUT", path, &body.to_string());
        let outcome = outcome(answer.as_ref(), path);
        self.written.entry(id).or_default().push(Written {
            value,
            started,
            done: (outcome == Outcome::Done).then(Instant::now),
            refused: outcome == Outcome::Refused,
        });
    }

    fn look(&mut self, client: &Client, id: String) {
        let started = Instant::now();
        let path = path_of(&id);
        let Some(vertex) = found(client.try_ask("GET", &path, ""), &path) else {
            return;
        };
        let (items, ended) = (items_of(&vertex), Instant::now());
        self.seen.entry(id).or_default().push(Seen {
            started,
            ended,
            items,
        });
    }
}

fn items_of(vertex: &Json) -> Vec<i64> {
    let items = vertex["properties"]["items"].as_array();
    let items = items.into_iter().flatten();
    items.map(|item| item.as_i64().expect("a number")).collect()
}

/// The versions of an element, oldest first.
pub(crate) fn history(client: &Client, id: &str) -> Vec<Json> {
    let mut versions = Vec::new();
    let mut page = String::new();
    loop {
        let path = format!("{}/history?limit=10000{page}", path_of(id));
        let answer = client.try_ask("GET", &path, "").expect("an answer");
        let (200, mut history) = answer else {
            assert_eq!(answer.0, 404, "{id}: {}", answer.1);
            return versions;
        };
        let found = history["versions"].as_array_mut().expect("versions");
        versions.append(found);
        match history["page"].as_str() {
            Some(next) => page = format!("&page={next}"),
            None => break,
        }
    }
    versions.reverse();
    versions
}

/// Holds what is stored against what all clients know. Returns how many values were acknowledged,
/// and how many lists looked at.
pub(crate) fn check(racers: &[Racer], client: &Client) -> (usize, usize) {
    let (mut acknowledged, mut looks) = (0, 0);
    for at in 0..COUNT {
        let id = list_id(at);
        let (_, vertex) = client.try_ask("GET", &path_of(&id), "").expect("an answer");
        let order = items_of(&vertex);
        acknowledged += check_order(&id, &order, &written_to(racers, &id));
        let versions = history(client, &id);
        let mut before = Vec::new();
        for version in &versions {
            let items = items_of(&version["element"]);
            assert_eq!(
                items[..before.len()],
                before[..],
                "{id}: an update was lost"
            );
            before = items;
        }
        assert_eq!(before, order, "{id}: the newest version is what is now");
        // The empty list is one too.
        assert_eq!(
            versions.len(),
            order.len() + 1,
            "{id}: one version for each append"
        );
        for seen in racers
            .iter()
            .filter_map(|racer| racer.seen.get(&id))
            .flatten()
        {
            looks += 1;
            check_seen(&id, &order, seen, &written_to(racers, &id));
        }
        let id = register_id(at);
        let versions = history(client, &id);
        let last = |version: &Json| version["element"]["properties"]["last"].as_i64();
        let order: Vec<i64> = versions.iter().filter_map(last).collect();
        acknowledged += check_order(&id, &order, &written_to(racers, &id));
    }
    (acknowledged, looks)
}

fn written_to(racers: &[Racer], id: &str) -> Vec<Written> {
    let of = racers.iter().filter_map(|racer| racer.written.get(id));
    of.flatten().copied().collect()
}

/// Whether an order has every acknowledged value once, none that was refused or never written, and
/// none before one that was acknowledged before its own write began. Returns how many were
/// acknowledged.
fn check_order(id: &str, order: &[i64], written: &[Written]) -> usize {
    let mut known: BTreeMap<i64, &Written> = BTreeMap::new();
    for write in written {
        known.insert(write.value, write);
    }
    let mut places: BTreeMap<i64, usize> = BTreeMap::new();
    for (place, value) in order.iter().enumerate() {
        let write = known.get(value);
        let write = write.unwrap_or_else(|| panic!("{id}: nobody wrote {value}"));
        assert!(!write.refused, "{id}: {value} was refused and is there");
        let twice = places.insert(*value, place);
        assert_eq!(twice, None, "{id}: {value} is there twice");
    }
    let mut acknowledged = 0;
    for write in written.iter().filter(|write| write.done.is_some()) {
        acknowledged += 1;
        let there = places.contains_key(&write.value);
        assert!(there, "{id}: lost {}, which was acknowledged", write.value);
    }
    // The latest start among those before must not be after the end of one that comes later in the
    // order.
    let mut latest: Option<&Written> = None;
    for value in order {
        let write = known[value];
        if let (Some(done), Some(before)) = (write.done, latest) {
            let ordered = before.started <= done;
            assert!(
                ordered,
                "{id}: {} is before {value}, which was done before it began",
                before.value
            );
        }
        if latest.is_none_or(|before| before.started < write.started) {
            latest = Some(write);
        }
    }
    acknowledged
}

/// Whether a list that was read is a beginning of the order, with all that was acknowledged before,
/// and nothing that began later.
fn check_seen(id: &str, order: &[i64], seen: &Seen, written: &[Written]) {
    let read = seen.items.len();
    assert!(read <= order.len(), "{id}: more was read than there is");
    assert_eq!(
        seen.items[..],
        order[..read],
        "{id}: half an update was read"
    );
    for write in written {
        let place = order.iter().position(|value| *value == write.value);
        let Some(place) = place else { continue };
        if write.done.is_some_and(|done| done < seen.started) {
            assert!(
                place < read,
                "{id}: a read missed {}, acknowledged before",
                write.value
            );
        }
        if write.started > seen.ended {
            assert!(
                place >= read,
                "{id}: a read has {}, written after",
                write.value
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::time::Duration;

    use super::*;

    /// A write from one moment to another; without the latter its end is not known.
    fn write(value: i64, from: u64, to: Option<u64>) -> impl Fn(Instant) -> Written {
        move |zero| Written {
            value,
            started: zero + Duration::from_secs(from),
            done: to.map(|to| zero + Duration::from_secs(to)),
            refused: false,
        }
    }

    #[test]
    fn the_order_of_a_race_is_judged() {
        let zero = Instant::now();
        let writes = [
            write(1, 0, Some(2))(zero),
            write(2, 1, Some(3))(zero),
            write(3, 1, None)(zero),
            write(4, 5, Some(6))(zero),
        ];
        let right = |order: &[i64]| catch_unwind(|| check_order("x", order, &writes)).is_ok();
        assert!(right(&[1, 2, 4]) && right(&[2, 1, 3, 4]) && right(&[1, 2, 4, 3]));
        assert!(!right(&[1, 4]), "2 is lost");
        assert!(!right(&[1, 2, 2, 4]), "2 is there twice");
        assert!(!right(&[1, 2, 4, 5]), "nobody wrote 5");
        assert!(!right(&[4, 1, 2]), "4 began when the others had ended");
        let refused = Written {
            refused: true,
            ..writes[2]
        };
        assert!(catch_unwind(|| check_order("x", &[3], &[refused])).is_err());
        let order = [1, 2, 3, 4];
        let read = |items: &[i64], from: u64| {
            let started = zero + Duration::from_secs(from);
            let seen = Seen {
                started,
                ended: started,
                items: items.to_vec(),
            };
            catch_unwind(|| check_seen("x", &order, &seen, &writes)).is_ok()
        };
        assert!(read(&[1, 2], 4) && read(&[1, 2, 3], 4) && read(&[], 1));
        assert!(!read(&[1], 4), "2 was acknowledged");
        assert!(!read(&[1, 2, 3, 4], 4), "4 had not begun");
        assert!(!read(&[2, 1], 4), "another order");
    }
}
