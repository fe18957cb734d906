//! Copies of a directory, and how long they are valid.

use varve_graph::registry::GraphLocation;
use varve_graph::{GraphOptions, Registry, deadline};
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;

use super::*;
use crate::changes::Author;
use crate::record::{RecordKind, User};
use crate::{AuthOptions, NewApiToken, Restriction};

fn options() -> AuthOptions {
    AuthOptions {
        password_length_min: 8,
        token_seconds: 60,
        copy_seconds: 30,
    }
}

fn leader() -> Auth {
    let options_of_graphs = GraphOptions::new(Arc::new(SystemClock));
    let graphs = Registry::open(Arc::new(MemoryEngine::new()), options_of_graphs).unwrap();
    let GraphLocation::Here(graph) = graphs.look_at_system(true).unwrap() else {
        panic!("an engine of one's own is led here");
    };
    Auth::open(Store::open(graph).unwrap(), options()).unwrap()
}

fn api_token(auth: &Auth, user: &str) -> crate::ApiToken {
    let wanted = NewApiToken {
        user: RecordKind::User.id_of(user),
        name: "t".to_owned(),
        expires: None,
        restriction: Restriction::default(),
    };
    auth.make_api_token(wanted, 1).unwrap().0
}

fn add(auth: &Auth, name: &str) -> Result<(), AuthError> {
    let author = Author {
        name: "system",
        now: 0,
    };
    let password = auth.new_password("correct horse")?;
    let user = User {
        name: name.to_owned(),
        ..User::default()
    };
    auth.change(|all| all.add_user(user, password, author))?;
    Ok(())
}

#[test]
fn a_copy_has_what_the_leader_has_and_cannot_be_changed() {
    let (leader, follower) = (leader(), Auth::following(options()).unwrap());
    add(&leader, "ann").unwrap();
    assert!(leader.leads() && leader.is_current());
    assert!(!follower.leads() && !follower.is_current());
    follower.take_copy(Some(leader.copy().unwrap()), Instant::now());
    assert!(follower.is_current());
    let ann = RecordKind::User.id_of("ann");
    assert!(follower.directory().user(&ann).is_some());
    // A token of one server is valid on the other.
    let token = follower
        .token(&follower.user("ann").unwrap(), None)
        .unwrap();
    assert!(leader.check(&token).is_some());
    let known = follower.version();
    assert_eq!(leader.version(), known);
    let refused = add(&follower, "bob").unwrap_err();
    assert!(refused.to_string().contains("Another server"), "{refused}");
    assert!(follower.copy().is_err());
    add(&leader, "bob").unwrap();
    assert_ne!(leader.version(), known);
}

#[test]
fn every_entry_is_in_the_copy() {
    let leader = leader();
    add(&leader, "ann").unwrap();
    let author = Author {
        name: "system",
        now: 0,
    };
    let group = crate::Group {
        name: "all".to_owned(),
        description: None,
    };
    leader.change(|all| all.add_group(group, author)).unwrap();
    let target = crate::Target {
        name: "g".to_owned(),
        graph: "g".to_owned(),
        url: String::new(),
        resources: None,
    };
    leader.change(|all| all.add_target(target, author)).unwrap();
    let (ann, all) = (
        RecordKind::User.id_of("ann"),
        RecordKind::Group.id_of("all"),
    );
    let belong = crate::Belong {
        user: ann,
        group: all.clone(),
        description: None,
    };
    leader.change(|dir| dir.add_belong(belong, author)).unwrap();
    let access = crate::Access {
        group: all,
        target: RecordKind::Target.id_of("g"),
        permission: crate::Permission::Read,
        description: None,
    };
    leader.change(|dir| dir.add_access(access, author)).unwrap();
    leader
        .change(|dir| dir.add_project("p", None, author))
        .unwrap();
    let token = leader.token(&leader.user("ann").unwrap(), None).unwrap();
    leader.logout(&token).unwrap();
    api_token(&leader, "ann");
    let directory = leader.directory();
    let text = |directory: &Directory| {
        let mut all: Vec<String> = directory
            .entries()
            .map(|entry| serde_json::to_string(&entry).unwrap())
            .collect();
        all.sort();
        all
    };
    let stored = leader.led().unwrap().load(TemporalScope::NOW).unwrap();
    assert_eq!(text(&directory), text(&stored));
    assert_eq!(text(&Directory::of(directory.entries())), text(&directory));
    let kinds: std::collections::BTreeSet<String> = directory
        .entries()
        .map(|entry| serde_json::to_value(entry).unwrap()["kind"].to_string())
        .collect();
    assert_eq!(kinds.len(), 11, "{kinds:?}");
}

#[test]
fn a_copy_that_was_not_confirmed_for_long_does_not_count() {
    let (leader, follower) = (leader(), Auth::following(options()).unwrap());
    let copy = Some(leader.copy().unwrap());
    let long_ago = Instant::now().checked_sub(Duration::from_secs(30)).unwrap();
    follower.take_copy(copy, long_ago);
    assert!(!follower.is_current());
    follower.take_copy(None, Instant::now());
    assert!(follower.is_current());
}

#[test]
fn who_has_led_asks_for_all_of_it() {
    let leader = leader();
    leader.follow();
    assert!(!leader.has_store() && !leader.is_current());
    assert_eq!(leader.version(), "");
    assert!(add(&leader, "ann").is_err());
}

#[test]
fn uses_of_tokens_that_are_reported_stay_the_latest() {
    let leader = leader();
    add(&leader, "ann").unwrap();
    let token = api_token(&leader, "ann");
    for used in [5, 9, 7] {
        leader.note_uses(&[(token.id.clone(), used), ("none".to_owned(), 1)]);
    }
    assert_eq!(leader.uses(9), [(token.id, 9)]);
    assert!(leader.uses(0).is_empty());
}

#[test]
fn a_proof_is_of_one_key_of_one_body_and_of_now() {
    let [key, other] = [1, 2].map(|byte| ClusterKey::new(&[byte; 32]).unwrap());
    let proof = key.proof(b"body");
    assert!(key.verifies(&proof, b"body"));
    assert!(!other.verifies(&proof, b"body"));
    assert!(!key.verifies(&proof, b"other"));
    let (seconds, code) = proof.split_once('.').unwrap();
    let seconds: i64 = seconds.parse().unwrap();
    for wrong in [
        format!("{}.{code}", seconds + 1),
        format!("{seconds}."),
        format!("{seconds}"),
        String::new(),
    ] {
        assert!(!key.verifies(&wrong, b"body"), "{wrong}");
    }
    for (off, counts) in [(CLOCKS_APART - 2, true), (-CLOCKS_APART - 2, false)] {
        let then = key.proof_at(seconds + off, b"body");
        assert_eq!(key.verifies(&then, b"body"), counts, "{off}");
    }
    let answer = key.proof_of_answer(&proof, b"users");
    assert!(key.verifies_answer(&answer, &proof, b"users"));
    assert!(!key.verifies_answer(&answer, &proof, b"others"));
    assert!(!key.verifies_answer(&answer, &key.proof(b"again"), b"users"));
    assert!(!other.verifies_answer(&answer, &proof, b"users"));
    assert!(!key.verifies_answer(code, &proof, b"users"));
    assert!(ClusterKey::new(&[1; 31]).is_none());
}

#[test]
fn a_change_of_unknown_outcome_shows_once_it_is_known() {
    let leader = leader();
    let author = Author {
        name: "system",
        now: 0,
    };
    let unknown = (0..10_000).find(|number| {
        let group = crate::Group {
            name: format!("group{number}"),
            description: None,
        };
        let change = || leader.change(|all| all.add_group(group, author));
        // The deadline usually passes before the commit is stored.
        let ended = deadline::until(Instant::now(), change);
        matches!(ended, Err(AuthError::Graph(error)) if error.kind == ErrorKind::OutcomeUnknown)
    });
    let group = RecordKind::Group.id_of(&format!("group{}", unknown.expect("one that ran out")));
    assert!(leader.is_unsettled());
    leader.settle().unwrap();
    assert!(!leader.is_unsettled());
    assert!(leader.directory().groups.contains_key(&group));
    let stored = leader.led().unwrap().load(TemporalScope::NOW).unwrap();
    assert_eq!(stored.groups.len(), leader.directory().groups.len());
}
