//! `varve-conformance replay --url http://host:port`: see the library.

use std::process::ExitCode;

use varve_conformance::http::Server;
use varve_conformance::replay::{self, Plan, Verdict};
use varve_conformance::report::{self, Summary};
use varve_conformance::{
    AUTH, AUTH_17, AUTH_17_COMPENSATIONS, AUTH_17_DIFFERENCES, AUTH_COMPENSATIONS,
    AUTH_DIFFERENCES, COMPENSATIONS, DIFFERENCES, REQUESTS, TRANSCRIPT, TRAVERSERS,
    TRAVERSERS_DIFFERENCES, tables, transcript,
};

/// The administrator in the recording with authentication, who sends the compensations.
const ADMINISTRATOR: &str = "Basic admin:pa";

const USAGE: &str = "usage: varve-conformance replay --url http://host:port \
[--recording graph|traversers|auth|auth-1.7] [--transcript FILE] [--differences FILE|none] \
[--report FILE.md] \
[--base /graphspaces/DEFAULT] [--order recorded|any]

Replays the recorded HugeGraph exchanges against a server whose graph 'hugegraph' is empty.
With '--order any', elements may be listed in an order of the storage engine's own.
Ends with 0 when nothing unlisted differs and at least 95 % of what is in scope is equal (75 % of
the traversers, 60 % of auth and 50 % of auth-1.7, whose recordings were made to show defects).
The recordings auth and auth-1.7 are of servers with authentication on, whose user 'admin' has the password 'pa'.";

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Recording {
    #[default]
    Graph,
    Traversers,
    Auth,
    Auth17,
}

#[derive(Default)]
struct Arguments {
    url: String,
    recording: Recording,
    transcript: Option<String>,
    differences: Option<String>,
    report: Option<String>,
    base: String,
    any_order: bool,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    if words.next().as_deref() != Some("replay") {
        return Err("the only command is 'replay'".to_owned());
    }
    let mut arguments = Arguments::default();
    while let Some(name) = words.next() {
        let value = words
            .next()
            .ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--url" => arguments.url = value,
            "--recording" => {
                arguments.recording = match value.as_str() {
                    "graph" => Recording::Graph,
                    "traversers" => Recording::Traversers,
                    "auth" => Recording::Auth,
                    "auth-1.7" => Recording::Auth17,
                    _ => return Err(format!("there is no recording '{value}'")),
                };
            }
            "--transcript" => arguments.transcript = Some(value),
            "--differences" => arguments.differences = Some(value),
            "--base" => arguments.base = value,
            "--order" if value == "any" || value == "recorded" => {
                arguments.any_order = value == "any";
            }
            "--report" => arguments.report = Some(value),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    if arguments.url.is_empty() {
        Err("--url is missing".to_owned())
    } else {
        Ok(arguments)
    }
}

fn run(arguments: &Arguments) -> Result<bool, String> {
    let read = |path: &str| std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"));
    // The tables belong to the recordings beside them and do not apply to other ones.
    let (recording, requests, compensations, listed) = match &arguments.transcript {
        Some(path) => (read(path)?, "", "", ""),
        None => match arguments.recording {
            Recording::Graph => (TRANSCRIPT.to_owned(), REQUESTS, COMPENSATIONS, DIFFERENCES),
            Recording::Traversers => (TRAVERSERS.to_owned(), "", "", TRAVERSERS_DIFFERENCES),
            Recording::Auth => (AUTH.to_owned(), "", AUTH_COMPENSATIONS, AUTH_DIFFERENCES),
            Recording::Auth17 => (
                transcript::in_the_terms_of_1_5(AUTH_17),
                "",
                AUTH_17_COMPENSATIONS,
                AUTH_17_DIFFERENCES,
            ),
        },
    };
    let listed = match arguments.differences.as_deref() {
        Some("none") => String::new(),
        Some(path) => read(path)?,
        None => listed.to_owned(),
    };
    let plan = Plan {
        exchanges: transcript::parse(&recording)?,
        differences: tables::differences(&listed)?,
        details: tables::requests(requests)?,
        compensations: tables::compensations(compensations)?,
        base: arguments.base.clone(),
        administrator: match arguments.recording {
            Recording::Auth | Recording::Auth17 => ADMINISTRATOR.to_owned(),
            Recording::Graph | Recording::Traversers => String::new(),
        },
        any_order: arguments.any_order,
    };
    let outcomes = replay::run(&Server::parse(&arguments.url)?, &plan)?;
    for outcome in outcomes.iter().filter(|o| o.verdict == Verdict::Unlisted) {
        print!("{}", report::outcome_text(outcome));
    }
    let summary = Summary::of(&outcomes);
    print!("{}", summary.text());
    if let Some(path) = &arguments.report {
        std::fs::write(path, report::markdown(&outcomes)).map_err(|e| format!("{path}: {e}"))?;
    }
    Ok(summary.passes(match arguments.recording {
        Recording::Traversers => report::TRAVERSERS_EQUAL_PERCENT_MIN,
        Recording::Auth => report::AUTH_EQUAL_PERCENT_MIN,
        Recording::Auth17 => report::AUTH_17_EQUAL_PERCENT_MIN,
        Recording::Graph => report::EQUAL_PERCENT_MIN,
    }))
}
