//! The requests of a scenario, one after another, each with its expected answer.

mod template;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::answer::{Check, Expect};
use super::payload::{ID, Naming, Template, VertexKind};
use super::scenario::{Data, GraphAddress, Need, Scenario};
use super::social;
use crate::random::Random;
use template::template;

/// For each person, the number of random other persons with whom requests pair it.
const PAIRS: u64 = 1_000;
/// Schema elements that are created before the same ones are requested again.
const SCHEMA_ELEMENTS: u64 = 200;

/// Makes the requests of a scenario for one worker.
#[derive(Debug)]
pub(crate) struct Requests {
    scenario: Scenario,
    data: Arc<Data>,
    template: Template,
    /// The number of elements among which reads choose.
    chosen_from: u64,
    random: Random,
    items: u32,
    checked: bool,
}

impl Requests {
    pub(crate) fn new(
        scenario: Scenario,
        data: &Arc<Data>,
        place: &GraphAddress,
        seed: u64,
    ) -> Self {
        let sizes = &data.sizes;
        let chosen_from = match scenario {
            Scenario::EdgeById => sizes.edges,
            _ => sizes.vertices,
        };
        Self {
            scenario,
            data: Arc::clone(data),
            template: template(scenario, sizes, place),
            chosen_from,
            random: Random::new(seed),
            items: scenario.items(sizes),
            checked: place.checked,
        }
    }

    /// A random number for other purposes of the worker.
    pub(crate) const fn chance(&mut self) -> u64 {
        self.random.next()
    }

    /// Writes the next request into `out`, which is cleared first. Returns `None` if the request
    /// would add elements, and fewer new ones are left than it needs.
    pub(crate) fn build(&mut self, out: &mut Vec<u8>) -> Option<Expect> {
        out.clear();
        let expect = self.next(out)?;
        Some(match self.checked {
            true => expect,
            false => Expect {
                check: Check::Any,
                ..expect
            },
        })
    }

    fn next(&mut self, out: &mut Vec<u8>) -> Option<Expect> {
        use Scenario as S;
        let data = Arc::clone(&self.data);
        let (naming, vertices) = (&data.naming, data.sizes.vertices);
        let plain = |number| naming.id(VertexKind::Plain, number);
        Some(match self.scenario {
            S::PropertyKeys | S::VertexLabels | S::EdgeLabels => {
                let count = data.schema.fetch_add(1, Ordering::Relaxed);
                let number = count % SCHEMA_ELEMENTS;
                let status = match self.scenario {
                    S::PropertyKeys => 202,
                    _ => 201,
                };
                self.write(status, Check::Name(naming.name(number)), number, out)
            }
            S::SingleInsertVertices | S::BatchInsertVertices => {
                let first = self.take(Need::Vertices(VertexKind::Plain))?;
                self.insert(first, plain(first), out)
            }
            S::LoadPersons => {
                let first = self.take(Need::Vertices(VertexKind::Person))?;
                self.insert(first, naming.id(VertexKind::Person, first), out)
            }
            S::LoadKnows => {
                let first = self.take(Need::Knows)?;
                let (source, _) = naming.acquaintance(first, vertices);
                self.insert(first, naming.id(VertexKind::Person, source), out)
            }
            S::BatchInsertEdges | S::BatchInsertEdgesUnchecked => {
                let first = self.take(Need::Edges)?;
                self.insert(first, plain(naming.ends(first, vertices).0), out)
            }
            S::SingleInsertEdges => {
                let first = self.take(Need::Edges)?;
                let (source, target) = naming.ends(first, vertices);
                self.write(201, Check::Ends(plain(source), plain(target)), first, out)
            }
            S::Overwrite => self.overwrite(out),
            S::VertexById => self.read(out, |number| Check::Id(plain(number))),
            S::EdgeById => self.read(out, |number| {
                let (source, target) = naming.ends(number, vertices);
                Check::Ends(plain(source), plain(target))
            }),
            S::Adjacency => self.read(out, |_| Check::List),
            _ => {
                let person = self.random.below(self.chosen_from);
                // The number of a pair, not of an edge: the person and a random other one.
                let round = social::KNOWN + self.random.below(PAIRS);
                let number = person + round * vertices;
                self.fill(number, out);
                let check = match self.scenario {
                    S::GremlinVertex | S::GremlinByName => {
                        Check::Id(naming.id(VertexKind::Person, person))
                    }
                    _ => Check::Any,
                };
                self.expect(200, check, number)
            }
        })
    }

    /// Assigns the numbers of new elements, and returns the first.
    fn take(&self, need: Need) -> Option<u64> {
        self.data.take(need, u64::from(self.items))
    }

    fn fill(&self, first: u64, out: &mut Vec<u8>) {
        let data = &*self.data;
        self.template
            .fill(&data.naming, first, data.sizes.vertices, out);
    }

    const fn expect(&self, status: u16, check: Check, first: u64) -> Expect {
        Expect {
            status,
            check,
            first,
            count: self.items,
            writes: false,
        }
    }

    /// A request that writes elements from number `first` on.
    fn write(&self, status: u16, check: Check, first: u64, out: &mut Vec<u8>) -> Expect {
        self.fill(first, out);
        Expect {
            writes: true,
            ..self.expect(status, check, first)
        }
    }

    /// A request that inserts elements; `id` is in the answer.
    fn insert(&self, first: u64, id: [u8; ID], out: &mut Vec<u8>) -> Expect {
        let check = match self.items {
            1 => Check::Id(id),
            _ => Check::Strings(id),
        };
        self.write(201, check, first, out)
    }

    /// A request that reads a random element.
    fn read(&mut self, out: &mut Vec<u8>, check: impl Fn(u64) -> Check) -> Expect {
        let number = self.random.below(self.chosen_from);
        self.fill(number, out);
        self.expect(200, check(number), number)
    }

    /// Overwrites existing vertices with new random content.
    fn overwrite(&mut self, out: &mut Vec<u8>) -> Expect {
        let vertices = self.data.sizes.vertices.max(1);
        // No request continues with the first vertex after the last one.
        let after_last = vertices.saturating_sub(u64::from(self.items)).max(1);
        let first = self.random.below(after_last);
        let naming = Naming {
            seed: self.random.next(),
            ..self.data.naming
        };
        self.template.fill(&naming, first, vertices, out);
        let check = Check::Strings(naming.id(VertexKind::Plain, first));
        Expect {
            writes: true,
            ..self.expect(201, check, first)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::ValueEnum;

    use super::*;
    use crate::api::answer::Verdict;
    use crate::api::scenario::Sizes;

    fn data() -> Arc<Data> {
        let naming = Naming {
            prefix: *b"abc",
            seed: 1,
        };
        let sizes = Sizes {
            vertices_per_request: 200,
            edges_per_request: 500,
            vertices: 1_000,
            edges: 2_000,
        };
        Arc::new(Data::new(naming, sizes))
    }

    fn place() -> GraphAddress {
        GraphAddress {
            headers: "Host: localhost\r\n".into(),
            base: "/graphs/g".into(),
            source: "__g_hugegraph".to_owned(),
            edge_middle: "%3E1%3E1%3E%3E".into(),
            checked: true,
        }
    }

    fn build(scenario: Scenario, data: &Arc<Data>, times: usize) -> Vec<(String, Expect)> {
        let mut requests = Requests::new(scenario, data, &place(), 9);
        let mut out = Vec::new();
        (0..times)
            .map(|_| {
                let expect = requests.build(&mut out).expect("a request");
                (String::from_utf8(out.clone()).expect("text"), expect)
            })
            .collect()
    }

    #[test]
    fn every_scenarios_requests_are_whole_http() {
        for scenario in Scenario::value_variants() {
            for (text, expect) in build(*scenario, &data(), 5) {
                assert!(
                    !text.contains('@'),
                    "{scenario:?}: a place was not filled: {text}"
                );
                let (head, body) = text.split_once("\r\n\r\n").expect("a head");
                let said = head
                    .lines()
                    .find_map(|line| line.strip_prefix("Content-Length: "))
                    .map_or(0, |length| length.parse().expect("a number"));
                assert_eq!(said, body.len(), "{scenario:?}");
                if !body.is_empty() {
                    let _: serde_json::Value = serde_json::from_str(body).expect("JSON");
                }
                assert_eq!(expect.count, scenario.items(&data().sizes));
            }
        }
    }

    #[test]
    fn inserts_never_repeat_an_element() {
        let data = data();
        let requests = build(Scenario::BatchInsertVertices, &data, 3);
        let firsts: Vec<u64> = requests.iter().map(|(_, expect)| expect.first).collect();
        assert_eq!(firsts, [0, 200, 400]);
        assert_eq!(requests[0].0.matches("\"label\"").count(), 200);
    }

    #[test]
    fn edges_are_drawn_until_none_is_left_and_none_twice() {
        let naming = data().naming;
        let sizes = Sizes {
            vertices: 7,
            edges_per_request: 4,
            ..data().sizes
        };
        let data = Arc::new(Data::new(naming, sizes));
        let scenario = Scenario::BatchInsertEdges;
        let mut requests = Requests::new(scenario, &data, &place(), 9);
        let (mut out, mut seen) = (Vec::new(), BTreeSet::new());
        while requests.build(&mut out).is_some() {
            let text = String::from_utf8(out.clone()).expect("text");
            let (_, body) = text.split_once("\r\n\r\n").expect("a head");
            let edges: Vec<serde_json::Value> = serde_json::from_str(body).expect("JSON");
            for edge in edges {
                let ends = format!("{} {}", edge["outV"], edge["inV"]);
                assert!(seen.insert(ends), "twice: {edge}");
            }
        }
        // The last of the 49 edges does not fill a request.
        assert_eq!(seen.len(), 48);
        let reason = data.exhausted(scenario).expect("none is left");
        assert!(
            reason.contains("1 of the 49 between 7 vertices"),
            "{reason}"
        );
        assert_eq!(data.exhausted(Scenario::SingleInsertEdges), None);
    }

    #[test]
    fn the_answer_must_have_what_was_asked_for() {
        let data = data();
        let (text, expect) = build(Scenario::VertexById, &data, 1).remove(0);
        let id = text.split("%22").nth(1).expect("an id").to_owned();
        assert_eq!(
            expect.check(format!(r#"{{"id":"{id}"}}"#).as_bytes()),
            Verdict::Right
        );
        assert_eq!(expect.check(br#"{"id":"other"}"#), Verdict::Wrong);
    }

    #[test]
    fn a_batchs_answer_must_have_as_many_ids_as_were_sent() {
        let data = data();
        let (_, expect) = build(Scenario::BatchInsertVertices, &data, 1).remove(0);
        let id =
            |at| String::from_utf8(data.naming.id(VertexKind::Plain, at).to_vec()).expect("text");
        let ids: Vec<String> = (0..200).map(|at| format!("\"{}\"", id(at))).collect();
        let all = format!("[{}]", ids.join(","));
        let fewer = format!("[{}]", ids[..199].join(","));
        assert_eq!(expect.check(all.as_bytes()), Verdict::Right);
        assert_eq!(expect.check(fewer.as_bytes()), Verdict::Wrong);
    }
}
