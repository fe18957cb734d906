//! Gremlin scripts that change an open graph, each in one transaction, while the server is killed
//! again and again: what was acknowledged is there once, and what was not is there once or not at
//! all.
//!
//! `VARVE_CRASH_ROUNDS` says how often (default 5), `VARVE_CRASH_SEED` repeats a run; the seed is
//! printed.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::acknowledged::Random;
use crate::seeds::{number_from, seed};
use crate::server::{Client, run, serve_on, shown};

/// Clients that write at the same time.
const CLIENTS: usize = 8;
/// The longest that a server lives, in milliseconds.
const LIFE_MS_MAX: u64 = 1500;
/// What all accounts have together.
const MONEY: u64 = 400;
/// Names that merges look for.
const NAMES: u64 = 20;

/// What one client has done.
#[derive(Default)]
struct Done {
    /// Increments of the counter that were acknowledged, and such that may have happened.
    counted: u64,
    unknown: u64,
    /// Entries of the list, each with whether it was acknowledged.
    appended: BTreeMap<String, bool>,
}

/// The status of a script's answer, `None` if there was none.
fn send(client: &Client, script: &str) -> Option<u16> {
    let body = json!({"gremlin": script, "aliases": {"g": "__g_bank"}}).to_string();
    let answer = client.try_ask("POST", "/gremlin", &body);
    answer.map(|(status, _)| status)
}

/// Whether a script happened: `None` if nobody knows. One that was refused is sent again.
fn done(client: &Client, script: &str) -> Option<bool> {
    loop {
        match send(client, script)? {
            200 => return Some(true),
            503 => {}
            other => panic!("{script}: {other}"),
        }
    }
}

impl Done {
    /// Writes until the server is gone.
    fn write(&mut self, client: &Client, name: usize, random: &mut Random) {
        loop {
            let count = "n = g.V('counter').values('n').next(); \
                         g.V('counter').property('n', n + 1).iterate()";
            match done(client, count) {
                Some(_) => self.counted += 1,
                None => {
                    self.unknown += 1;
                    return;
                }
            }
            let (from, to) = (random.below(4), random.below(4));
            let transfer = format!(
                "a = g.V('account{from}').values('n').next(); \
                 b = g.V('account{to}').values('n').next(); \
                 if (a > 0 && {from} != {to}) {{ \
                   g.V('account{from}').property('n', a - 1).iterate(); \
                   g.V('account{to}').property('n', b + 1).iterate() }}"
            );
            if done(client, &transfer).is_none() {
                return;
            }
            let merge = format!(
                "g.mergeV([(T.label):'thing',name:'t{}']).iterate()",
                random.below(NAMES)
            );
            if done(client, &merge).is_none() {
                return;
            }
            let entry = format!("{name}-{}", self.appended.len());
            let append = format!("g.V('list').property(list,'e','{entry}').iterate()");
            let known = done(client, &append);
            self.appended.insert(entry, known.is_some());
            if known.is_none() {
                return;
            }
        }
    }
}

fn ask(client: &Client, script: &str) -> Vec<Json> {
    let body = json!({"gremlin": script, "aliases": {"g": "__g_bank"}}).to_string();
    let answer = client.try_ask("POST", "/gremlin", &body);
    let (_, json) = answer.expect("an answer");
    json["result"]["data"].as_array().expect("results").clone()
}

fn check(client: &Client, all: &[Done]) {
    let counted = ask(client, "g.V('counter').values('n')")[0].as_u64();
    let counted = counted.expect("a number");
    let acknowledged: u64 = all.iter().map(|done| done.counted).sum();
    let unknown: u64 = all.iter().map(|done| done.unknown).sum();
    assert!(
        (acknowledged..=acknowledged + unknown).contains(&counted),
        "{counted} counted, {acknowledged} acknowledged, {unknown} unknown"
    );
    let money = &ask(client, "g.V().hasLabel('account').values('n').sum()")[0];
    assert_eq!(money.as_u64(), Some(MONEY));
    let things = &ask(
        client,
        "g.V().hasLabel('thing').groupCount().by('name').unfold().where(__.select(values).is(gt(1))).count()",
    )[0];
    assert_eq!(things.as_u64(), Some(0), "two vertices of one merge");
    let entries = ask(client, "g.V('list').values('e')");
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    for entry in &entries {
        *times.entry(entry.as_str().expect("a text")).or_default() += 1;
    }
    for done in all {
        for (entry, acknowledged) in &done.appended {
            let times = times.get(entry.as_str()).copied().unwrap_or(0);
            assert!(
                times == 1 || times == 0 && !acknowledged,
                "{entry} is there {times} times, acknowledged: {acknowledged}"
            );
        }
    }
}

#[test]
fn transactions_of_scripts_survive_being_killed() {
    let rounds = number_from("VARVE_CRASH_ROUNDS").unwrap_or(5);
    let seed = seed();
    println!("VARVE_CRASH_SEED={seed} VARVE_CRASH_ROUNDS={rounds}");
    let mut random = Random::new(seed);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    let server = serve_on(&data);
    server.must("POST", "/graphs/bank", r#"{"schema":"open"}"#);
    let filled = done(
        &server.client(),
        &format!(
            "g.addV('counter').property(T.id,'counter').property('n',0).iterate(); \
             g.addV('list').property(T.id,'list').iterate(); \
             for (i in 0..3) {{ \
               g.addV('account').property(T.id,'account' + i).property('n',{}).iterate() }}",
            MONEY / 4
        ),
    );
    assert_eq!(filled, Some(true));
    server.kill();
    let mut all: Vec<Done> = (0..CLIENTS).map(|_| Done::default()).collect();
    for round in 0..rounds {
        let server = serve_on(&data);
        thread::scope(|scope| {
            for (name, done) in all.iter_mut().enumerate() {
                let client = server.client();
                let mut random = Random::new(seed.wrapping_add(round * 31 + name as u64));
                scope.spawn(move || done.write(&client, name, &mut random));
            }
            // The moment of the kill is what is random here; nothing waits for anything.
            thread::sleep(Duration::from_millis(random.below(LIFE_MS_MAX) + 1));
            server.kill();
        });
        let server = serve_on(&data);
        check(&server.client(), &all);
        server.kill();
        let (code, text) = run(&["verify", "--data-dir", shown(&data)]);
        assert!(
            code == 0 && text.contains("0 problems"),
            "round {round}: {text}"
        );
    }
    let counted: u64 = all.iter().map(|done| done.counted).sum();
    println!("{counted} increments acknowledged, each there once");
    assert!(counted > 0, "nothing was written");
}
