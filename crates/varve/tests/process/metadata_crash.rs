//! The metadata repository is killed in the middle of all kinds of changes, again and again; every
//! instance that it acknowledged must be there, in every state that it acknowledged.
//!
//! `VARVE_METADATA_CRASH_ROUNDS` says how often (default 3), `VARVE_CRASH_SEED` repeats a run; the
//! seed is printed.

mod changes;
mod known;

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::acknowledged::Random;
use crate::metadata::{
    ASSET, CONTROLLED_TERM, Caller, FAR_HOME, MEANING, Refused, TERM, new_entity,
    repository_in_memory, repository_on, taken_for, texts,
};
use crate::seeds::{number_from, seed};
use crate::server::{run, shown};
use changes::{
    can_classify, can_delete, can_re_type, can_undo, classify, declassify, delete, re_type,
    reclassify, restore, undo, update,
};
use known::{InstanceKind, Known, of_itself};

/// Concurrent writers, each with instances of its own.
const WRITERS: usize = 4;
/// The longest that a server lives, in milliseconds.
const LIFE_MS_MAX: u64 = 1_500;
/// Instances that a writer has before it does anything but create.
const ENTITIES_MIN: usize = 6;

/// One writer with instances of its own, and what it knows of them.
struct Writer {
    name: String,
    random: Random,
    next: u64,
    known: BTreeMap<String, Known>,
    /// What the repository says of the type of assets, as copies say it too.
    asset_type: Json,
    /// The same of the type of relationships.
    meaning_type: Json,
    home: String,
    /// Changes of GUIDs that were not answered: old and new.
    moves_in_doubt: Vec<(String, String)>,
    /// A call had no answer.
    is_over: bool,
    acknowledged: BTreeMap<&'static str, u64>,
}

impl Writer {
    fn new(name: &str, seed: u64) -> Self {
        Self {
            name: name.to_owned(),
            random: Random::new(seed),
            next: 0,
            known: BTreeMap::new(),
            asset_type: Json::Null,
            meaning_type: Json::Null,
            home: String::new(),
            moves_in_doubt: Vec::new(),
            is_over: false,
            acknowledged: BTreeMap::new(),
        }
    }

    fn run(&mut self, caller: &Caller, go_on: &dyn Fn() -> bool) {
        self.is_over = false;
        while !self.is_over && go_on() {
            self.step(caller);
        }
    }

    fn step(&mut self, caller: &Caller) {
        let entities = |it: &Known| it.kind == InstanceKind::Entity;
        let choice = match self.known.values().filter(|it| entities(it)).count() {
            0..ENTITIES_MIN => self.random.below(2),
            _ => self.random.below(20),
        };
        match choice {
            0 => self.add_entity(caller, ASSET),
            1 => self.add_entity(caller, TERM),
            2 | 3 => self.add_relationship(caller),
            4 => self.save_copy(caller),
            5 | 6 => self.change(
                caller,
                "update",
                |it| !it.is_deleted() && !it.is_copy,
                update,
            ),
            7 => self.change(caller, "classify", can_classify, classify),
            8 => self.change(
                caller,
                "reclassify",
                |it| it.is_classified() && !it.is_deleted(),
                reclassify,
            ),
            9 => self.change(
                caller,
                "declassify",
                |it| it.is_classified() && !it.is_deleted(),
                declassify,
            ),
            10 => self.change(caller, "undo", can_undo, undo),
            11 => self.change(caller, "delete", can_delete, delete),
            12 | 13 => self.change(caller, "restore", Known::is_deleted, restore),
            14 => self.re_home(caller),
            15 => self.re_identify(caller),
            16 | 17 => self.change(caller, "re-type", can_re_type, re_type),
            18 => self.save_relationship_copy(caller),
            _ => self.purge(caller),
        }
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("{}-{}", self.name, self.next)
    }

    /// Makes a call; gives its answer when it was acknowledged.
    fn call(
        &mut self,
        caller: &Caller,
        what: &'static str,
        (method, path, body): (&str, &str, &Json),
    ) -> Option<Json> {
        let text = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        match caller.try_call(method, path, &text) {
            Some(Ok(answer)) => {
                *self.acknowledged.entry(what).or_default() += 1;
                Some(answer)
            }
            Some(Err(Refused { exception, answer })) => {
                panic!("{what} {path}: {exception} {answer}")
            }
            None => {
                self.is_over = true;
                None
            }
        }
    }

    fn keep(
        &mut self,
        kind: InstanceKind,
        of: (&'static str, &'static str),
        state: Json,
        is_copy: bool,
    ) {
        let guid = state["guid"].as_str().expect("a GUID").to_owned();
        let known = Known {
            kind,
            of,
            states: vec![of_itself(state)],
            in_doubt: false,
            unreported: false,
            is_copy,
            is_end: false,
            purged: false,
        };
        self.known.insert(guid, known);
    }

    /// Keeps an instance whose making was not answered.
    fn keep_in_doubt(&mut self, kind: InstanceKind, of: (&'static str, &'static str), guid: &str) {
        self.keep(kind, of, json!({"guid": guid}), false);
        let known = self.known.get_mut(guid).expect("just kept");
        (known.states, known.in_doubt) = (Vec::new(), true);
    }

    fn add_entity(&mut self, caller: &Caller, of: (&'static str, &'static str)) {
        let body = new_entity(of, &self.fresh());
        let answer = self.call(caller, "add entity", ("POST", "instances/entity", &body));
        let Some(mut answer) = answer else {
            return;
        };
        let entity = answer["entity"].take();
        if of == ASSET {
            self.asset_type = entity["type"].clone();
            self.home = entity["metadataCollectionId"]
                .as_str()
                .expect("a home")
                .to_owned();
        }
        self.keep(InstanceKind::Entity, of, entity, false);
    }

    /// One of the instances that `fits`, if there is any.
    fn pick(&mut self, fits: impl Fn(&Known) -> bool) -> Option<String> {
        let fitting = self
            .known
            .iter()
            .filter(|(_, it)| !it.purged && !it.in_doubt && !it.unreported && fits(it));
        let guids: Vec<&String> = fitting.map(|(guid, _)| guid).collect();
        let count = u64::try_from(guids.len()).expect("a count");
        (count > 0).then(|| {
            let at = self.random.below(count);
            guids[usize::try_from(at).expect("an index")].clone()
        })
    }

    fn add_relationship(&mut self, caller: &Caller) {
        let Some([one, two]) = self.pick_ends() else {
            return;
        };
        let body = json!({
            "class": "RelationshipCreateRequest",
            "relationshipTypeGUID": MEANING.1,
            "initialProperties": texts(&[("description", &self.fresh())]),
            "entityOneGUID": one,
            "entityTwoGUID": two,
        });
        let answer = self.call(
            caller,
            "add relationship",
            ("POST", "instances/relationship", &body),
        );
        if let Some(mut answer) = answer {
            let relationship = answer["relationship"].take();
            self.meaning_type = relationship["type"].clone();
            self.keep(InstanceKind::Relationship, MEANING, relationship, false);
        }
    }

    /// The ends of a new relationship, which are kept.
    fn pick_ends(&mut self) -> Option<[String; 2]> {
        let can_be_end = |of| move |it: &Known| it.of == of && !it.is_deleted();
        let ends = [self.pick(can_be_end(ASSET))?, self.pick(can_be_end(TERM))?];
        for end in &ends {
            self.known.get_mut(end).expect("known").is_end = true;
        }
        Some(ends)
    }

    fn save_relationship_copy(&mut self, caller: &Caller) {
        if self.meaning_type.is_null() {
            return;
        }
        let Some(ends) = self.pick_ends() else {
            return;
        };
        let name = self.fresh();
        let proxy = |guid: &String| {
            let last = self.known[guid].last();
            json!({
                "class": "EntityProxy",
                "type": last["type"],
                "metadataCollectionId": last["metadataCollectionId"],
                "guid": guid,
            })
        };
        let guid = format!("copied-{name}");
        let copy = json!({
            "class": "Relationship",
            "headerVersion": 1,
            "type": self.meaning_type,
            "instanceProvenanceType": "LOCAL_COHORT",
            "metadataCollectionId": FAR_HOME,
            "createdBy": "far",
            "createTime": 1_600_000_000_000_i64,
            "version": 1,
            "status": "ACTIVE",
            "guid": guid,
            "properties": texts(&[("description", &name)]),
            "entityOneProxy": proxy(&ends[0]),
            "entityTwoProxy": proxy(&ends[1]),
        });
        let path = "instances/relationships/reference-copy";
        let what = "save copy of a relationship";
        match self.call(caller, what, ("POST", path, &copy)) {
            Some(_) => self.keep(InstanceKind::Relationship, MEANING, copy, true),
            None => {
                self.keep_in_doubt(InstanceKind::Relationship, MEANING, &guid);
                self.known.get_mut(&guid).expect("just kept").is_copy = true;
            }
        }
    }

    /// Gives an instance another GUID. The relationships of an entity would follow it, so it has
    /// none.
    fn re_identify(&mut self, caller: &Caller) {
        let fits = |it: &Known| !it.is_deleted() && !it.is_copy && !it.is_end;
        let Some(old) = self.pick(fits) else {
            return;
        };
        let new = format!("moved-{}", self.fresh());
        let Known { kind, of, .. } = self.known[&old];
        let parameter = match kind {
            InstanceKind::Entity => "newEntityGUID",
            InstanceKind::Relationship => "newRelationshipGUID",
        };
        let path = format!("instances/{}/{old}/identity?{parameter}={new}", kind.one());
        let answer = self.call(caller, "re-identify", ("POST", &path, &taken_for(of)));
        let known = self.known.get_mut(&old).expect("picked");
        match answer {
            Some(mut answer) => {
                known.unreported = true;
                self.keep(kind, of, answer[kind.one()].take(), false);
            }
            None => {
                known.in_doubt = true;
                self.keep_in_doubt(kind, of, &new);
                self.moves_in_doubt.push((old, new));
            }
        }
    }

    fn save_copy(&mut self, caller: &Caller) {
        if self.asset_type.is_null() {
            return;
        }
        let name = self.fresh();
        let copy = json!({
            "class": "EntityDetail",
            "headerVersion": 1,
            "type": self.asset_type,
            "instanceProvenanceType": "LOCAL_COHORT",
            "metadataCollectionId": FAR_HOME,
            "createdBy": "far",
            "createTime": 1_600_000_000_000_i64,
            "version": 1,
            "status": "ACTIVE",
            "guid": format!("copy-{name}"),
            "properties": texts(&[("qualifiedName", &name)]),
        });
        let path = "instances/entities/reference-copy";
        self.keep(InstanceKind::Entity, ASSET, copy.clone(), true);
        let guid = format!("copy-{name}");
        if self
            .call(caller, "save copy", ("POST", path, &copy))
            .is_some()
        {
            return;
        }
        let known = self.known.get_mut(&guid).expect("just kept");
        (known.states, known.in_doubt) = (Vec::new(), true);
    }

    /// Changes one of the instances that `fits`, by a call whose answer is its new state.
    fn change(
        &mut self,
        caller: &Caller,
        what: &'static str,
        fits: impl Fn(&Known) -> bool,
        call: impl Fn(&Known, &str, String) -> (&'static str, String, Json),
    ) {
        let Some(guid) = self.pick(fits) else {
            return;
        };
        let name = self.fresh();
        let (method, path, body) = call(&self.known[&guid], &guid, name);
        let kind = self.known[&guid].kind;
        let answer = self.call(caller, what, (method, &path, &body));
        let known = self.known.get_mut(&guid).expect("picked");
        match answer {
            Some(mut answer) => {
                known.states.push(of_itself(answer[kind.one()].take()));
                if known.of == TERM || known.of == CONTROLLED_TERM {
                    known.of = if known.is_of(TERM) {
                        TERM
                    } else {
                        CONTROLLED_TERM
                    };
                }
            }
            None => known.in_doubt = true,
        }
    }

    fn re_home(&mut self, caller: &Caller) {
        let home = self.home.clone();
        self.change(
            caller,
            "re-home",
            |it| it.is_copy && !it.is_deleted(),
            |known, guid, _| {
                let one = known.kind.one();
                let new = format!(
                    "newHomeMetadataCollectionId={home}&newHomeMetadataCollectionName=varve"
                );
                let path = format!("instances/{one}/{guid}/home/{FAR_HOME}?{new}");
                ("POST", path, taken_for(known.of))
            },
        );
        for known in self
            .known
            .values_mut()
            .filter(|it| it.is_copy && !it.in_doubt)
        {
            known.is_copy = known.last()["metadataCollectionId"] == FAR_HOME;
        }
    }

    fn purge(&mut self, caller: &Caller) {
        let Some(guid) = self.pick(Known::is_deleted) else {
            return;
        };
        let Known { kind, of, .. } = self.known[&guid];
        let path = format!("instances/{}/{guid}/purge", kind.one());
        let answer = self.call(caller, "purge", ("POST", &path, &taken_for(of)));
        let known = self.known.get_mut(&guid).expect("picked");
        match answer {
            Some(_) => known.purged = true,
            None => known.in_doubt = true,
        }
    }

    /// Checks every state of every instance that was acknowledged; of one with a change in doubt,
    /// that the change happened whole or not at all.
    fn check(&mut self, caller: &Caller) {
        let mut gone = Vec::new();
        // Both or neither.
        for (old, new) in std::mem::take(&mut self.moves_in_doubt) {
            let kind = self.known[&old].kind;
            let has_moved = !history_of(caller, kind, &new).is_empty();
            let states = history_of(caller, kind, &old).len();
            let before = self.known[&old].states.len();
            assert_eq!(states > before, has_moved, "{old} to {new}");
        }
        for (guid, known) in &mut self.known {
            let found = history_of(caller, known.kind, guid);
            if known.purged {
                assert_eq!(found, [Json::Null; 0], "{guid} was purged");
                gone.push(guid.clone());
                continue;
            }
            let acknowledged = known.states.len();
            if known.in_doubt && found.is_empty() && (acknowledged == 0 || known.is_deleted()) {
                // A creation that did not happen, or a purge that did.
                gone.push(guid.clone());
                continue;
            }
            let more = usize::from(known.in_doubt);
            let acknowledged = acknowledged + usize::from(known.unreported);
            assert!(
                (acknowledged..=acknowledged + more).contains(&found.len()),
                "{guid}: {} states, {acknowledged} acknowledged\n{known:?}\n{found:?}",
                found.len(),
            );
            for (at, (found, wanted)) in found.iter().zip(&known.states).enumerate() {
                assert_eq!(found, wanted, "state {at} of {guid}");
            }
            let current = current_of(caller, known.kind, guid);
            assert_eq!(current.as_ref(), found.last(), "{guid}");
            assert!(!known.unreported || current.is_some_and(|it| it["status"] == "DELETED"));
            (known.states, known.in_doubt, known.unreported) = (found, false, false);
            let of = [ASSET, TERM, CONTROLLED_TERM, MEANING];
            known.of = of.into_iter().find(|of| known.is_of(*of)).expect("a type");
            known.is_copy = known.is_copy && known.last()["metadataCollectionId"] == FAR_HOME;
        }
        for guid in gone {
            self.known.remove(&guid);
        }
    }
}

/// All states, oldest first; none when it is not known.
fn history_of(caller: &Caller, kind: InstanceKind, guid: &str) -> Vec<Json> {
    let path = format!("instances/{}/{guid}/history/all", kind.one());
    let body = json!({"class": "HistoryRangeRequest", "sequencingOrder": "FORWARDS"});
    match caller.call("POST", &path, &body) {
        Ok(mut answer) => {
            let states = answer[kind.many()].take();
            let states = states.as_array().cloned().unwrap_or_default();
            states.into_iter().map(of_itself).collect()
        }
        Err(refused) => {
            assert!(
                refused.exception.ends_with("NotKnownException"),
                "{guid}: {refused:?}"
            );
            Vec::new()
        }
    }
}

/// What it is now, deleted or not.
fn current_of(caller: &Caller, kind: InstanceKind, guid: &str) -> Option<Json> {
    let path = format!("instances/{}/{guid}/existence", kind.one());
    let mut answer = caller.must("GET", &path, &Json::Null);
    let state = answer.get_mut(kind.one())?.take();
    Some(of_itself(state))
}

#[test]
fn instances_that_were_acknowledged_survive_being_killed_with_their_history() {
    let rounds = number_from("VARVE_METADATA_CRASH_ROUNDS").unwrap_or(3);
    let seed = seed();
    println!("VARVE_CRASH_SEED={seed} VARVE_METADATA_CRASH_ROUNDS={rounds}");
    let mut random = Random::new(seed);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    let mut writers: Vec<Writer> = (0..WRITERS)
        .map(|at| Writer::new(&format!("w{at}"), seed.wrapping_add(at as u64 * 977)))
        .collect();
    for round in 1..=rounds {
        let server = repository_on(&data, &[]);
        thread::scope(|scope| {
            for writer in &mut writers {
                let caller = Caller::new(&server, &writer.name);
                scope.spawn(move || writer.run(&caller, &|| true));
            }
            // The moment of the kill is what is random here; nothing waits for anything.
            thread::sleep(Duration::from_millis(random.below(LIFE_MS_MAX) + 1));
            server.kill();
        });
        let server = repository_on(&data, &[]);
        thread::scope(|scope| {
            for writer in &mut writers {
                let caller = Caller::new(&server, &writer.name);
                scope.spawn(move || writer.check(&caller));
            }
        });
        // Killed again at rest: recovery of a recovered store.
        server.kill();
        let (code, text) = run(&["verify", "--data-dir", shown(&data)]);
        assert!(
            code == 0 && text.contains("0 problems"),
            "round {round}: {text}"
        );
        let mut acknowledged: BTreeMap<&str, u64> = BTreeMap::new();
        for (what, count) in writers.iter().flat_map(|writer| &writer.acknowledged) {
            *acknowledged.entry(what).or_default() += count;
        }
        let states: usize = writers
            .iter()
            .flat_map(|it| it.known.values())
            .map(|it| it.states.len())
            .sum();
        println!("round {round}: {states} states there as acknowledged, of {acknowledged:?}");
    }
    assert!(
        writers.iter().any(|it| !it.acknowledged.is_empty()),
        "nothing was written"
    );
}

#[test]
fn a_ledger_of_instances_agrees_with_a_server_that_lives() {
    let server = repository_in_memory(&[]);
    let mut writer = Writer::new("w", 7);
    let caller = Caller::new(&server, "w");
    let steps = std::cell::Cell::new(0);
    writer.run(&caller, &|| steps.replace(steps.get() + 1) < 800);
    writer.check(&caller);
    assert_eq!(writer.acknowledged.len(), 15, "{:?}", writer.acknowledged);
    // The check can fail: an instance and a state that nobody acknowledged are missed.
    let guid = writer.pick(|_| true).expect("there are instances");
    let known = writer.known.get_mut(&guid).expect("picked");
    known.states.push(known.last().clone());
    let missed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| writer.check(&caller)));
    assert!(missed.is_err(), "a lost state must be found");
}
