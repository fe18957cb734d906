//! Unique indexes of the model.

use std::collections::BTreeSet;

use varve_model::schema::IndexType;
use varve_model::{ElementId, IndexLabel, Instant, Period, Value};

use super::super::Point;
use super::super::read::tuple;
use super::{Refusal, Work};

impl Work<'_> {
    /// Checks that at no instant of `period` two elements of a label have the same values of a
    /// unique index.
    pub(super) fn check_unique(&self, period: Period) -> Result<(), Refusal> {
        let unique = |label: &&IndexLabel| label.index_type == IndexType::Unique;
        for label in self.model.schema.index_labels.iter().filter(unique) {
            let mut written: Vec<(&ElementId, Period, Vec<Value>)> = Vec::new();
            for (id, fate) in &self.outcomes {
                for part in fate.parts(self.period) {
                    let state = part.state.as_ref();
                    let values = state.and_then(|state| tuple(label, state));
                    let from = part.period.from.max(period.from);
                    let left = Period::new(from, part.period.to);
                    written.extend(values.zip(left).map(|(values, part)| (id, part, values)));
                }
            }
            for (at, (id, part, values)) in written.iter().enumerate() {
                let twice = written[..at]
                    .iter()
                    .any(|(other, its, same)| other != id && same == values && its.overlaps(*part));
                if twice || self.is_held(label, *part, values) {
                    return Err(Refusal::Unique);
                }
            }
        }
        Ok(())
    }

    /// Whether an element that the request does not change has these values at any instant of
    /// `period`.
    fn is_held(&self, label: &IndexLabel, period: Period, values: &[Value]) -> bool {
        let events = self.model.events.iter();
        let boundaries = events.flat_map(|event| [event.period.from, event.period.to]);
        let instants: BTreeSet<Instant> = std::iter::once(period.from)
            .chain(boundaries.filter(|instant| period.covers(*instant)))
            .collect();
        instants.into_iter().any(|valid| {
            let at = Point { valid, ..self.at };
            let others = self.model.elements(at).into_iter();
            others
                .filter(|element| !self.outcomes.contains_key(&element.id()))
                .any(|other| tuple(label, &other).is_some_and(|its| its.as_slice() == values))
        })
    }
}
