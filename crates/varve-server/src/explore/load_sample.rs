//! `…/explore/load_sample`: a small graph of people, cities and companies, and a tour through it.
//!
//! It is written as any client writes: elements with their valid times, then two corrections and a
//! plan as later commits. So the state before the corrections can still be read.

mod data;

use jiff::civil::Date;
use serde_json::{Value, json};
use varve_graph::Graph;
use varve_graph::schema::{NewEdgeLabel, NewPropertyKey, NewVertexLabel, Schema};
use varve_graph::{ErrorKind, GraphError};
use varve_model::value::DataType;
use varve_model::{CommitVersion, Datum, Instant};

use self::data::{CITIES, COMPANIES, KNOWS, LIVES, PEOPLE, SIZES, WORKS};
use crate::errors::ApiError;
use crate::hugegraph::store_batch;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::wire::time::instant_text;

/// The variable that marks the sample as loaded. Its value is a [`Loaded`].
const VARIABLE: &str = "~sample";
/// The start of the vertices' valid period.
const VERTICES_SINCE: &str = "2015-01-01";
/// Days from the load to the planned move.
const PLANNED_DAYS: i64 = 120;
const DAY_MICROS: i64 = 86_400_000_000;

/// The data that a load stores for the tour.
struct Loaded {
    /// The last commit before the corrections.
    believed: CommitVersion,
    /// The first day of the planned move.
    planned: String,
}

impl Loaded {
    fn of(graph: &Graph) -> Result<Option<Self>, ApiError> {
        let value = match graph.variables().get(VARIABLE) {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
            value => value?,
        };
        let damaged = || ApiError::internal(format!("The variable {VARIABLE} is damaged"));
        let Datum::Text(text) = value else {
            return Err(damaged());
        };
        let (believed, planned) = text.split_once(' ').ok_or_else(damaged)?;
        Ok(Some(Self {
            believed: CommitVersion(believed.parse().map_err(|_| damaged())?),
            planned: planned.to_owned(),
        }))
    }

    fn keep(&self, graph: &Graph) -> Result<(), GraphError> {
        let text = format!("{} {}", self.believed, self.planned);
        graph.variables().set(VARIABLE, &Datum::Text(text))
    }
}

/// Answers whether the sample is loaded, and its tour.
pub(super) fn get(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    Ok(Response::ok(match Loaded::of(&graph)? {
        Some(loaded) => answer(&graph.schema(), &loaded)?.to_string(),
        None => json!({"loaded": false}).to_string(),
    }))
}

/// Loads the sample, once: 201, or 200 if it is loaded already.
pub(super) fn load(context: &RequestContext) -> HandlerResult {
    let graph = context.graph()?;
    if let Some(loaded) = Loaded::of(&graph)? {
        let tour = answer(&graph.schema(), &loaded)?;
        return Ok(Response::ok(tour.to_string()));
    }
    make_schema(&graph)?;
    let schema = graph.schema();
    let planned = Instant(graph.now().0 + PLANNED_DAYS * DAY_MICROS);
    let planned = instant_text(planned).unwrap_or_default();
    let planned = planned.get(..10).unwrap_or_default().to_owned();
    let people = Batches { schema: &schema };
    store_batch(context, &people.all()?, &json!({}))?;
    let believed = store_batch(context, &people.sizes()?, &json!({}))?;
    for (put, end) in people.corrections(&planned)? {
        store_batch(context, &put, &end)?;
    }
    let loaded = Loaded { believed, planned };
    loaded.keep(&graph)?;
    Ok(Response::created(answer(&schema, &loaded)?.to_string()))
}

fn make_schema(graph: &Graph) -> Result<(), GraphError> {
    let key = |name: &str, data_type| NewPropertyKey {
        data_type,
        check_exist: false,
        ..NewPropertyKey::named(name)
    };
    let label = |name: &str, properties: &[&str]| NewVertexLabel {
        properties: owned(properties),
        primary_keys: owned(&["name"]),
        check_exist: false,
        ..NewVertexLabel::named(name)
    };
    let edge = |name, source, target, properties: &[&str]| NewEdgeLabel {
        properties: owned(properties),
        check_exist: false,
        ..NewEdgeLabel::between(name, source, target)
    };
    graph.catalogue().create_many(
        vec![
            key("name", DataType::Text),
            key("born", DataType::Int),
            key("country", DataType::Text),
            key("field", DataType::Text),
            key("employees", DataType::Int),
            key("role", DataType::Text),
        ],
        vec![
            label("person", &["name", "born"]),
            label("city", &["name", "country"]),
            label("company", &["name", "field", "employees"]),
        ],
        vec![
            edge("lives_in", "person", "city", &[]),
            edge("works_at", "person", "company", &["role"]),
            edge("based_in", "company", "city", &[]),
            edge("knows", "person", "person", &[]),
        ],
    )
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The bodies of the sample's writes.
struct Batches<'s> {
    schema: &'s Schema,
}

impl Batches<'_> {
    fn id(&self, label: &str, name: &str) -> Result<String, GraphError> {
        let label = self.schema.require_vertex_label(label)?;
        Ok(format!("{}:{name}", label.id.0))
    }

    fn edge(
        &self,
        label: &str,
        (source_label, source): (&str, &str),
        (target_label, target): (&str, &str),
        (from, to): (&str, &str),
        properties: &Value,
    ) -> Result<Value, GraphError> {
        let mut edge = json!({
            "label": label,
            "outV": self.id(source_label, source)?,
            "inV": self.id(target_label, target)?,
            "properties": properties,
            "valid_from": from,
        });
        if !to.is_empty() {
            edge["valid_to"] = to.into();
        }
        Ok(edge)
    }

    fn lives(&self, person: &str, city: &str, period: (&str, &str)) -> Result<Value, GraphError> {
        let (source, target) = (("person", person), ("city", city));
        self.edge("lives_in", source, target, period, &json!({}))
    }

    fn works(
        &self,
        person: &str,
        company: &str,
        role: &str,
        period: (&str, &str),
    ) -> Result<Value, GraphError> {
        let (source, target) = (("person", person), ("company", company));
        self.edge("works_at", source, target, period, &json!({"role": role}))
    }

    /// The elements before the corrections.
    fn all(&self) -> Result<Value, GraphError> {
        let vertex = |label: &str, properties: Value| json!({"label": label, "properties": properties, "valid_from": VERTICES_SINCE});
        let mut vertices = Vec::new();
        for (name, born) in PEOPLE {
            vertices.push(vertex("person", json!({"name": name, "born": born})));
        }
        for (name, country) in CITIES {
            vertices.push(vertex("city", json!({"name": name, "country": country})));
        }
        let mut edges = Vec::new();
        for (name, field, employees, city) in COMPANIES {
            let properties = json!({"name": name, "field": field, "employees": employees});
            vertices.push(vertex("company", properties));
            let (source, target) = (("company", *name), ("city", *city));
            let since = (VERTICES_SINCE, "");
            edges.push(self.edge("based_in", source, target, since, &json!({}))?);
        }
        for (person, city, from, to) in LIVES {
            edges.push(self.lives(person, city, (from, to))?);
        }
        for (person, company, role, from, to) in WORKS {
            edges.push(self.works(person, company, role, (from, to))?);
        }
        for (one, other, since) in KNOWS {
            let ends = (("person", *one), ("person", *other));
            edges.push(self.edge("knows", ends.0, ends.1, (since, ""), &json!({}))?);
        }
        Ok(json!({"vertices": vertices, "edges": edges}))
    }

    /// How a company grew.
    fn sizes(&self) -> Result<Value, GraphError> {
        let (name, field, employees, from) = SIZES;
        let properties = json!({"name": name, "field": field, "employees": employees});
        let label = &self.schema.require_vertex_label("company")?.name;
        let vertex = json!({"label": label, "properties": properties, "valid_from": from});
        Ok(json!({"vertices": [vertex]}))
    }

    /// Two corrections and a plan: the elements that each stores, and those that it ends.
    fn corrections(&self, planned: &str) -> Result<[(Value, Value); 3], GraphError> {
        // Ann moved three months before it was first recorded.
        let early = ("2022-02-01", "2022-05-01");
        let moved = (
            json!({"edges": [self.lives("Ann", "Milan", early)?]}),
            json!({"edges": [self.lives("Ann", "Rome", early)?]}),
        );
        // Ben was an engineer since 2023.
        let since = ("2023-01-01", "");
        let role = (
            json!({"edges": [self.works("Ben", "Bluewave", "engineer", since)?]}),
            json!({}),
        );
        let from = (planned, "");
        let plan = (
            json!({"edges": [self.lives("Dora", "Oslo", from)?]}),
            json!({"edges": [self.lives("Dora", "Lisbon", from)?]}),
        );
        Ok([moved, role, plan])
    }
}

/// The answer with the tour: the elements to show, and the times of the steps.
fn answer(schema: &Schema, loaded: &Loaded) -> Result<Value, ApiError> {
    let people = Batches { schema };
    let vertex = |label: &str, name: &str| -> Result<String, ApiError> {
        Ok(format!("\"{}\"", people.id(label, name)?))
    };
    let mut show = Vec::new();
    for (name, _) in PEOPLE {
        show.push(vertex("person", name)?);
    }
    for (name, _) in CITIES {
        show.push(vertex("city", name)?);
    }
    for (name, ..) in COMPANIES {
        show.push(vertex("company", name)?);
    }
    let (ann, ben) = (vertex("person", "Ann")?, vertex("person", "Ben")?);
    let dora = vertex("person", "Dora")?;
    let believed = loaded.believed.to_string();
    let day_after = next_day(&loaded.planned);
    let steps = tour(&believed, &day_after, &ann, &dora);
    Ok(json!({
        "loaded": true,
        "vertices": PEOPLE.len() + CITIES.len() + COMPANIES.len(),
        "edges": LIVES.len() + WORKS.len() + COMPANIES.len() + KNOWS.len() + 1,
        "show": show,
        "corrected": [ann, ben],
        "tour": steps,
    }))
}

/// The steps of the tour: a title, the point of both times, and what is selected or compared.
fn tour(believed: &str, day_after: &str, ann: &str, dora: &str) -> [Value; 6] {
    let step = |key: &str, title: &str, as_of: Value, more: Value| {
        let mut step = json!({"key": key, "title": title, "as_of": as_of, "as_of_tx": null,
            "diff_with": null, "select": null});
        if let (Some(step), Value::Object(more)) = (step.as_object_mut(), more) {
            step.extend(more);
        }
        step
    };
    [
        step(
            "now",
            "People, cities and companies as they are now",
            Value::Null,
            json!({}),
        ),
        step(
            "then",
            "Where everybody lived and worked in June 2021",
            json!("2021-06-01"),
            json!({}),
        ),
        step(
            "changed",
            "What has changed since June 2021",
            Value::Null,
            json!({"diff_with": {"as_of": "2021-06-01", "as_of_tx": null}}),
        ),
        step(
            "believed",
            "March 2022 as it was believed before the corrections: Ann lives in Rome",
            json!("2022-03-15"),
            json!({"as_of_tx": believed, "select": ann}),
        ),
        step(
            "learned",
            "What we have learned of March 2022 since: Ann had moved to Milan",
            json!("2022-03-15"),
            json!({"diff_with": {"as_of": "2022-03-15", "as_of_tx": believed}, "select": ann}),
        ),
        step(
            "planned",
            "A planned move: Dora will live in Oslo",
            json!(day_after),
            json!({"select": dora}),
        ),
    ]
}

fn next_day(day: &str) -> String {
    let next = day.parse::<Date>().ok();
    let next = next.and_then(|day| day.tomorrow().ok());
    next.map_or_else(|| day.to_owned(), |day| day.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_edges_name_exists() {
        let people: Vec<&str> = PEOPLE.iter().map(|(name, _)| *name).collect();
        let cities: Vec<&str> = CITIES.iter().map(|(name, _)| *name).collect();
        let companies: Vec<&str> = COMPANIES.iter().map(|(name, ..)| *name).collect();
        for (person, city, from, to) in LIVES {
            assert!(
                people.contains(person) && cities.contains(city),
                "{person} {city}"
            );
            assert!(to.is_empty() || from < to, "{person} {city}");
        }
        for (person, company, _, from, to) in WORKS {
            assert!(
                people.contains(person) && companies.contains(company),
                "{person} {company}"
            );
            assert!(to.is_empty() || from < to, "{person} {company}");
        }
        for (one, other, _) in KNOWS {
            assert!(
                people.contains(one) && people.contains(other),
                "{one} {other}"
            );
        }
        let count = people.len() + cities.len() + companies.len();
        let edges = LIVES.len() + WORKS.len() + COMPANIES.len() + KNOWS.len();
        assert!((110..=130).contains(&(count + edges)), "{}", count + edges);
    }

    #[test]
    fn nobody_lives_in_two_cities_at_once() {
        for (at, (person, _, from, to)) in LIVES.iter().enumerate() {
            for (other, _, other_from, other_to) in &LIVES[at + 1..] {
                let apart = (!to.is_empty() && to <= other_from)
                    || (!other_to.is_empty() && other_to <= from);
                assert!(person != other || apart, "{person}");
            }
        }
    }
}
