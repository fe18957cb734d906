//! Listings by label, by property and by vertex, against the model's answer.

use varve_graph::query::{EdgeQuery, VertexQuery, collect_edges, collect_vertices};
use varve_graph::read::View;
use varve_model::schema::{IndexBase, IndexType};
use varve_model::{
    Condition, Direction, EdgeLabelId, Element, ElementId, IndexLabel, Predicate, PropertyKeyId,
    TemporalScope, Value, VertexId,
};
use varve_testkit::generate::labels::{AGE, CITY, MARKS, TAGS, WEIGHT};
use varve_testkit::model::Point;

use crate::compare::{Outcome, differ};
use crate::world::World;

/// What is asked of one point of both times.
struct Asked<'a> {
    world: &'a World,
    view: View,
    /// What exists there.
    elements: Vec<Element>,
    ids: &'a [ElementId],
    /// Whether to ask page by page too.
    paged: bool,
}

/// Every listing that the schema has an index for.
pub(crate) fn all(
    world: &World,
    scope: TemporalScope,
    point: Point,
    ids: &[ElementId],
    paged: bool,
) -> Outcome {
    let view = world
        .graph()
        .view(scope)
        .map_err(|error| error.to_string())?;
    let mut elements = world.model.elements(point);
    elements.retain(|element| ids.contains(&element.id()));
    let asked = Asked {
        world,
        view,
        elements,
        ids,
        paged,
    };
    asked.listings()?;
    for label in &world.plan.model.index_labels {
        let built = asked
            .view
            .schema()
            .index_label_by_name(&label.name)
            .is_some();
        if built && label.index_type != IndexType::Unique {
            asked
                .by_index(label)
                .map_err(|wrong| format!("by {}: {wrong}", label.name))?;
        }
    }
    asked.adjacency()
}

impl Asked<'_> {
    fn listings(&self) -> Outcome {
        self.vertices(
            "all vertices",
            &VertexQuery {
                limit: -1,
                ..VertexQuery::default()
            },
        )?;
        self.edges(
            "all edges",
            &EdgeQuery {
                limit: -1,
                ..EdgeQuery::default()
            },
        )?;
        for label in &self.world.plan.model.vertex_labels {
            let query = VertexQuery {
                label: Some(label.id),
                limit: -1,
                ..VertexQuery::default()
            };
            self.vertices(&label.name, &query)?;
        }
        for label in &self.world.plan.model.edge_labels {
            let query = EdgeQuery {
                labels: vec![label.id],
                limit: -1,
                ..EdgeQuery::default()
            };
            self.edges(&label.name, &query)?;
        }
        Ok(())
    }

    fn by_index(&self, label: &IndexLabel) -> Outcome {
        for predicate in predicates(label) {
            let conditions = vec![Condition {
                key: label.fields[0],
                predicate,
            }];
            let what = format!("{conditions:?}");
            match label.base {
                IndexBase::Vertex(base) => {
                    let label = Some(base);
                    let query = VertexQuery {
                        label,
                        conditions,
                        limit: -1,
                        ..VertexQuery::default()
                    };
                    self.vertices(&what, &query)?;
                }
                IndexBase::Edge(base) => {
                    let labels = vec![base];
                    let query = EdgeQuery {
                        labels,
                        conditions,
                        limit: -1,
                        ..EdgeQuery::default()
                    };
                    self.edges(&what, &query)?;
                }
                IndexBase::Olap => {}
            }
        }
        Ok(())
    }

    /// The edges of each vertex, by direction and label, and with a condition that needs no index.
    fn adjacency(&self) -> Outcome {
        let vertices = self.ids.iter().filter_map(|id| match id {
            ElementId::Vertex(id) => Some(id),
            ElementId::Edge(_) => None,
        });
        let light = Condition {
            key: WEIGHT,
            predicate: Predicate::Lt(Value::Double(1.0)),
        };
        for vertex in vertices {
            for direction in [None, Some(Direction::Out), Some(Direction::In)] {
                for conditions in [vec![], vec![light.clone()]] {
                    let of = Some((vertex.clone(), direction));
                    let query = EdgeQuery {
                        vertex: of,
                        conditions,
                        limit: -1,
                        ..EdgeQuery::default()
                    };
                    self.edges(&format!("{direction:?} of {vertex}"), &query)?;
                }
            }
        }
        Ok(())
    }

    fn vertices(&self, what: &str, query: &VertexQuery) -> Outcome {
        let wanted = |element: &Element| matches!(element, Element::Vertex(vertex) if query.label.is_none_or(|label| label == vertex.label));
        let mut expected = self.matching(&wanted, &query.conditions);
        let found = self.pages(what, |limit, page| {
            let query = VertexQuery {
                limit,
                page,
                ..query.clone()
            };
            let (found, page) = collect_vertices(&self.view, self.view.schema(), &query)
                .map_err(|error| error.to_string())?;
            Ok((found.into_iter().map(Element::Vertex).collect(), page))
        })?;
        self.compare(what, &mut expected, found)
    }

    fn edges(&self, what: &str, query: &EdgeQuery) -> Outcome {
        let of_label = |label: EdgeLabelId, parent: EdgeLabelId| {
            query.labels.is_empty()
                || query.labels.contains(&label)
                || query.labels.contains(&parent)
        };
        let of_vertex = |source: &VertexId, target: &VertexId| {
            query
                .vertex
                .as_ref()
                .is_none_or(|(vertex, direction)| match direction {
                    Some(Direction::Out) => source == vertex,
                    Some(Direction::In) => target == vertex,
                    None => source == vertex || target == vertex,
                })
        };
        let wanted = |element: &Element| {
            matches!(element, Element::Edge(edge) if of_label(edge.id.label, edge.id.parent)
                && of_vertex(&edge.id.source, &edge.id.target))
        };
        let mut expected = self.matching(&wanted, &query.conditions);
        // In both directions, an edge from a vertex to itself is met twice.
        if matches!(query.vertex, Some((_, None))) {
            let loops = expected.iter().filter(|element| {
                matches!(element, Element::Edge(edge) if edge.id.source == edge.id.target)
            });
            let loops: Vec<Element> = loops.cloned().collect();
            expected.extend(loops);
        }
        let found = self.pages(what, |limit, page| {
            let query = EdgeQuery {
                limit,
                page,
                ..query.clone()
            };
            let (found, page) = collect_edges(&self.view, self.view.schema(), &query)
                .map_err(|error| error.to_string())?;
            Ok((found.into_iter().map(Element::Edge).collect(), page))
        })?;
        self.compare(what, &mut expected, found)
    }

    fn matching(
        &self,
        wanted: &dyn Fn(&Element) -> bool,
        conditions: &[Condition],
    ) -> Vec<Element> {
        let no_words = |_: &str, _: &str| false;
        let holds = |element: &&Element| {
            let properties = element.properties();
            conditions
                .iter()
                .all(|condition| condition.holds(properties, &no_words))
        };
        self.elements
            .iter()
            .filter(|element| wanted(element))
            .filter(holds)
            .cloned()
            .collect()
    }

    /// The answer at once; by pages it must be the same.
    fn pages(
        &self,
        what: &str,
        ask: impl Fn(i64, Option<String>) -> Result<(Vec<Element>, Option<String>), String>,
    ) -> Result<Vec<Element>, String> {
        let (whole, _) = ask(-1, None)?;
        if !self.paged {
            return Ok(whole);
        }
        let mut paged = Vec::new();
        let mut page = Some(String::new());
        while page.is_some() {
            let (part, next) = ask(2, page)?;
            paged.extend(part);
            page = next;
        }
        differ(&format!("{what} by pages"), &whole, &paged)?;
        Ok(whole)
    }

    fn compare(&self, what: &str, expected: &mut Vec<Element>, mut found: Vec<Element>) -> Outcome {
        found.retain(|element| self.ids.contains(&element.id()));
        expected.sort_by_key(Element::id);
        found.sort_by_key(Element::id);
        differ(what, &*expected, &found)
    }
}

/// Questions that an index on one property answers, about the values that cases are made of.
fn predicates(label: &IndexLabel) -> Vec<Predicate> {
    let values = values(label.fields[0]);
    let one = |make: fn(Value) -> Predicate| values.iter().cloned().map(make).collect::<Vec<_>>();
    match label.index_type {
        IndexType::Range => {
            let mut all = one(Predicate::Eq);
            all.extend([
                Predicate::Lt(values[1].clone()),
                Predicate::Gte(values[1].clone()),
                Predicate::Between(values[0].clone(), values[2].clone()),
            ]);
            all
        }
        _ if [TAGS, MARKS].contains(&label.fields[0]) => one(Predicate::Contains),
        _ => {
            let mut all = one(Predicate::Eq);
            all.push(Predicate::Within(values.clone()));
            all
        }
    }
}

fn values(key: PropertyKeyId) -> Vec<Value> {
    let texts = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| Value::Text((*text).to_owned()))
            .collect()
    };
    match key {
        AGE => [-1, 7, 40].map(Value::Int).to_vec(),
        WEIGHT => [-1.5, 0.25, f64::INFINITY].map(Value::Double).to_vec(),
        MARKS => [1, 2, 3].map(Value::Int).to_vec(),
        TAGS => texts(&["p", "q", "r"]),
        CITY => texts(&["Rome", "Oslo", varve_testkit::generate::LONG_TEXT]),
        _ => Vec::new(),
    }
}
