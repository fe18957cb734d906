//! TinkerPop's scenarios against a server, over WebSockets and HTTP, in GraphSON and GraphBinary,
//! as texts with bindings, as texts without, and as bytecode.
//!
//! Graphs are made open over REST and filled over the wire. `not_yet.txt` names the scenarios that
//! do not pass. One that passes must leave the list.

#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]

mod client;
#[path = "../../../lang/varve-gremlin/tests/support/encode.rs"]
mod encode;
#[path = "../../../lang/varve-gremlin/tests/engine/expected.rs"]
mod expected;
#[path = "../../../lang/varve-gremlin/tests/engine/feature.rs"]
mod feature;
mod graphs;
mod inline;
#[path = "../../../lang/varve-gremlin/tests/engine/outcome.rs"]
mod outcome;
#[path = "../../../lang/varve-gremlin/tests/engine/report.rs"]
mod report;
mod server;
mod values;

mod modern {
    pub(crate) use crate::Graph as Modern;
}

use std::cell::RefCell;
use std::collections::HashMap;

use varve_graphson::{Format, Value as WireValue};
use varve_query::Value;

use client::{Client, Door};
use expected::Wanted;
use feature::Scenario;
use graphs::quoted;
use report::Report;

/// The scenarios of gremlin-test 3.8.1 that need neither a graph computer nor files of the server,
/// and that the suite does not give up.
const SCENARIOS: usize = 2_011;

/// How a traversal and its parameters are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    /// A text with variables, and their values.
    Bound,
    /// A text with the values in it.
    Inline,
    Bytecode,
}

/// A graph of the server, as one client sees it.
pub(crate) struct Graph {
    name: String,
    client: RefCell<Client>,
    /// Elements that were looked up, where the graph does not change.
    known: Option<RefCell<HashMap<String, Value>>>,
}

impl Graph {
    fn script(&self, text: &str) -> Result<Vec<Value>, String> {
        let mut client = self.client.borrow_mut();
        let values = client.script(&self.name, text, Vec::new())?;
        values.into_iter().map(values::received).collect()
    }

    fn look_up(&self, key: &str, text: &str) -> Option<Value> {
        let known = self.known.as_ref();
        if let Some(found) = known.and_then(|known| known.borrow().get(key).cloned()) {
            return Some(found);
        }
        let found = self.script(text).expect("looked up").pop()?;
        if let Some(known) = known {
            known.borrow_mut().insert(key.to_owned(), found.clone());
        }
        Some(found)
    }

    /// A vertex by its name.
    pub(crate) fn vertex(&self, name: &str) -> Option<Value> {
        self.look_up(name, &format!("g.V().has('name',{})", quoted(name)))
    }

    /// An edge by its ends and its label: `marko-knows->vadas`.
    pub(crate) fn edge(&self, text: &str) -> Option<Value> {
        let (source, rest) = text.split_once('-')?;
        let (label, target) = rest.split_once("->")?;
        let (source, target) = (quoted(source), quoted(target));
        let found = format!(
            "g.V().has('name',{source}).outE('{label}').where(__.inV().has('name',{target}))"
        );
        self.look_up(text, &found)
    }

    /// The results of a text whose variables have these values.
    fn run(
        &self,
        text: &str,
        parameters: &[(String, Value)],
        sent: Sent,
    ) -> Result<Vec<Value>, String> {
        let argument = |(name, value): &(String, Value)| {
            let argument = values::argument(value)?;
            let argument = match sent {
                Sent::Inline => inline::as_text(argument),
                Sent::Bound | Sent::Bytecode => argument,
            };
            Some((name.as_str().into(), argument))
        };
        let parameters = parameters.iter().map(argument);
        let parameters: Option<inline::Parameters> = parameters.collect();
        let parameters = parameters.ok_or("a parameter that cannot be sent")?;
        let mut client = self.client.borrow_mut();
        let values = match sent {
            Sent::Bound => {
                let bound = parameters.iter().map(|(name, argument)| {
                    Some((WireValue::String(name.clone()), values::sent(argument)?))
                });
                let bound: Option<Vec<_>> = bound.collect();
                let bound = bound.ok_or("a parameter that cannot be sent")?;
                client.script(&self.name, text, bound)?
            }
            Sent::Inline => {
                let script = inline::script(text, &parameters)?;
                client.script(&self.name, &script.to_string(), Vec::new())?
            }
            Sent::Bytecode => {
                let script = inline::script(text, &parameters)?;
                let traversal = inline::traversal(&script).ok_or("no traversal")?;
                let code = encode::encode(traversal).and_then(|code| values::wire_code(&code));
                let code = code.ok_or("a traversal that bytecode does not have")?;
                client.bytecode(&self.name, code)?
            }
        };
        values.into_iter().map(values::received).collect()
    }
}

/// The graphs of one way to send.
struct Way {
    sent: Sent,
    /// The graphs that are only read, by their names.
    read: HashMap<String, Graph>,
    /// The graph that scenarios change.
    changed: Graph,
}

impl Way {
    fn new(door: Door, format: Format, sent: Sent) -> Self {
        let server = server::server();
        let graph = |name: &str, is_read: bool| Graph {
            name: name.to_owned(),
            client: RefCell::new(Client::connect(server, door, format)),
            known: is_read.then(RefCell::default),
        };
        let changed = format!("changed_{door:?}_{format:?}_{sent:?}").to_lowercase();
        server::create(server, &changed);
        let read = ["modern", "crew", "sink", "grateful"];
        Self {
            sent,
            read: read.map(|name| (name.to_owned(), graph(name, true))).into(),
            changed: graph(&changed, false),
        }
    }

    /// The graph of a scenario, with what it has before the scenario begins.
    fn graph(&self, scenario: &Scenario) -> Result<&Graph, String> {
        let read = self.read.get(&scenario.graph);
        if let Some(graph) = read.filter(|_| !scenario.writes() && !scenario.fills) {
            return Ok(graph);
        }
        let changed = &self.changed;
        changed.script("g.V().drop()")?;
        let filling = graphs::filling(&scenario.graph);
        for script in filling.iter().chain(&scenario.filling) {
            changed
                .script(script)
                .map_err(|error| format!("filling: {error}"))?;
        }
        Ok(changed)
    }

    /// What went wrong, or nothing.
    fn run(&self, scenario: &Scenario) -> Result<(), String> {
        let graph = self.graph(scenario)?;
        let read = |(name, text): &(String, String)| {
            let value = Wanted::read(text, graph).and_then(|wanted| wanted.value());
            let value = value.ok_or_else(|| format!("parameter {text}"))?;
            Ok((name.clone(), value))
        };
        let parameters = scenario.parameters.iter().map(read);
        let mut parameters = parameters.collect::<Result<Vec<_>, String>>()?;
        let mut text = scenario.text.clone();
        for (name, value) in &scenario.effects {
            let (_, value) = read(&(String::new(), value.clone()))?;
            let variable = format!("effect_{name}");
            let rest = text.trim_start().strip_prefix('g').ok_or("no source")?;
            text = format!("g.withSideEffect('{name}',{variable}){rest}");
            parameters.push((variable, value));
        }
        let results = graph.run(&text, &parameters, self.sent);
        outcome::check(scenario, graph, results)?;
        for (count, text) in &scenario.counts {
            let counted = graph.run(text, &parameters, self.sent);
            let counted = counted.map_err(|error| format!("{text}: {error}"))?;
            if counted.len() != *count {
                return Err(format!("{} of {text}, wanted {count}", counted.len()));
            }
        }
        Ok(())
    }
}

fn check(door: Door, format: Format, sent: Sent) {
    let way = Way::new(door, format, sent);
    let mut report = Report::default();
    let mut scenarios = feature::scenarios();
    scenarios.retain(|scenario| scenario.beyond_a_server().is_none());
    assert_eq!(scenarios.len(), SCENARIOS);
    for scenario in &scenarios {
        report.run(scenario, || way.run(scenario), |_| false);
    }
    report.check(&report::listed(include_str!("not_yet.txt")));
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn texts_with_bindings_pass_over_websockets_in_graphson() {
    check(Door::Socket, Format::GraphSon, Sent::Bound);
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn texts_with_bindings_pass_over_websockets_in_graphbinary() {
    check(Door::Socket, Format::GraphBinary, Sent::Bound);
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn texts_with_bindings_pass_over_http_in_graphson() {
    check(Door::Http, Format::GraphSon, Sent::Bound);
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn texts_with_bindings_pass_over_http_in_graphbinary() {
    check(Door::Http, Format::GraphBinary, Sent::Bound);
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn texts_with_values_pass_over_websockets_in_graphson() {
    check(Door::Socket, Format::GraphSon, Sent::Inline);
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn texts_with_values_pass_over_websockets_in_graphbinary() {
    check(Door::Socket, Format::GraphBinary, Sent::Inline);
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn texts_with_values_pass_over_http_in_graphson() {
    check(Door::Http, Format::GraphSon, Sent::Inline);
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn texts_with_values_pass_over_http_in_graphbinary() {
    check(Door::Http, Format::GraphBinary, Sent::Inline);
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn bytecode_passes_over_websockets_in_graphson() {
    check(Door::Socket, Format::GraphSon, Sent::Bytecode);
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn bytecode_passes_over_websockets_in_graphbinary() {
    check(Door::Socket, Format::GraphBinary, Sent::Bytecode);
}
