//! Unique indexes: from now on, no two elements may have the same values at the same instant.

use varve_kv::{Flow, Reader};
use varve_model::{CommitVersion, ElementId, IndexLabel, Instant, Period, PropertyKeyId};

use super::emit::unique_entries;
use super::keys::read_latch;
use super::working::{Outcome, WorkingSet, read_current, resolve_at};
use crate::commit::{LatchKey, LatchSet};
use crate::element::text::of_value_short;
use crate::error::{ErrorKind, GraphError};
use crate::hash::IdMap;
use crate::index::holders;
use crate::read::scan_events;
use crate::rows::{decode_element, sides};

/// The result of a claim.
pub(super) enum Claim {
    /// All values are claimed; the commit continues with these latches.
    Held(LatchSet),
    /// Another commit holds a latch. These are the latches held so far, and that one.
    Taken(Vec<LatchKey>),
}

impl WorkingSet<'_> {
    /// Latches the unique values of every new state and checks that no other element has them at
    /// any instant of the period from now on. The past is not checked, since uniqueness does not
    /// apply to it. Other holders are latched before they are read, until the commit ends:
    /// otherwise their rows could move between two reads.
    pub(super) fn claim_unique(&self, mut latches: LatchSet) -> Result<Claim, GraphError> {
        let mut claimed: IdMap<Vec<u8>, Vec<(usize, Period)>> = IdMap::default();
        for (at, working) in self.elements.iter().enumerate() {
            for (written, content) in working.states() {
                let mut period = self.span(written);
                period.from = period.from.max(self.now);
                if period.to <= self.now {
                    continue;
                }
                let indexes = self.labels.of(&working.id, content)?.indexes;
                for (label, entry) in unique_entries(indexes, &working.id, content)? {
                    let latch = LatchKey::exclusive(&entry.partition);
                    if !latches.try_add(latch) {
                        return Ok(taken(&latches, latch));
                    }
                    let others = claimed.entry(entry.partition.clone()).or_default();
                    let claims = others.iter();
                    let claimed_by = claims
                        .filter(|(other, its)| *other != at && its.overlaps(period))
                        .map(|(other, _)| (*self.elements[*other].id).clone())
                        .next();
                    others.push((at, period));
                    let mut holders = holders(self.reader, &entry.partition)?;
                    holders.retain(|holder| *holder != *working.id);
                    let mut needed = holders.iter().map(read_latch);
                    if let Some(latch) = needed.find(|latch| !latches.try_hold(*latch)) {
                        return Ok(taken(&latches, latch));
                    }
                    let holder = match claimed_by {
                        Some(other) => Some(other),
                        None => self.holder(holders, &entry.partition, period)?,
                    };
                    if let Some(holder) = holder {
                        return Err(self.conflict((&working.id, content), &label, &holder)?);
                    }
                }
            }
        }
        Ok(Claim::Held(latches))
    }

    /// The first of these elements that has the unique values of a partition at any instant of
    /// `period`.
    fn holder(
        &self,
        holders: Vec<ElementId>,
        partition: &[u8],
        period: Period,
    ) -> Result<Option<ElementId>, GraphError> {
        for holder in holders {
            if self.still_holds(&holder, partition, period)? {
                return Ok(Some(holder));
            }
        }
        Ok(None)
    }

    /// The error for an element whose unique values `holder` has. It names the holder only to
    /// writers without a policy: others may not see it.
    fn conflict(
        &self,
        (id, content): (&ElementId, &[u8]),
        label: &IndexLabel,
        holder: &ElementId,
    ) -> Result<GraphError, GraphError> {
        let element = decode_element(id, content)?;
        let definition = self.schema.definition_of(label.id);
        let shown = |key: &PropertyKeyId| {
            let name = self.schema.property_key_name(*key);
            let value = element.properties().get(*key).map(of_value_short);
            let value = value.unwrap_or_default();
            match definition {
                None => format!("{name}={value}"),
                Some(_) => format!("`{name}` = {value}"),
            }
        };
        let values: Vec<String> = label.fields.iter().map(shown).collect();
        let holder = self.access().is_none().then_some(holder);
        let by = holder.map_or_else(|| "another element".to_owned(), in_message);
        let name = self.schema.told_name(label);
        let how = match definition {
            None => format!("{} belongs to {by}", values.join(", ")),
            // Neo4j's clients look for these words.
            Some(definition) => {
                let word = match definition.of.is_of_edges {
                    true => "type",
                    false => "label",
                };
                let (of, values) = (&definition.of.label, values.join(", "));
                format!("{by} already exists with {word} `{of}` and property {values}")
            }
        };
        Ok(GraphError::new(
            ErrorKind::Unique,
            format!(
                "Unique constraint {name}(id={}) conflict is found for {}: {how}",
                label.id,
                in_message(id),
            ),
        ))
    }

    /// Whether `holder`, which is latched, has the unique values of a partition at any instant of
    /// `period`. States that this request writes to `holder` are left out: they are claims of their
    /// own.
    fn still_holds(
        &self,
        holder: &ElementId,
        partition: &[u8],
        period: Period,
    ) -> Result<bool, GraphError> {
        let has = |content: &[u8]| -> Result<bool, GraphError> {
            let own = unique_entries(self.labels.of(holder, content)?.indexes, holder, content)?;
            Ok(own.iter().any(|(_, entry)| entry.partition == partition))
        };
        let written = self.working_of(holder);
        let written = written.filter(|it| !matches!(it.outcome, Outcome::Untouched));
        let written = written.map(|it| self.span(it.period));
        let mut instants = changes_of(self.reader, holder, period)?;
        let end = written.map(|written| written.to);
        instants.extend(end.filter(|end| period.covers(*end)));
        for instant in instants {
            if written.is_some_and(|written| written.covers(instant)) {
                continue;
            }
            if let Some(resolved) = resolve_at(self.reader, holder, instant)?
                && has(&resolved.content)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn taken(held: &LatchSet, latch: LatchKey) -> Claim {
    Claim::Taken([held.held(), &[latch]].concat())
}

fn in_message(id: &ElementId) -> String {
    match id {
        ElementId::Vertex(id) => format!("v[{id}]"),
        ElementId::Edge(id) => format!("e[{id}]"),
    }
}

/// Returns the instants of a period at which the state of an element may change, including the
/// start.
fn changes_of(
    state: &dyn Reader,
    id: &ElementId,
    period: Period,
) -> Result<Vec<Instant>, GraphError> {
    let Period { from, to } = period;
    let mut instants = vec![from];
    let mut add = |period: Period| {
        for instant in [period.from, period.to] {
            if from < instant && instant < to {
                instants.push(instant);
            }
        }
    };
    if let Some(current) = read_current(state, id)? {
        add(current.header.period());
    }
    let (_, sides) = sides(id);
    let (side, newest) = (&sides[0], CommitVersion::MAX);
    scan_events(
        state,
        &side.partition,
        &side.clustering,
        newest,
        &mut |header, _| {
            add(header.period());
            Flow::Continue(())
        },
    )?;
    instants.sort_unstable();
    instants.dedup();
    Ok(instants)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::Latches;

    #[test]
    fn a_claim_that_is_repeated_latches_what_it_had_and_what_was_taken() {
        let [own, value, one, other] =
            [b"own", b"val", b"one", b"oth"].map(|name| LatchKey::exclusive(name));
        let table = Latches::new();
        let mut held = table.acquire(vec![own]).expect("free");
        assert!(held.try_add(value) && held.try_hold(one));
        let Claim::Taken(mut needed) = taken(&held, other) else {
            panic!("it is taken");
        };
        drop(held);
        let _other = table.acquire(vec![other]).expect("free");
        needed.pop();
        let _again = table.acquire(needed).expect("free");
        for latch in [own, value, one] {
            assert!(table.try_acquire(vec![latch]).is_none());
        }
    }
}
