//! Methods of vertices, edges and properties, each run as the equivalent traversal.

use varve_query::value::Token;
use varve_query::{QueryError, Value};

use super::environment::Item;
use super::errors::{ILLEGAL_ARGUMENT, no_such_method};
use super::{Run, Source};
use crate::tree::{Argument, Span, Step, StepName, T, Text, Traversal};

impl Run<'_> {
    /// Calls a method of an element. `None` for `toString` and `equals`, which all values have, and
    /// for an unknown method of a property.
    ///
    /// # Errors
    /// Also for an unknown method of a vertex or an edge.
    pub(super) fn element_method(
        &mut self,
        element: &Value,
        name: &Text,
        arguments: &[Item],
    ) -> Result<Option<Item>, QueryError> {
        match element {
            Value::VertexProperty(property) => {
                let owner = Value::Vertex(property.vertex.clone());
                let value = (&property.name, &property.value);
                return self.property_method(&owner, value, name, arguments);
            }
            Value::Property(property) => {
                let owner = property.owner();
                let value = (&property.name, &property.value);
                return self.property_method(&owner, value, name, arguments);
            }
            _ => {}
        }
        let is_edge = matches!(element, Value::Edge(..));
        let step = match (name.as_str(), arguments) {
            ("id", []) => StepName::Id,
            ("label", []) => StepName::Label,
            ("value", [key]) => return self.value_under(element, key.clone()).map(Some),
            ("property", [key]) => {
                let found = self.step_on(element, StepName::Properties, vec![key.clone()])?;
                let first = found.into_iter().next().unwrap_or_default();
                return Ok(Some(Item::Value(first)));
            }
            ("property", [_, ..]) => return self.set_property(element, arguments).map(Some),
            ("remove", []) => {
                self.step_on(element, StepName::Drop, Vec::new())?;
                return Ok(Some(Item::NULL));
            }
            ("keys", []) => return self.keys_of(element).map(Some),
            ("values", _) => StepName::Values,
            ("properties", _) => StepName::Properties,
            ("inVertex" | "targetVertex", []) if is_edge => StepName::InV,
            ("outVertex" | "sourceVertex", []) if is_edge => StepName::OutV,
            ("addEdge", [label, to, ..]) if !is_edge => {
                return self.add_edge(element, label, to, &arguments[2..]).map(Some);
            }
            ("vertices" | "edges", [direction, labels @ ..]) if !is_edge => {
                let step = match name.as_str() {
                    "edges" => StepName::ToE,
                    _ => StepName::To,
                };
                let given = [std::slice::from_ref(direction), labels].concat();
                let found = self.step_on(element, step, given)?;
                return Ok(Some(Item::Value(Value::list(found))));
            }
            ("toString" | "equals", _) => return Ok(None),
            _ => {
                let element = Item::Value(element.clone());
                return Err(no_such_method(&element, name, arguments));
            }
        };
        let found = self.step_on(element, step, arguments.to_vec())?;
        Ok(Some(Item::Value(match step {
            StepName::Values | StepName::Properties => Value::list(found),
            _ => found.into_iter().next().unwrap_or_default(),
        })))
    }

    /// Sets a property of an element, with its meta-properties. Returns the first property of that
    /// key, or null if there is none.
    fn set_property(&mut self, element: &Value, arguments: &[Item]) -> Result<Item, QueryError> {
        let key = match arguments {
            [Item::Argument(Argument::Cardinality(_)), key, ..] => key.clone(),
            [key, ..] => key.clone(),
            [] => Item::NULL,
        };
        self.step_on(element, StepName::Property, arguments.to_vec())?;
        let found = self.step_on(element, StepName::Properties, vec![key])?;
        let first = found.into_iter().next().unwrap_or_default();
        Ok(Item::Value(first))
    }

    fn keys_of(&mut self, element: &Value) -> Result<Item, QueryError> {
        let steps = vec![self.new_step(StepName::Properties, Vec::new())?];
        let mut steps = self.of_element(element, steps)?;
        steps.push(self.new_step(StepName::Key, Vec::new())?);
        let results = self.run_steps(steps, None)?;
        let keys = results.into_iter().map(|(key, _)| key);
        Ok(Item::Value(Value::set(keys)))
    }

    /// Evaluates `element.value(key)`; an error if the element has no such property.
    fn value_under(&mut self, element: &Value, key: Item) -> Result<Item, QueryError> {
        let name = self.name_of(key.clone())?;
        let found = self.step_on(element, StepName::Values, vec![key])?;
        found.into_iter().next().map(Item::Value).ok_or_else(|| {
            QueryError::script(
                "java.lang.IllegalStateException",
                format!(
                    "The property does not exist as the key has no associated value for the \
                     provided element: {}:{name}",
                    element.shown()
                ),
            )
        })
    }

    fn property_method(
        &mut self,
        owner: &Value,
        (key, value): (&Text, &Value),
        name: &Text,
        arguments: &[Item],
    ) -> Result<Option<Item>, QueryError> {
        Ok(Some(match (name.as_str(), arguments) {
            ("value", []) | ("orElse", [_]) => Item::Value(value.clone()),
            ("key" | "label", []) => Item::Value(Value::Text(key.clone())),
            ("element", []) => Item::Value(owner.clone()),
            ("remove", []) => {
                let key = Item::Value(Value::Text(key.clone()));
                let steps = vec![
                    self.new_step(StepName::Properties, vec![key])?,
                    self.new_step(StepName::Drop, Vec::new())?,
                ];
                let steps = self.of_element(owner, steps)?;
                self.run_steps(steps, None)?;
                Item::NULL
            }
            _ => return Ok(None),
        }))
    }

    /// The step `V(id)` or `E(id)` of an element, followed by `rest`.
    fn of_element(&mut self, element: &Value, rest: Vec<Step>) -> Result<Vec<Step>, QueryError> {
        let first = match element {
            Value::Edge(..) => StepName::E,
            _ => StepName::V,
        };
        let mut steps = vec![self.new_step(first, vec![Item::Value(element.clone())])?];
        steps.extend(rest);
        Ok(steps)
    }

    /// Runs one step on an element.
    fn step_on(
        &mut self,
        element: &Value,
        step: StepName,
        arguments: Vec<Item>,
    ) -> Result<Vec<Value>, QueryError> {
        let step = self.new_step(step, arguments)?;
        let steps = self.of_element(element, vec![step])?;
        let results = self.run_steps(steps, None)?;
        self.list_of(results)
    }

    /// Evaluates `graph.addVertex(T.label, 'person', 'name', 'marko')`.
    pub(super) fn add_vertex(
        &mut self,
        source: Source,
        arguments: Vec<Item>,
    ) -> Result<Item, QueryError> {
        let steps = self.steps_of_vertex(arguments)?;
        self.reads = (source, Vec::new());
        self.one_written(steps)
    }

    /// The steps `addV('person').property('name', 'marko')`. A single argument is the label.
    fn steps_of_vertex(&mut self, arguments: Vec<Item>) -> Result<Vec<Step>, QueryError> {
        let mut label = Vec::new();
        let mut properties = Vec::new();
        if let [only] = arguments.as_slice() {
            label.push(only.clone());
        } else {
            for (key, value) in self.pairs(arguments)? {
                match key {
                    Argument::T(T::Label) | Argument::Value(Value::Token(Token::Label)) => {
                        label.push(value);
                    }
                    key => properties.push((key, value)),
                }
            }
        }
        let mut steps = vec![self.new_step(StepName::AddV, label)?];
        for (key, value) in properties {
            steps.push(self.new_step(StepName::Property, vec![Item::Argument(key), value])?);
        }
        Ok(steps)
    }

    /// Evaluates `v.addEdge('knows', w, 'date', '2016')`.
    fn add_edge(
        &mut self,
        from: &Value,
        label: &Item,
        to: &Item,
        rest: &[Item],
    ) -> Result<Item, QueryError> {
        let steps = self.steps_of_edge(from, label, to, rest)?;
        self.one_written(steps)
    }

    /// The steps `V(v).addE('knows').to(__.V(w)).property('date', '2016')`.
    fn steps_of_edge(
        &mut self,
        from: &Value,
        label: &Item,
        to: &Item,
        rest: &[Item],
    ) -> Result<Vec<Step>, QueryError> {
        let target = self.value_of(to.clone())?;
        let Value::Vertex(_) = target else {
            return Err(QueryError::cast(&target, "Vertex"));
        };
        let target = vec![self.new_step(StepName::V, vec![Item::Value(target)])?];
        let target = Traversal::anonymous(target, Span::default());
        let target = Item::Argument(Argument::Traversal(Box::new(target)));
        let rest_steps = vec![
            self.new_step(StepName::AddE, vec![label.clone()])?,
            self.new_step(StepName::To, vec![target])?,
        ];
        let mut steps = self.of_element(from, rest_steps)?;
        for (key, value) in self.pairs(rest.to_vec())? {
            steps.push(self.new_step(StepName::Property, vec![Item::Argument(key), value])?);
        }
        Ok(steps)
    }

    /// Runs steps that write one element, and returns it; null without a result.
    fn one_written(&mut self, steps: Vec<Step>) -> Result<Item, QueryError> {
        let results = self.run_steps(steps, None)?;
        let element = results.into_iter().next().map(|(element, _)| element);
        Ok(Item::Value(element.unwrap_or_default()))
    }

    /// Pairs alternating keys and values; an error if their number is odd.
    fn pairs(&mut self, arguments: Vec<Item>) -> Result<Vec<(Argument, Item)>, QueryError> {
        if !arguments.len().is_multiple_of(2) {
            return Err(QueryError::script(
                ILLEGAL_ARGUMENT,
                "The provided key/value array length must be a multiple of two",
            ));
        }
        let mut pairs = Vec::with_capacity(arguments.len() / 2);
        let mut each = arguments.into_iter();
        while let (Some(key), Some(value)) = (each.next(), each.next()) {
            pairs.push((self.argument_of(key)?, value));
        }
        Ok(pairs)
    }

    /// Evaluates `graph.vertices(ids)`, `edges`, `vertex` and `edge`. The last two return the first
    /// element, or null.
    pub(super) fn elements_of(
        &mut self,
        source: Source,
        name: &str,
        ids: Vec<Item>,
    ) -> Result<Item, QueryError> {
        let step = match name {
            "vertices" | "vertex" => StepName::V,
            _ => StepName::E,
        };
        let steps = vec![self.new_step(step, ids)?];
        self.reads = (source, Vec::new());
        let results = self.run_steps(steps, None)?;
        let mut found = self.list_of(results)?;
        Ok(Item::Value(match name {
            "vertices" | "edges" => Value::list(found),
            _ if found.is_empty() => Value::Null,
            _ => found.swap_remove(0),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use varve_model::VertexId;
    use varve_query::value::VertexHandle;

    use super::*;
    use crate::bind::Bound;
    use crate::execute::{Environment, Host, Results};

    struct NoGraph;

    impl Host for NoGraph {
        fn run(&mut self, _: &Source, _: &Bound, _: Option<u64>) -> Result<Results, QueryError> {
            Ok(Vec::new())
        }

        fn check(&self) -> Result<(), QueryError> {
            Ok(())
        }
    }

    /// The traversal of these steps as text.
    fn shown(make: impl FnOnce(&mut Run<'_>) -> Result<Vec<Step>, QueryError>) -> String {
        let mut run = Run {
            environment: &mut Environment::default(),
            host: &mut NoGraph,
            steps: 0,
            reads: (Source::Traversal(Text::const_new("g")), Vec::new()),
        };
        match make(&mut run) {
            Ok(steps) => Traversal::anonymous(steps, Span::default()).to_string(),
            Err(error) => error.to_string(),
        }
    }

    fn vertex(id: &str) -> Value {
        Value::Vertex(Arc::new(VertexHandle::new(VertexId::Text(id.into()), None)))
    }

    #[test]
    fn a_new_vertex_is_add_v_with_its_properties() {
        let given = vec![
            Item::Argument(Argument::T(T::Label)),
            Item::text("person"),
            Item::Argument(Argument::T(T::Id)),
            Item::text("m"),
            Item::text("name"),
            Item::text("marko"),
        ];
        assert_eq!(
            shown(|run| run.steps_of_vertex(given)),
            "__.addV(person).property(T.id, m).property(name, marko)"
        );
        assert_eq!(
            shown(|run| run.steps_of_vertex(vec![Item::text("person")])),
            "__.addV(person)"
        );
        let odd = vec![Item::text("a"), Item::text("b"), Item::text("c")];
        assert_eq!(
            shown(|run| run.steps_of_vertex(odd)),
            "The provided key/value array length must be a multiple of two"
        );
    }

    #[test]
    fn a_new_edge_is_add_e_between_its_vertices() {
        let rest = [Item::text("date"), Item::text("2016")];
        let to = Item::Value(vertex("w"));
        assert_eq!(
            shown(|run| run.steps_of_edge(&vertex("v"), &Item::text("knows"), &to, &rest)),
            "__.V(v[v]).addE(knows).to(__.V(v[w])).property(date, 2016)"
        );
        let no_vertex = Item::text("w");
        assert_eq!(
            shown(|run| run.steps_of_edge(&vertex("v"), &Item::text("knows"), &no_vertex, &[])),
            "w of String cannot be cast to Vertex"
        );
    }

    #[test]
    fn a_change_of_an_element_is_a_step_on_it() {
        let change = |step, given| {
            shown(move |run| {
                let step = run.new_step(step, given)?;
                run.of_element(&vertex("v"), vec![step])
            })
        };
        let given = vec![Item::text("age"), Item::Value(Value::Int(30))];
        assert_eq!(
            change(StepName::Property, given),
            "__.V(v[v]).property(age, 30)"
        );
        assert_eq!(change(StepName::Drop, Vec::new()), "__.V(v[v]).drop()");
    }
}
