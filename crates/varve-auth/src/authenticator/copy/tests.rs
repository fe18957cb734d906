//! Copies of a directory, and how long they count.

use varve_graph::registry::GraphLocation;
use varve_graph::{GraphOptions, Registry};
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
    let copy = leader.copy_unless(&follower.version()).unwrap();
    follower.take_copy(copy, Instant::now());
    assert!(follower.is_current());
    let ann = RecordKind::User.id_of("ann");
    assert!(follower.directory().user(&ann).is_some());
    // A token of one counts at the other.
    let token = follower
        .token(&follower.user("ann").unwrap(), None)
        .unwrap();
    assert!(leader.check(&token).is_some());
    let known = follower.version();
    assert!(leader.copy_unless(&known).unwrap().is_none());
    let refused = add(&follower, "bob").unwrap_err();
    assert!(refused.to_string().contains("Another server"), "{refused}");
    assert!(follower.copy_unless("").is_err());
    add(&leader, "bob").unwrap();
    assert!(leader.copy_unless(&known).unwrap().is_some());
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
    let copy = leader.copy_unless("").unwrap();
    let long_ago = Instant::now().checked_sub(COPY_COUNTS).unwrap();
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
fn uses_of_tokens_that_are_told_stay_the_latest() {
    let leader = leader();
    add(&leader, "ann").unwrap();
    let token = api_token(&leader, "ann");
    for used in [5, 9, 7] {
        leader.note_uses(&[(token.id.clone(), used), ("none".to_owned(), 1)]);
    }
    assert_eq!(leader.uses(), [(token.id, 9)]);
}

#[test]
fn a_proof_is_of_one_key_and_of_now() {
    let (key, other) = ([1; 32], [2; 32]);
    let (key, other) = (
        ClusterKey::new(&key).unwrap(),
        ClusterKey::new(&other).unwrap(),
    );
    let proof = key.proof();
    assert!(key.verifies(&proof));
    assert!(!other.verifies(&proof));
    let (seconds, code) = proof.split_once('.').unwrap();
    let seconds: i64 = seconds.parse().unwrap();
    for wrong in [
        format!("{}.{code}", seconds + 1),
        format!("{seconds}."),
        format!("{seconds}"),
        String::new(),
    ] {
        assert!(!key.verifies(&wrong), "{wrong}");
    }
    for (off, counts) in [(CLOCKS_APART - 2, true), (-CLOCKS_APART - 2, false)] {
        let then = seconds + off;
        let code = key.proof_of(then).finalize().into_bytes();
        let old = format!("{then}.{}", URL_SAFE_NO_PAD.encode(code));
        assert_eq!(key.verifies(&old), counts, "{off}");
    }
    assert!(ClusterKey::new(&[1; 31]).is_none());
}
