//! `apoc.refactor.mergeNodes`: several nodes become one.

use std::collections::BTreeMap;
use std::sync::Arc;

use varve_cypher::{CypherError, Graph, Map, Value};

use super::writing::run;
use super::{Catalogue, Rows, invalid, map_argument};

/// How the values of a property that several elements have become one.
#[derive(Clone, Copy)]
enum Kept {
    /// The first.
    First,
    /// The last.
    Last,
    /// One value, or the list of different ones.
    All,
}

/// What the configuration says.
struct Rules {
    properties: BTreeMap<Arc<str>, Kept>,
    /// Of properties that are not named.
    others: Kept,
    merges_relationships: bool,
    makes_loops: bool,
}

impl Rules {
    fn of(config: Option<&Map>) -> Result<Self, CypherError> {
        let mut rules = Self {
            properties: BTreeMap::new(),
            others: Kept::All,
            merges_relationships: false,
            makes_loops: true,
        };
        for (name, value) in config.into_iter().flat_map(Map::iter) {
            match (&**name, value) {
                ("properties", Value::String(_)) => rules.others = kept(value)?,
                ("properties", Value::Map(map)) => {
                    for (key, value) in map.iter() {
                        match &**key {
                            "*" | ".*" => rules.others = kept(value)?,
                            _ => drop(rules.properties.insert(Arc::clone(key), kept(value)?)),
                        }
                    }
                }
                ("mergeRels", Value::Boolean(merges)) => rules.merges_relationships = *merges,
                ("produceSelfRel", Value::Boolean(makes)) => rules.makes_loops = *makes,
                _ => {
                    return Err(invalid(format!(
                        "config has no such member: {name}: {value}"
                    )));
                }
            }
        }
        Ok(rules)
    }

    /// The properties of elements in their order as those of one.
    fn merged(&self, all: &[&Map]) -> Value {
        let mut values: BTreeMap<&Arc<str>, Vec<&Value>> = BTreeMap::new();
        for (key, value) in all.iter().flat_map(|map| map.iter()) {
            values.entry(key).or_default().push(value);
        }
        let one = |(key, values): (&Arc<str>, Vec<&Value>)| {
            let kept = self.properties.get(key).unwrap_or(&self.others);
            let value = match kept {
                Kept::First => values[0].clone(),
                Kept::Last => values[values.len() - 1].clone(),
                Kept::All => together(&values),
            };
            (Arc::clone(key), value)
        };
        Value::map(values.into_iter().map(one).collect())
    }
}

/// The different values, lists by their items; one value alone stays what it is.
fn together(values: &[&Value]) -> Value {
    if let [one] = values {
        return (*one).clone();
    }
    let mut all: Vec<Value> = Vec::new();
    let mut has_list = false;
    for value in values {
        let items = match value {
            Value::List(items) => {
                has_list = true;
                items.as_slice()
            }
            one => std::slice::from_ref(*one),
        };
        for item in items {
            if !all.iter().any(|own| is_same(own, item)) {
                all.push(item.clone());
            }
        }
    }
    match all.len() {
        1 if !has_list => all.remove(0),
        _ => Value::list(all),
    }
}

/// Whether two values of properties are the same: 1 and 1.0 are not.
fn is_same(one: &Value, other: &Value) -> bool {
    one.type_name() == other.type_name() && one.to_string() == other.to_string()
}

fn kept(value: &Value) -> Result<Kept, CypherError> {
    let Value::String(name) = value else {
        return Err(invalid("properties are named by a string"));
    };
    match &*name.to_lowercase() {
        "discard" => Ok(Kept::First),
        "overwrite" | "override" => Ok(Kept::Last),
        "combine" => Ok(Kept::All),
        _ => Err(invalid(
            "properties are 'discard', 'overwrite' or 'combine'",
        )),
    }
}

/// Moves what the nodes of a list have to the first of them, and deletes the others.
pub(super) fn merge_nodes(catalogue: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let rules = Rules::of(map_argument(arguments, 1, "config")?)?;
    let mut nodes: Vec<Value> = Vec::new();
    match arguments.first() {
        Some(Value::Null) => {}
        Some(Value::List(items)) => {
            for item in items.iter() {
                match item {
                    Value::Null => {}
                    Value::Node(node) => {
                        let is_own = |own: &Value| matches!(own, Value::Node(own) if own == node);
                        if !nodes.iter().any(is_own) {
                            nodes.push(item.clone());
                        }
                    }
                    _ => return Err(invalid("nodes are a list of nodes")),
                }
            }
        }
        _ => return Err(invalid("nodes are a list of nodes")),
    }
    let Some((first, others)) = nodes.split_first() else {
        return Ok(Vec::new());
    };
    let merge = Merge {
        catalogue,
        graph,
        first,
    };
    merge.properties(&rules, &nodes)?;
    for other in others {
        merge.relationships(other, &rules)?;
        let text = "WITH $t AS t, $s AS s SET t:$(labels(s)) DELETE s";
        merge.run(text, [("s", other.clone())])?;
    }
    if rules.merges_relationships {
        merge.parallel(&rules)?;
    }
    merge.run("WITH $t AS t RETURN t", [])
}

/// A merge into one node.
struct Merge<'m> {
    catalogue: &'m Catalogue,
    graph: &'m Graph<'m>,
    first: &'m Value,
}

impl Merge<'_> {
    /// Runs a statement with the node as `$t`.
    fn run<const N: usize>(&self, text: &str, more: [(&str, Value); N]) -> Rows {
        let first = ("t", self.first.clone());
        let parameters = std::iter::once(first).chain(more);
        run((self.catalogue, text), parameters, self.graph)
    }

    fn properties(&self, rules: &Rules, nodes: &[Value]) -> Result<(), CypherError> {
        let text = "UNWIND $nodes AS n RETURN properties(n)";
        let rows = self.run(text, [("nodes", Value::list(nodes.to_vec()))])?;
        let merged = rules.merged(&maps(rows.iter().flatten()));
        let text = "WITH $t AS t SET t = $properties";
        self.run(text, [("properties", merged)]).map(drop)
    }

    /// Moves the relationships of another node.
    fn relationships(&self, other: &Value, rules: &Rules) -> Result<(), CypherError> {
        let is_loop = match rules.makes_loops {
            true => "true",
            false => "o <> t",
        };
        let begin = "WITH $t AS t, $s AS s MATCH";
        let make = "FOREACH (x IN CASE WHEN $made THEN [1] ELSE [] END | ";
        let made = make.replace("$made", is_loop);
        // Relationships from a node to itself go out first, and are not there any more then.
        for text in [
            format!(
                "{begin} (s)-[r]->(e) WITH t, r, CASE WHEN e = s THEN t ELSE e END AS o \
                 {made}CREATE (t)-[m:$(type(r))]->(o) SET m = properties(r)) DELETE r"
            ),
            format!(
                "{begin} (s)<-[r]-(o) \
                 {made}CREATE (o)-[m:$(type(r))]->(t) SET m = properties(r)) DELETE r"
            ),
        ] {
            self.run(&text, [("s", other.clone())])?;
        }
        Ok(())
    }

    /// Makes one relationship of those of one type that begin and end at the same nodes.
    fn parallel(&self, rules: &Rules) -> Result<(), CypherError> {
        for pattern in ["(t)-[r]->(o)", "(t)<-[r]-(o)"] {
            let text = format!(
                "WITH $t AS t MATCH {pattern} WITH type(r) AS name, o, collect(r) AS all \
                 WHERE size(all) > 1 RETURN all, [r IN all | properties(r)]"
            );
            for row in self.run(&text, [])? {
                let [Value::List(all), Value::List(properties)] = &*row else {
                    continue;
                };
                let (kept, gone) = (all[0].clone(), all[1..].to_vec());
                let parameters = [
                    ("kept", kept),
                    ("gone", Value::list(gone)),
                    ("properties", rules.merged(&maps(properties.iter()))),
                ];
                let text = "WITH $kept AS r SET r = $properties WITH r UNWIND $gone AS g DELETE g";
                self.run(text, parameters)?;
            }
        }
        Ok(())
    }
}

fn maps<'v>(values: impl Iterator<Item = &'v Value>) -> Vec<&'v Map> {
    let each = values.filter_map(|value| match value {
        Value::Map(map) => Some(&**map),
        _ => None,
    });
    each.collect()
}
