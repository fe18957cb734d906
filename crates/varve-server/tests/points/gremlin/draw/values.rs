//! Steps of numbers, texts, dates and lists.

use super::{Draw, Flow, Of};
use crate::gremlin::step::{Argument, Step, Steps, Test};
use crate::gremlin::value::{DAY, SOME_DAY, Value};

const LOCAL: Argument = Argument::Word("local");

impl Draw<'_> {
    pub(super) fn of_number(&mut self, flow: Flow, steps: &mut Steps) -> Flow {
        let (step, flow) = match self.random.below(12) {
            0..=2 => (Step::new("is").with(self.number_test()), flow),
            3 => (Step::new("filter").with(self.number_test()), flow),
            4 | 5 => {
                let text = self.pick(&["_ * 2", "_ + 1", "1 - _", "_ / 2", "_ + _"]);
                (Step::new("math").with(text), Flow::Double)
            }
            6 => (Step::new("asString"), Flow::Text),
            7 => {
                let (kind, flow) = self.pick(&[
                    ("GType.INT", Flow::Int),
                    ("GType.LONG", Flow::Long),
                    ("GType.DOUBLE", Flow::Double),
                ]);
                (Step::new("asNumber").with(Argument::Word(kind)), flow)
            }
            8 => (Step::new("asBool"), Flow::Bool),
            9 if flow != Flow::Double => (Step::new("asDate"), Flow::Date),
            10 => (Step::new("is").with(self.type_test()), flow),
            _ => (Step::new("constant").with(7), Flow::Int),
        };
        steps.push(step);
        flow
    }

    pub(super) fn of_text(&mut self, steps: &mut Steps) -> Flow {
        let (step, flow) = match self.random.below(14) {
            0 | 1 => (Step::new("is").with(self.text_test()), Flow::Text),
            2 => (Step::new("length"), Flow::Int),
            3 | 4 => {
                let names = ["toUpper", "toLower", "trim", "lTrim", "rTrim", "reverse"];
                (Step::new(self.pick(&names)), Flow::Text)
            }
            5 => (Step::new("concat").with_all(["-", "x"]), Flow::Text),
            6 => {
                // One that gives nothing would be refused.
                let child = vec![Step::new("length"), Step::new("asString")];
                (Step::new("concat").with(child), Flow::Text)
            }
            7 => {
                let with = self.pick(&["mm", "", "o"]);
                (Step::new("replace").with("n").with(with), Flow::Text)
            }
            8 | 9 => {
                let from = self.number(6) - 3;
                let step = Step::new("substring").with(from);
                let step = match self.random.below(2) {
                    0 => step.with(self.number(6) - 2),
                    _ => step,
                };
                (step, Flow::Text)
            }
            10 => (Step::new("split").with(""), Flow::Sorted(Of::Text)),
            11 => {
                steps.push(Step::new("concat").with("-x"));
                (Step::new("split").with("-"), Flow::Sorted(Of::Text))
            }
            12 => {
                let step = Step::new("format").with("<%{_}>");
                (step.then(Step::new("by")), Flow::Text)
            }
            _ => (Step::new("asString"), Flow::Text),
        };
        steps.push(step);
        flow
    }

    pub(super) fn of_date(&mut self, steps: &mut Steps) -> Flow {
        let (step, flow) = match self.random.below(6) {
            0 | 1 => {
                let unit = self.pick(&["DT.second", "DT.minute", "DT.hour", "DT.day"]);
                let step = Step::new("dateAdd").with(Argument::Word(unit));
                (step.with(self.number(40) - 20), Flow::Date)
            }
            2 => {
                let day = Value::Date(SOME_DAY + DAY * self.number(3));
                (Step::new("dateDiff").with(day), Flow::Any)
            }
            3 => {
                let day = Value::Date(SOME_DAY);
                let child = Step::new("constant").with(day);
                (Step::new("dateDiff").with(child), Flow::Any)
            }
            4 => {
                let day = Value::Date(SOME_DAY);
                let name = self.pick(&["lt", "gte", "neq"]);
                (Step::new("is").with(Test::Is(name, vec![day])), Flow::Date)
            }
            _ => (Step::new("asNumber"), Flow::Any),
        };
        steps.push(step);
        flow
    }

    /// A literal list of what a list holds.
    fn literal(&mut self, of: Of) -> Value {
        Value::List(match of {
            Of::Int => vec![Value::Int(1), Value::Int(self.number(4)), Value::Int(9)],
            _ => ["ann", "x", "n"].map(Value::text).to_vec(),
        })
    }

    /// Steps whose result does not depend on the order of a list.
    pub(super) fn of_list(&mut self, flow: Flow, of: Of, steps: &mut Steps) -> Flow {
        let each = match of {
            Of::Int => Flow::Int,
            Of::Text => Flow::Text,
            Of::Pair | Of::Other => Flow::Any,
        };
        let (step, flow) = match (self.random.below(10), of) {
            (0, _) => (Step::new("count").with(LOCAL), Flow::Long),
            (1, _) => (Step::new("unfold"), each),
            (2, _) => (Step::new("dedup").with(LOCAL), Flow::Bag(of)),
            (3, Of::Int) => {
                let name = self.pick(&["sum", "mean"]);
                let flow = if name == "sum" {
                    Flow::Int
                } else {
                    Flow::Double
                };
                (Step::new(name).with(LOCAL), flow)
            }
            (4, Of::Int | Of::Text) => {
                let name = self.pick(&["min", "max"]);
                (Step::new(name).with(LOCAL), each)
            }
            (5, Of::Int | Of::Text) => {
                let order = Step::new("order").with(LOCAL);
                let down = Argument::Word(self.pick(&["desc", "asc"]));
                (order.by(down), Flow::Sorted(of))
            }
            (6 | 7, _) => {
                let names = ["combine", "merge", "intersect", "difference", "disjunct"];
                let step = Step::new(self.pick(&names));
                let literal = self.literal(of);
                let step = match self.random.below(2) {
                    0 => step.with(literal),
                    _ => step.with(Step::new("constant").with(literal)),
                };
                (step, Flow::Bag(of))
            }
            (8, _) => {
                let step = Step::new("product").with(self.literal(of));
                (step, Flow::Bag(Of::Other))
            }
            (_, Of::Int) => {
                let step = Step::new(self.pick(&["all", "any", "none"]));
                (step.with(self.number_test()), flow)
            }
            (_, Of::Text) => {
                let step = Step::new(self.pick(&["all", "any", "none"]));
                (step.with(self.text_test()), flow)
            }
            (_, Of::Pair | Of::Other) => {
                let step = Step::new(self.pick(&["all", "any", "none"]));
                (step.with(self.type_test()), flow)
            }
        };
        steps.push(step);
        flow
    }

    /// Steps of a list whose order is known.
    pub(super) fn of_sorted(&mut self, of: Of, steps: &mut Steps) -> Flow {
        let sorted = Flow::Sorted(of);
        let (step, flow) = match (self.random.below(9), of) {
            (0, _) => (Step::new("limit").with(LOCAL).with(self.number(3)), sorted),
            (1, _) => (Step::new("skip").with(LOCAL).with(self.number(3)), sorted),
            (2, _) => (Step::new("tail").with(LOCAL).with(self.number(3)), sorted),
            (3, _) => {
                let step = Step::new("range").with(LOCAL).with(1);
                (step.with(1 + self.number(3)), sorted)
            }
            (4, _) => (Step::new("reverse"), sorted),
            (5, Of::Int | Of::Text) => (Step::new("index"), Flow::Sorted(Of::Pair)),
            (5, _) => (Step::new("index"), Flow::Sorted(Of::Other)),
            (6, _) => {
                let map = Argument::Word("WithOptions.map");
                let indexer = Argument::Word("WithOptions.indexer");
                let with = Step::new("with").with(indexer).with(map);
                (Step::new("index").then(with), Flow::Any)
            }
            (7, Of::Text) => {
                let names = ["toUpper", "trim", "length", "asString"];
                let step = Step::new(self.pick(&names)).with(LOCAL);
                let of = if step.name == "length" {
                    Of::Int
                } else {
                    Of::Text
                };
                (step, Flow::Sorted(of))
            }
            (_, Of::Int | Of::Text) => (Step::new("conjoin").with("|"), Flow::Text),
            (_, Of::Pair | Of::Other) => (Step::new("count").with(LOCAL), Flow::Long),
        };
        steps.push(step);
        flow
    }

    pub(super) fn of_any(&mut self, flow: Flow, steps: &mut Steps) -> Flow {
        let (step, flow) = match self.random.below(6) {
            0 => (Step::new("is").with(self.type_test()), flow),
            1 => (Step::new("is").with(self.number_test()), flow),
            // A predicate of texts refuses all else.
            2 => {
                let texts = Test::Is("typeOf", vec![Value::text("STRING")]);
                steps.push(Step::new("is").with(texts));
                (Step::new("is").with(self.text_test()), Flow::Text)
            }
            3 => (Step::new("constant").with(Value::text("c")), Flow::Text),
            4 => {
                let day = Value::Date(SOME_DAY);
                (Step::new("constant").with(day), Flow::Date)
            }
            _ => (Step::new("count").with(LOCAL), Flow::Long),
        };
        steps.push(step);
        flow
    }
}
