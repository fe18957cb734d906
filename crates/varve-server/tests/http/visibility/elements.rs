//! Random elements and rules, and which elements the rules cover.

use super::*;

/// An element: its label, its ends if it is an edge, and what may be asked of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Element {
    pub(super) label: &'static str,
    pub(super) ends: Option<(String, String)>,
    pub(super) level: Option<i64>,
    pub(super) kind: Option<&'static str>,
}

/// Vertices by id and edges by label and ends.
#[derive(Debug, Clone, Default)]
pub(super) struct Elements {
    pub(super) vertices: BTreeMap<String, Element>,
    pub(super) edges: BTreeMap<(String, String, String), Element>,
}

/// A condition on a property, as a target says it and as the test understands it.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    Level(&'static str, i64),
    Kind(&'static str),
}

/// A resource of a target.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    pub(super) label: &'static str,
    pub(super) conditions: Vec<Condition>,
}

impl Rule {
    pub(super) fn json(&self) -> Value {
        let mut properties = serde_json::Map::new();
        for condition in &self.conditions {
            match condition {
                Condition::Level(predicate, bound) => {
                    let arguments = match *predicate {
                        "within" | "without" => format!("{bound}, {}", bound + 1),
                        "between" => format!("{bound}, {}", bound + 2),
                        _ => bound.to_string(),
                    };
                    let text = format!("P.{predicate}({arguments})");
                    properties.insert("level".into(), json!(text));
                }
                Condition::Kind(kind) => {
                    properties.insert("kind".into(), json!(kind));
                }
            }
        }
        match properties.is_empty() {
            true => json!({"type": self.kind, "label": self.label}),
            false => json!({"type": self.kind, "label": self.label, "properties": properties}),
        }
    }

    pub(super) fn covers(&self, element: &Element) -> bool {
        let kind = match element.ends {
            None => "VERTEX",
            Some(_) => "EDGE",
        };
        let matches = match self.label {
            "*" => true,
            // A regular expression that is one label or several.
            label => label.split('|').any(|one| one == element.label),
        };
        let mut conditions = self.conditions.iter();
        (self.kind == kind || self.kind == "ALL")
            && matches
            && conditions.all(|condition| match condition {
                Condition::Level(predicate, bound) => {
                    element.level.is_some_and(|own| match *predicate {
                        "gte" => own >= *bound,
                        "lt" => own < *bound,
                        "within" => own == *bound || own == bound + 1,
                        "without" => own != *bound && own != bound + 1,
                        "between" => own >= *bound && own < bound + 2,
                        _ => own != *bound,
                    })
                }
                Condition::Kind(kind) => element.kind == Some(*kind),
            })
    }
}

pub(super) fn covers(rules: &[Rule], element: &Element) -> bool {
    rules.iter().any(|rule| rule.covers(element))
}

impl Elements {
    /// What of these elements may be seen, if `now` is what they are now.
    pub(super) fn seen(&self, rules: &[Rule], now: &Self) -> Self {
        let mut seen = self.clone();
        seen.vertices.retain(|id, vertex| {
            let present = now.vertices.get(id);
            covers(rules, vertex) && present.is_none_or(|present| covers(rules, present))
        });
        let vertices = &seen.vertices;
        seen.edges.retain(|id, edge| {
            let present = now.edges.get(id);
            covers(rules, edge)
                && present.is_none_or(|present| covers(rules, present))
                && vertices.contains_key(&id.1)
                && vertices.contains_key(&id.2)
        });
        seen
    }

    pub(super) fn random(random: &mut Random) -> Self {
        let mut elements = Self::default();
        for at in 0..6 + random.below(10) {
            let label = LABELS[random.below(3)];
            elements
                .vertices
                .insert(format!("{label}{at}"), vertex(label, random));
        }
        elements.add_edges(30, random);
        elements
    }

    pub(super) fn add_edges(&mut self, tries: usize, random: &mut Random) {
        let ids: Vec<String> = self.vertices.keys().cloned().collect();
        for _ in 0..tries {
            let (source, target) = (random.pick(&ids), random.pick(&ids));
            let link = LINKS
                .iter()
                .find(|(_, from, to)| source.starts_with(from) && target.starts_with(to));
            let Some((label, ..)) = link else {
                continue;
            };
            let edge = Element {
                ends: Some((source.clone(), target.clone())),
                ..vertex(label, random)
            };
            let id = ((*label).to_owned(), source.clone(), target.clone());
            self.edges.insert(id, edge);
        }
    }

    /// What may become of them: other properties, some more and some less.
    pub(super) fn changed(&self, random: &mut Random) -> Self {
        let mut changed = self.clone();
        changed.vertices.retain(|_, _| !random.one_in(10));
        for vertex in changed.vertices.values_mut() {
            if random.one_in(4) {
                (vertex.level, vertex.kind) = properties(random);
            }
        }
        let vertices = &changed.vertices;
        let stays = |id: &str| vertices.contains_key(id);
        changed
            .edges
            .retain(|id, _| stays(&id.1) && stays(&id.2) && !random.one_in(12));
        for edge in changed.edges.values_mut() {
            if random.one_in(4) {
                (edge.level, edge.kind) = properties(random);
            }
        }
        for at in 20..22 {
            let label = LABELS[random.below(3)];
            changed
                .vertices
                .insert(format!("{label}{at}"), vertex(label, random));
        }
        changed.add_edges(8, random);
        changed
    }
}

pub(super) fn properties(random: &mut Random) -> (Option<i64>, Option<&'static str>) {
    let level = (!random.one_in(5)).then(|| random.below(6) as i64);
    let kind = [None, Some("x"), Some("y")][random.below(3)];
    (level, kind)
}

pub(super) fn vertex(label: &'static str, random: &mut Random) -> Element {
    let (level, kind) = properties(random);
    Element {
        label,
        ends: None,
        level,
        kind,
    }
}

/// Rights to read, at least some of vertices and of edges.
pub(super) fn rules(random: &mut Random) -> Vec<Rule> {
    const PATTERNS: [(&str, [&str; 5]); 2] = [
        ("VERTEX", ["*", "a", "b|c", "a|b", "a|c"]),
        ("EDGE", ["*", "aa|ab", "bc|ca|aa", "*", "ab|bc"]),
    ];
    let mut rules = Vec::new();
    for (kind, patterns) in PATTERNS {
        for _ in 0..1 + random.below(2) {
            let mut conditions = Vec::new();
            if random.one_in(2) {
                const PREDICATES: [&str; 6] = ["gte", "lt", "neq", "within", "without", "between"];
                let predicate = *random.pick(&PREDICATES);
                conditions.push(Condition::Level(predicate, 1 + random.below(4) as i64));
            }
            if random.one_in(6) {
                conditions.push(Condition::Kind("x"));
            }
            rules.push(Rule {
                kind,
                label: patterns[random.below(5)],
                conditions,
            });
        }
    }
    rules
}
