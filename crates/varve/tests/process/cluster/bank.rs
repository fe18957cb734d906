//! Transfers between accounts, two accounts in one transaction each: the sum never changes, now or
//! at any moment of the past.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};

use super::outcome::{Outcome, found, outcome};
use super::races::history;
use crate::acknowledged::Random;
use crate::server::Client;

/// Accounts.
const COUNT: u64 = 6;
/// What each has at the beginning.
const OPENING: i64 = 1000;

/// What the bank needs of the schema.
pub(crate) const SCHEMA: [(&str, &str); 2] = [
    ("propertykeys", r#"{"name":"balance","data_type":"LONG"}"#),
    (
        "vertexlabels",
        r#"{"name":"account","id_strategy":"CUSTOMIZE_STRING","properties":["balance"]}"#,
    ),
];

fn account(at: u64) -> String {
    format!("account-{at}")
}

fn vertex(id: &str, balance: i64) -> Json {
    json!({ "label": "account", "id": id, "properties": { "balance": balance } })
}

/// Opens the accounts in one transaction.
pub(crate) fn prepare(client: &Client) {
    let accounts: Vec<Json> = (0..COUNT).map(|at| vertex(&account(at), OPENING)).collect();
    let body = Json::Array(accounts).to_string();
    let made = client.try_ask("POST", "/graphs/hugegraph/graph/vertices/batch", &body);
    assert_eq!(made.expect("an answer").0, 201);
}

/// One who transfers.
pub(crate) struct Teller {
    random: Random,
    done: usize,
    unknown: usize,
    /// Reads of all accounts as of a moment.
    looks: usize,
}

impl Teller {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            done: 0,
            unknown: 0,
            looks: 0,
        }
    }

    /// A transfer, or a look at all accounts as of now.
    pub(crate) fn step(&mut self, client: &Client) {
        match self.random.below(4) {
            0 => self.look(client),
            _ => self.transfer(client),
        }
    }

    fn transfer(&mut self, client: &Client) {
        let from = self.random.below(COUNT);
        let to = (from + 1 + self.random.below(COUNT - 1)) % COUNT;
        let amount = i64::try_from(self.random.below(50) + 1).expect("a small number");
        let body = json!({
            "vertices": [vertex(&account(from), -amount), vertex(&account(to), amount)],
            "update_strategies": { "balance": "SUM" }, "create_if_not_exist": true
        });
        let path = "/graphs/hugegraph/graph/vertices/batch";
        let answer = client.try_ask("PUT", path, &body.to_string());
        match outcome(answer.as_ref(), path) {
            Outcome::Done => self.done += 1,
            Outcome::Unknown => self.unknown += 1,
            Outcome::Refused => {}
        }
    }

    /// As of the instant of this clock, or of the server's own.
    fn look(&mut self, client: &Client) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let micros = since.expect("a clock after 1970").as_micros();
        let instant = match self.random.below(2) {
            0 => (micros << 8).to_string(),
            _ => "now".to_owned(),
        };
        if let Some(sum) = sum_as_of(client, &instant) {
            self.looks += 1;
            assert_eq!(sum, total(), "half a transfer was read");
        }
    }
}

fn total() -> i64 {
    OPENING * i64::try_from(COUNT).expect("a small number")
}

/// The sum of all balances at a commit version, or `now`; `None` when it was refused or there was
/// no answer.
fn sum_as_of(client: &Client, version: &str) -> Option<i64> {
    let ids: Vec<String> = (0..COUNT)
        .map(|at| format!("ids=%22{}%22", account(at)))
        .collect();
    let path = format!(
        "/graphs/hugegraph/traversers/vertices?{}&as_of_tx={version}",
        ids.join("&")
    );
    let found = found(client.try_ask("GET", &path, ""), &path)?;
    let found = found["vertices"].as_array().expect("vertices");
    assert_eq!(
        found.len() as u64,
        COUNT,
        "an account was missed at {version}"
    );
    Some(found.iter().map(balance).sum())
}

fn balance(vertex: &Json) -> i64 {
    vertex["properties"]["balance"].as_i64().expect("a number")
}

/// Checks every moment of the bank. Returns how many transfers there were, and how many looks at it
/// while they were made.
pub(crate) fn check(tellers: &[Teller], client: &Client) -> (usize, usize) {
    let mut changes: BTreeMap<u64, Vec<(u64, i64)>> = BTreeMap::new();
    for at in 0..COUNT {
        for version in history(client, &account(at)) {
            let number = version["version"].as_u64().expect("a commit version");
            let balance = balance(&version["element"]);
            changes.entry(number).or_default().push((at, balance));
        }
    }
    let mut balances: BTreeMap<u64, i64> = BTreeMap::new();
    for (version, changed) in &changes {
        balances.extend(changed.iter().copied());
        let sum: i64 = balances.values().sum();
        assert_eq!(sum, total(), "half a transfer at {version}: {changed:?}");
    }
    let accounts: BTreeSet<usize> = changes.values().map(Vec::len).collect();
    let opening = usize::try_from(COUNT).expect("a small number");
    assert!(
        accounts.is_subset(&BTreeSet::from([2, opening])),
        "{accounts:?}"
    );
    let transfers = changes.len() - 1;
    let done: usize = tellers.iter().map(|teller| teller.done).sum();
    let unknown: usize = tellers.iter().map(|teller| teller.unknown).sum();
    assert!(
        (done..=done + unknown).contains(&transfers),
        "{done} transfers acknowledged and {unknown} in doubt, {transfers} found"
    );
    // What the histories say, reads of the past say too.
    for version in changes.keys().step_by(changes.len() / 20 + 1) {
        let sum = sum_as_of(client, &version.to_string());
        assert_eq!(sum, Some(total()), "at {version}");
    }
    (transfers, tellers.iter().map(|teller| teller.looks).sum())
}
