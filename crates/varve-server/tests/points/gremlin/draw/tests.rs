//! Predicates of numbers and texts.

use super::Draw;
use crate::gremlin::step::Test;
use crate::gremlin::value::Value;
use crate::history::NAMES;

impl Draw<'_> {
    /// A predicate of small numbers, at times joined to another one.
    pub(super) fn number_test(&mut self) -> Test {
        let first = self.one_number_test();
        self.joined(first, Self::one_number_test)
    }

    /// A predicate of texts.
    pub(super) fn text_test(&mut self) -> Test {
        let first = self.one_text_test();
        self.joined(first, Self::one_text_test)
    }

    fn joined(&mut self, first: Test, another: fn(&mut Self) -> Test) -> Test {
        match self.random.below(8) {
            0 => Test::And(Box::new(first), Box::new(another(self))),
            1 => Test::Or(Box::new(first), Box::new(another(self))),
            2 => Test::Not(Box::new(first)),
            _ => first,
        }
    }

    fn one_number_test(&mut self) -> Test {
        let n = self.number(5) - 1;
        let n = |add: i64| match self.random.below(6) {
            0 => Value::Long(n + add),
            1 => Value::Double((n + add) as f64),
            2 => Value::Double((n + add) as f64 + 0.5),
            _ => Value::Int(n + add),
        };
        let mut n = n;
        let values = vec![n(0), n(2)];
        match self.random.below(12) {
            0 | 1 => Test::Is("eq", values[..1].to_vec()),
            2 => Test::Is("neq", values[..1].to_vec()),
            3 => Test::Is("gt", values[..1].to_vec()),
            4 => Test::Is("gte", values[..1].to_vec()),
            5 => Test::Is("lt", values[..1].to_vec()),
            6 => Test::Is("lte", values[..1].to_vec()),
            7 => Test::Is("inside", values),
            8 => Test::Is("outside", values),
            9 => Test::Is("between", values),
            10 => Test::Is("within", values),
            _ => Test::Is("without", values),
        }
    }

    fn one_text_test(&mut self) -> Test {
        let name = Value::text;
        let whole = self.pick(&NAMES);
        let part = self.pick(&["a", "b", "n", "y", " ", "o", "knows", "so"]);
        match self.random.below(14) {
            0 => Test::Is("eq", vec![name(whole)]),
            1 => Test::Is("neq", vec![name(whole)]),
            2 => Test::Is("within", vec![name(whole), name("ann")]),
            3 => Test::Is("without", vec![name(whole), name("knows")]),
            4 => Test::Is("startingWith", vec![name(part)]),
            5 => Test::Is("notStartingWith", vec![name(part)]),
            6 => Test::Is("endingWith", vec![name(part)]),
            7 => Test::Is("notEndingWith", vec![name(part)]),
            8 => Test::Is("containing", vec![name(part)]),
            9 => Test::Is("notContaining", vec![name(part)]),
            10 => Test::Is("regex", vec![name("^[a-m]")]),
            11 => Test::Is("notRegex", vec![name("^[a-m]")]),
            12 => Test::Is("gte", vec![name(whole)]),
            _ => Test::Is("between", vec![name("b"), name("d")]),
        }
    }

    /// What type a value has.
    pub(super) fn type_test(&mut self) -> Test {
        let types = ["INT", "LONG", "STRING", "VERTEX", "EDGE", "LIST", "MAP"];
        Test::Is("typeOf", vec![Value::text(self.pick(&types))])
    }
}
