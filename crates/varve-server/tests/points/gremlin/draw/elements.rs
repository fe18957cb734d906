//! Steps from vertices, edges and their properties.

use super::{Draw, Flow, Of};
use crate::gremlin::step::{Argument, Step, Steps};
use crate::gremlin::value::Value;

const WAYS: [&str; 3] = ["OUT", "IN", "BOTH"];

impl Draw<'_> {
    fn edge_labels(&mut self) -> Vec<&'static str> {
        match self.random.below(3) {
            0 => vec!["knows"],
            1 => vec!["created", "wrote"],
            _ => Vec::new(),
        }
    }

    pub(super) fn of_vertex(&mut self, depth: usize, steps: &mut Steps) -> Flow {
        let (step, flow) = match self.random.below(23) {
            0..=6 => {
                let step = match self.random.below(5) {
                    0 => Step::new("to").with(Argument::Word(self.pick(&WAYS))),
                    _ => Step::new(self.pick(&["out", "in", "both"])),
                };
                (step.with_all(self.edge_labels()), Flow::Vertex)
            }
            7..=10 => {
                let step = match self.random.below(4) {
                    0 => Step::new("toE").with(Argument::Word(self.pick(&WAYS))),
                    _ => Step::new(self.pick(&["outE", "inE", "bothE"])),
                };
                (step.with_all(self.edge_labels()), Flow::Walked)
            }
            11 => (Step::new("id"), Flow::Long),
            12 => (self.has_label("person", "software"), Flow::Vertex),
            13 => {
                let id = self.number(6);
                let step = match self.random.below(3) {
                    0 => Step::new("hasId").with_all([id, id + 2]),
                    1 => Step::new("has").with(Argument::Word("T.id")).with(id),
                    _ => Step::new("hasId").with(self.number_test()),
                };
                (step, Flow::Vertex)
            }
            14 => {
                let step = Step::new("has").with("person").with("age");
                (step.with(self.number_test()), Flow::Vertex)
            }
            15 if depth == 0 => (Step::new("V").with(self.number(6)), Flow::Vertex),
            16 => {
                let step = Step::new("math").with("_ * 2");
                (step.by("age"), Flow::Double)
            }
            17 => return self.of_edge_lists(steps),
            _ => return self.of_element(Flow::Vertex, steps),
        };
        steps.push(step);
        flow
    }

    fn has_label(&mut self, one: &'static str, other: &'static str) -> Step {
        match self.random.below(4) {
            0 => Step::new("hasLabel").with(one),
            1 => Step::new("hasLabel").with(one).with(other),
            2 => Step::new("hasLabel").with(self.text_test()),
            _ => Step::new("has").with(Argument::Word("T.label")).with(one),
        }
    }

    pub(super) fn of_edge(&mut self, flow: Flow, steps: &mut Steps) -> Flow {
        let (step, flow) = match self.random.below(10) {
            0 => (self.has_label("knows", "wrote"), flow),
            1 => (Step::new("bothV"), Flow::Vertex),
            2 | 3 => (Step::new("inV"), Flow::Vertex),
            4 => (Step::new("outV"), Flow::Vertex),
            5 => {
                let way = Argument::Word(self.pick(&WAYS));
                (Step::new("toV").with(way), Flow::Vertex)
            }
            6 if flow == Flow::Walked => (Step::new("otherV"), Flow::Vertex),
            7 if self.random.one_in(3) => (Step::new("id"), Flow::Any),
            7 => return self.of_property_map(steps),
            _ => return self.of_element(flow, steps),
        };
        steps.push(step);
        flow
    }

    /// A property out of a map: two edges have equal ones, and each leads back to its edge.
    fn of_property_map(&mut self, steps: &mut Steps) -> Flow {
        let key = self.pick(&["age", "name"]);
        self.walks = false;
        steps.push(Step::new("propertyMap"));
        if self.random.one_in(2) {
            steps.push(Step::new("barrier"));
        }
        steps.push(Step::new("select").with(key));
        match self.random.below(2) {
            0 => Flow::EdgeProperty,
            _ => {
                steps.push(Step::new("element"));
                Flow::Edge
            }
        }
    }

    /// Edges out of lists: each leads back to the vertex that it was reached from.
    fn of_edge_lists(&mut self, steps: &mut Steps) -> Flow {
        let edges = Step::new(self.pick(&["outE", "inE", "bothE"]));
        let edges = edges.with_all(self.edge_labels());
        self.walks = false;
        steps.push(Step::new("map").with(vec![edges, Step::new("fold")]));
        if self.random.one_in(2) {
            steps.push(Step::new("barrier"));
        }
        steps.push(Step::new("unfold"));
        Flow::Walked
    }

    /// Steps of vertices and edges.
    fn of_element(&mut self, flow: Flow, steps: &mut Steps) -> Flow {
        let key = self.pick(&["age", "name"]);
        let property = match flow {
            Flow::Vertex => Flow::VertexProperty,
            _ => Flow::EdgeProperty,
        };
        let (step, flow) = match self.random.below(15) {
            0 | 1 => (Step::new("has").with("age").with(self.number_test()), flow),
            2 => (Step::new("has").with("name").with(self.text_test()), flow),
            3 => {
                let test = Step::new("is").with(self.number_test());
                (Step::new("has").with("age").with(test), flow)
            }
            4 => (Step::new("has").with(key), flow),
            5 => (Step::new("hasNot").with(key), flow),
            6 => (Step::new("label"), Flow::Text),
            7 => (Step::new("values").with("age"), Flow::Int),
            8 => (Step::new("values").with("name"), Flow::Text),
            9 => (
                Step::new("values").with_all(["age", "name", "no"]),
                Flow::Any,
            ),
            10 => (Step::new("properties"), property),
            11 => (Step::new("properties").with(key), property),
            12 => (self.map_of(), Flow::Map),
            13 => {
                let step = Step::new("project").with_all(["a", "b"]).by("age");
                let degree = vec![Step::new("label"), Step::new("fold")];
                (step.by(Argument::Child(degree)), Flow::Map)
            }
            _ => {
                let text = self.pick(&["%{name}: %{age}", "<%{_}>"]);
                let step = Step::new("format").with(text);
                let step = if text == "<%{_}>" {
                    step.by("name")
                } else {
                    step
                };
                (step, Flow::Text)
            }
        };
        steps.push(step);
        flow
    }

    fn map_of(&mut self) -> Step {
        let step = Step::new(self.pick(&["valueMap", "propertyMap", "elementMap"]));
        let tokens = match step.name {
            "valueMap" => self.random.below(3),
            _ => 0,
        };
        let step = match tokens {
            1 => step.with(Argument::Word("true")),
            _ => step,
        };
        let keys = match self.random.below(3) {
            0 => vec!["age"],
            1 => vec!["name", "no"],
            _ => Vec::new(),
        };
        let step = step.with_all(keys);
        match tokens {
            2 => step.then(Step::new("with").with(Argument::Word("WithOptions.tokens"))),
            _ => step,
        }
    }

    pub(super) fn of_property(&mut self, flow: Flow, steps: &mut Steps) -> Flow {
        let is_of_vertex = flow == Flow::VertexProperty;
        let (step, flow) = match self.random.below(8) {
            0 => (Step::new("hasKey").with("age"), flow),
            1 => (Step::new("hasKey").with(self.text_test()), flow),
            2 => (Step::new("hasValue").with(self.number_test()), flow),
            3 => (Step::new("hasValue").with("ann").with(Value::Int(2)), flow),
            4 => (Step::new("key"), Flow::Text),
            5 => (Step::new("value"), Flow::Any),
            6 if is_of_vertex => (Step::new("element"), Flow::Vertex),
            6 => (Step::new("element"), Flow::Edge),
            _ if is_of_vertex => {
                let step = Step::new(self.pick(&["id", "label"]));
                (step, Flow::Text)
            }
            _ => (Step::new("hasKey").with_all(["age", "name"]), flow),
        };
        steps.push(step);
        flow
    }

    pub(super) fn of_map(&mut self, steps: &mut Steps) -> Flow {
        let (step, flow) = match self.random.below(5) {
            0 => {
                let step = Step::new("select").with(Argument::Word("keys"));
                (step, Flow::Bag(Of::Other))
            }
            1 => {
                let step = Step::new("select").with(Argument::Word("values"));
                (step, Flow::Bag(Of::Other))
            }
            2 => (Step::new("unfold"), Flow::Entry),
            3 => (Step::new("select").with("age"), Flow::Any),
            _ => (Step::new("count").with(Argument::Word("local")), Flow::Long),
        };
        steps.push(step);
        flow
    }

    pub(super) fn of_path(&mut self, steps: &mut Steps) -> Flow {
        let (step, flow) = match self.random.below(4) {
            0 => (Step::new("unfold"), Flow::Any),
            1 => {
                let step = Step::new("select").with(Argument::Word("values"));
                (step, Flow::Sorted(Of::Other))
            }
            2 => {
                let step = Step::new("select").with(Argument::Word("keys"));
                (step, Flow::Any)
            }
            _ => (Step::new("count").with(Argument::Word("local")), Flow::Long),
        };
        steps.push(step);
        flow
    }
}
