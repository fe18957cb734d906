//! Clients of different servers that claim the same things at once: values of a unique index, and
//! names of schema elements. Each has one winner at most, also when servers fail in between; what a
//! winner was answered is there, and can be used at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value as Json, json};

use super::outcome::{Outcome, outcome};
use crate::acknowledged::Random;
use crate::server::Client;

/// What the claims need of the schema.
pub(crate) const SCHEMA: [(&str, &str); 3] = [
    ("propertykeys", r#"{"name":"mail","data_type":"TEXT"}"#),
    (
        "vertexlabels",
        r#"{"name":"person","id_strategy":"CUSTOMIZE_STRING","properties":["mail"]}"#,
    ),
    (
        "indexlabels",
        r#"{"name":"personByMail","base_type":"VERTEX_LABEL","base_value":"person","index_type":"UNIQUE","fields":["mail"]}"#,
    ),
];

/// The data types that claimers ask for; they say who wins.
const TYPES: [&str; 3] = ["TEXT", "INT", "DATE"];
/// Schema elements that each claimer makes at most: each costs all servers memory, and the runs are
/// long.
const KEYS_MAX: u64 = 200;

/// The verdict on a claim, as its claimer was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Won,
    Lost,
    /// It may have won.
    Unknown,
    /// It was refused for other reasons, and nothing is stored.
    Refused,
}

/// One of those who claim.
pub(crate) struct Claimer {
    number: usize,
    random: Random,
    mails: BTreeMap<u64, Verdict>,
    keys: BTreeMap<u64, Verdict>,
    /// Labels that were made, with whether a vertex of it was.
    labels: BTreeMap<u64, bool>,
    /// The next of each kind, which all go for together.
    next: Arc<[AtomicU64; 3]>,
}

fn verdict(answer: Option<&(u16, Json)>, path: &str) -> Verdict {
    match answer {
        // Another has it.
        Some((400, _)) => Verdict::Lost,
        answer => match outcome(answer, path) {
            Outcome::Done => Verdict::Won,
            Outcome::Unknown => Verdict::Unknown,
            Outcome::Refused => Verdict::Refused,
        },
    }
}

fn person(number: usize, mail: u64) -> String {
    format!("person-{number}-{mail}")
}

fn vertex_path(id: &str) -> String {
    format!("/graphs/hugegraph/graph/vertices/%22{id}%22")
}

impl Claimer {
    /// So many of them, who go for the same things.
    pub(crate) fn all(count: usize, seed: u64) -> Vec<Self> {
        let next: Arc<[AtomicU64; 3]> = Arc::default();
        let claimer = |number: usize| Self {
            number,
            random: Random::new(seed.wrapping_add(number as u64 * 91 + 3)),
            mails: BTreeMap::new(),
            keys: BTreeMap::new(),
            labels: BTreeMap::new(),
            next: Arc::clone(&next),
        };
        (0..count).map(claimer).collect()
    }

    /// Claims the next mail, or the next name of a schema element; or makes a label and a vertex of
    /// it.
    pub(crate) fn step(&mut self, client: &Client) {
        let next = |kind: usize| self.next[kind].load(Ordering::Relaxed);
        let kind = match self.random.below(8) {
            0 if next(1) < KEYS_MAX => 1,
            1 if next(2) < KEYS_MAX => 2,
            _ => 0,
        };
        let at = next(kind);
        match kind {
            0 => self.claim_mail(client, at),
            1 => self.claim_key(client, at),
            _ => self.make_label(client, at),
        }
        // Whoever comes too late goes on with what the others are at.
        self.next[kind].fetch_max(at + 1, Ordering::Relaxed);
    }

    fn claim_mail(&mut self, client: &Client, mail: u64) {
        let body = json!({
            "label": "person", "id": person(self.number, mail), "properties": { "mail": format!("{mail}@x") }
        });
        let path = "/graphs/hugegraph/graph/vertices";
        let answer = client.try_ask("POST", path, &body.to_string());
        self.mails.insert(mail, verdict(answer.as_ref(), path));
    }

    fn claim_key(&mut self, client: &Client, key: u64) {
        let data_type = TYPES[self.number % TYPES.len()];
        let body = json!({ "name": format!("key{key}"), "data_type": data_type });
        let path = "/graphs/hugegraph/schema/propertykeys";
        let answer = client.try_ask("POST", path, &body.to_string());
        self.keys.insert(key, verdict(answer.as_ref(), path));
    }

    /// What is acknowledged can be used with the next request, though another server may lead by
    /// then.
    fn make_label(&mut self, client: &Client, label: u64) {
        let name = format!("label{}x{label}", self.number);
        let body = json!({ "name": name, "id_strategy": "CUSTOMIZE_STRING", "properties": [] });
        let path = "/graphs/hugegraph/schema/vertexlabels";
        let answer = client.try_ask("POST", path, &body.to_string());
        if verdict(answer.as_ref(), path) != Verdict::Won {
            return;
        }
        let body = json!({ "label": name, "id": format!("of-{name}"), "properties": {} });
        let path = "/graphs/hugegraph/graph/vertices";
        let answer = client.try_ask("POST", path, &body.to_string());
        let verdict = verdict(answer.as_ref(), path);
        assert_ne!(verdict, Verdict::Lost, "{name} was made, but: {answer:?}");
        self.labels.insert(label, verdict == Verdict::Won);
    }
}

/// Compares what is stored with what the claimers were answered. Returns how many claims were won,
/// and how many lost.
pub(crate) fn check(claimers: &[Claimer], client: &Client) -> (usize, usize) {
    let (mut won, mut lost) = (0, 0);
    let mut mails: BTreeMap<u64, Vec<(usize, Verdict)>> = BTreeMap::new();
    let mut keys: BTreeMap<u64, Vec<(usize, Verdict)>> = BTreeMap::new();
    for claimer in claimers {
        for (mail, verdict) in &claimer.mails {
            mails
                .entry(*mail)
                .or_default()
                .push((claimer.number, *verdict));
        }
        for (key, verdict) in &claimer.keys {
            keys.entry(*key)
                .or_default()
                .push((claimer.number, *verdict));
        }
    }
    for (mail, claims) in &mails {
        let has = |number: usize| found(client, &vertex_path(&person(number, *mail))).is_some();
        let holders = claims.iter().filter(|(number, _)| has(*number));
        let holders: Vec<usize> = holders.map(|(number, _)| *number).collect();
        fits(&format!("mail {mail}"), claims, &holders);
    }
    for (key, claims) in &keys {
        let path = format!("/graphs/hugegraph/schema/propertykeys/key{key}");
        let kind = found(client, &path).map(|key| key["data_type"].clone());
        let holders = claims.iter().map(|(number, _)| *number);
        let holders = holders.filter(|number| {
            let asked = TYPES[number % TYPES.len()];
            kind.as_ref().is_some_and(|kind| kind == asked)
        });
        let holders: Vec<usize> = holders.collect();
        fits(&format!("key {key}"), claims, &holders);
    }
    for claims in mails.values().chain(keys.values()) {
        won += claims
            .iter()
            .filter(|(_, verdict)| *verdict == Verdict::Won)
            .count();
        lost += claims
            .iter()
            .filter(|(_, verdict)| *verdict == Verdict::Lost)
            .count();
    }
    for claimer in claimers {
        for (label, vertex) in &claimer.labels {
            let name = format!("label{}x{label}", claimer.number);
            let path = format!("/graphs/hugegraph/schema/vertexlabels/{name}");
            assert!(found(client, &path).is_some(), "{name} was lost");
            let path = vertex_path(&format!("of-{name}"));
            assert!(
                !vertex || found(client, &path).is_some(),
                "its vertex was lost: {name}"
            );
        }
    }
    (won, lost)
}

fn found(client: &Client, path: &str) -> Option<Json> {
    match client.try_ask("GET", path, "").expect("an answer") {
        (200, body) => Some(body),
        (404 | 400, _) => None,
        (status, body) => panic!("{path}: {status} {body}"),
    }
}

fn fits(what: &str, claims: &[(usize, Verdict)], holders: &[usize]) {
    if let Err(said) = judge(claims, holders) {
        panic!("{what}: {said}: {claims:?}");
    }
}

/// Whether those who hold what was claimed fit all the verdicts: at most one holder, whose claim
/// was not lost; and no other claim was won. Says what does not fit.
fn judge(claims: &[(usize, Verdict)], holders: &[usize]) -> Result<(), String> {
    let winners = claims
        .iter()
        .filter(|(_, verdict)| *verdict == Verdict::Won);
    let winners: Vec<usize> = winners.map(|(number, _)| *number).collect();
    if winners.len() > 1 {
        return Err("several have won".to_owned());
    }
    if holders.len() > 1 {
        return Err(format!("{holders:?} have it"));
    }
    if winners.iter().any(|winner| holders != [*winner]) {
        return Err(format!("what was won is lost, {holders:?} have it"));
    }
    let may_hold = |holder: &usize| {
        let verdict = claims.iter().find(|(number, _)| number == holder);
        matches!(verdict, Some((_, Verdict::Won | Verdict::Unknown)))
    };
    match holders.iter().find(|holder| !may_hold(holder)) {
        Some(holder) => Err(format!("{holder} has it and was answered otherwise")),
        None => Ok(()),
    }
}

#[test]
fn claims_are_judged() {
    use Verdict::{Lost, Refused, Unknown, Won};
    assert_eq!(judge(&[(0, Won), (1, Lost)], &[0]), Ok(()));
    assert_eq!(judge(&[(0, Unknown), (1, Lost)], &[0]), Ok(()));
    assert_eq!(judge(&[(0, Unknown), (1, Refused)], &[]), Ok(()));
    let wrong = |claims: &[(usize, Verdict)], holders: &[usize], what: &str| {
        let said = judge(claims, holders).expect_err(what);
        assert!(said.contains(what), "{said}");
    };
    wrong(&[(0, Won), (1, Lost)], &[], "is lost");
    wrong(&[(0, Won), (1, Won)], &[0], "several have won");
    wrong(&[(0, Won), (1, Unknown)], &[0, 1], "[0, 1] have it");
    wrong(&[(0, Refused)], &[0], "answered otherwise");
    wrong(&[(0, Won), (1, Lost)], &[1], "is lost");
}
