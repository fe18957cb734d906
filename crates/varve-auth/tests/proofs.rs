//! Damaged and hostile credentials: none may cause a panic, and only issued ones may authenticate a
//! client. Also whether the time of a login reveals which users exist.
//!
//! `VARVE_FUZZ_ROUNDS` sets the number of inputs, `VARVE_FUZZ_SEED` the seed; a failure prints
//! both. `VARVE_LOGIN_ROUNDS` sets the number of timed logins of each kind; without it no login is
//! timed.

use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use varve_auth::{
    Auth, AuthError, AuthOptions, Author, NewApiToken, Proof, Proved, RecordKind, Restriction,
    Store, User,
};
use varve_graph::{GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;
use varve_testkit::random::Random;

const ROUNDS_DEFAULT: u64 = 20_000;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

const PASSWORD: &str = "correct horse";

/// Pieces that are put into inputs.
const PIECES: &[&str] = &[
    "Basic ",
    "Bearer ",
    "basic",
    "Digest ",
    "varve_",
    "_",
    ":",
    "\0",
    "=",
    ".",
    "..",
    " ",
    "\t",
    "\r\n",
    "eyJhbGciOiJub25lIn0",
    "eyJhbGciOiJIUzUxMiJ9",
    "YWRtaW46",
    "admin",
    "\u{e9}",
    "\u{0}\u{0}",
    ",",
];

/// A directory with the user `ann`.
fn auth() -> Auth {
    let registry = Registry::open(
        Arc::new(MemoryEngine::new()),
        GraphOptions::new(Arc::new(SystemClock)),
    );
    let registry = registry.expect("opened");
    registry.create("users").expect("made");
    let store = Store::open(registry.get("users").expect("there")).expect("taken");
    let options = AuthOptions {
        copy_seconds: 60,
        password_length_min: 8,
        token_seconds: 86_400,
    };
    let auth = Auth::open(store, options).expect("opened");
    let password = auth.new_password(PASSWORD).expect("hashed");
    let author = Author {
        name: "system",
        now: 0,
    };
    let user = User {
        name: "ann".to_owned(),
        ..User::default()
    };
    auth.change(|all| all.add_user(user, password, author))
        .expect("made");
    auth
}

fn number_from(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// One of the texts, changed in a few places.
fn damaged(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = random.pick(corpus).clone();
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 => bytes.insert(at, random.bits() as u8),
            3 => drop(bytes.splice(at..at, random.pick(PIECES).bytes())),
            4 => bytes.truncate(at),
            _ => {
                let other = random.pick(corpus);
                let from = random.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
    }
    bytes
}

/// Whether a token is one of these. The last character of a signature has unused bits.
fn is_given_out(token: &str, given_out: &[String]) -> bool {
    given_out.iter().any(|given| {
        let all_but_last = |text: &str| text.chars().count().saturating_sub(1);
        let (a, b) = (all_but_last(token), all_but_last(given));
        token == given || (a == b && token.chars().take(a).eq(given.chars().take(b)))
    })
}

#[test]
fn nothing_but_what_was_given_out_lets_anybody_in() {
    let rounds = number_from("VARVE_FUZZ_ROUNDS", ROUNDS_DEFAULT);
    let seed = number_from("VARVE_FUZZ_SEED", 2026);
    let auth = auth();
    let login = auth.login("ann", PASSWORD, HERE).expect("taken");
    let ann = auth.finish(&login).expect("let in");
    let session = auth.token(&ann, None).expect("signed");
    let wanted = NewApiToken {
        user: RecordKind::User.id_of("ann"),
        name: "fuzz".to_owned(),
        expires: None,
        restriction: Restriction::default(),
    };
    let (_, api_token) = auth.make_api_token(wanted, 1).expect("made");
    let given_out = [session.clone(), api_token.clone()];
    let basic = |pair: String| format!("Basic {}", STANDARD.encode(pair)).into_bytes();
    let corpus = [
        format!("Bearer {session}").into_bytes(),
        format!("Bearer {api_token}").into_bytes(),
        basic(format!("ann:{api_token}")),
        basic(format!("ann:{PASSWORD}")),
        basic("\u{e9}:x:y".to_owned()),
    ];
    let plain = [
        format!("\0ann\0{api_token}").into_bytes(),
        format!("\0{session}\0").into_bytes(),
        format!("admin\0ann\0{PASSWORD}").into_bytes(),
    ];
    let mut random = Random::new(seed);
    let mut let_in = 0_u64;
    for round in 0..rounds {
        let header = damaged(&mut random, &corpus);
        let message = damaged(&mut random, &plain);
        // A new address each time, since failures of one address are throttled.
        let address = IpAddr::V4(Ipv4Addr::from_bits(round as u32));
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let _ = Proof::parse_plain(&message);
            match auth.prove(Some(&header), address) {
                Ok(Proved::Known(principal)) => {
                    assert_eq!(principal.name, "ann");
                    match Proof::parse(&header) {
                        Ok(Proof::Token(token)) => assert!(is_given_out(&token, &given_out)),
                        Ok(Proof::Password { user, password }) => {
                            assert_eq!(user, "ann");
                            assert!(is_given_out(&password, &given_out));
                        }
                        Err(error) => panic!("let in by {error}"),
                    }
                    true
                }
                Ok(Proved::Pending(_)) | Err(_) => false,
            }
        }));
        match outcome {
            Ok(is_in) => let_in += u64::from(is_in),
            Err(_) => panic!(
                "VARVE_FUZZ_SEED={seed}, round {round}, header {:?}",
                String::from_utf8_lossy(&header)
            ),
        }
    }
    assert!(
        let_in > rounds / 100,
        "too damaged to test anything: {let_in}"
    );
}

#[test]
fn a_password_that_was_verified_counts_for_further_connections() {
    let auth = auth();
    let enter = |user: &str, password: &str| auth.enter(user, password, HERE).expect("taken");
    let finish = |proved| match proved {
        Proved::Pending(login) => auth.finish(&login).is_ok(),
        Proved::Known(_) => panic!("nothing was verified"),
    };
    assert!(!finish(enter("ann", "a wrong one")));
    let (first, second) = (enter("ann", PASSWORD), enter("ann", PASSWORD));
    assert!(finish(first) && finish(second));
    let third = enter("ann", PASSWORD);
    assert!(matches!(third, Proved::Known(principal) if principal.name == "ann"));
    for (user, password) in [
        ("ann", "a wrong one"),
        ("ann", ""),
        ("", PASSWORD),
        (&format!("ann{PASSWORD}"), ""),
        ("ann\0", PASSWORD),
    ] {
        assert!(!finish(enter(user, password)), "{user}");
    }
}

/// Welch's t of two samples.
fn welch(first: &[f64], second: &[f64]) -> f64 {
    let of = |sample: &[f64]| {
        #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
        let count = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / count;
        let squares = sample.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
        (mean, squares / (count - 1.0) / count)
    };
    let ((a, of_a), (b, of_b)) = (of(first), of(second));
    (a - b) / (of_a + of_b).sqrt()
}

#[test]
fn a_login_does_not_tell_by_its_time_whether_there_is_such_a_user() {
    let rounds = number_from("VARVE_LOGIN_ROUNDS", 0);
    if rounds == 0 {
        return;
    }
    let auth = auth();
    let mut random = Random::new(number_from("VARVE_FUZZ_SEED", 2026));
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..2 * rounds {
        // In random order, so that no other load of the machine correlates with it.
        let is_known = random.one_in(2);
        let user = if is_known { "ann" } else { "bob" };
        let address = IpAddr::V4(Ipv4Addr::from_bits(round as u32));
        let login = auth.login(user, "a wrong one", address).expect("taken");
        let started = Instant::now();
        let result = auth.finish(&login);
        let took = started.elapsed().as_secs_f64();
        assert!(matches!(result, Err(AuthError::Failed)), "{result:?}");
        times[usize::from(is_known)].push(took);
    }
    // The slowest tenth is left out, since other load of the machine causes it.
    for times in &mut times {
        times.sort_by(f64::total_cmp);
        times.truncate(times.len() * 9 / 10);
    }
    let t = welch(&times[0], &times[1]);
    println!(
        "{} and {} logins, t = {t:.2}",
        times[0].len(),
        times[1].len()
    );
    assert!(t.abs() < 4.5, "t = {t}");
}
