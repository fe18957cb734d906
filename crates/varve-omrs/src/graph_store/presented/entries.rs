//! The index entries that name the instances with a value of a presented property.

use std::collections::BTreeSet;

use varve_encoding::index::{put_ordered, put_ordered_text};
use varve_graph::schema::{Entries, PresentedLabel};
use varve_model::Value;

use super::{InstancePresenter, header};
use crate::graph_store::indexes::{IndexKind, classified_first, level_first, named_first};
use crate::graph_store::read::vertex_of;
use crate::graph_store::rules::{ANY, TypeRules, is_single};
use crate::store::Subject;
use crate::types::TypeDefCategory;

/// The bytes with which the keys of a value's entries begin; `None` for values that are compared
/// in other ways than their entries.
fn prefix_of(wanted: &Value) -> Option<Vec<u8>> {
    let mut prefix = Vec::new();
    match wanted {
        Value::Text(text) => put_ordered_text(text, &mut prefix),
        Value::Boolean(_) => put_ordered(Some(wanted), &mut prefix),
        _ => return None,
    }
    Some(prefix)
}

impl InstancePresenter {
    /// The entries of the instances of these labels (none = all) whose property `name` equals
    /// `wanted`.
    pub(super) fn entries_equal(
        &self,
        labels: &[PresentedLabel],
        is_vertices: bool,
        name: &str,
        wanted: &Value,
    ) -> Option<Vec<Entries>> {
        let subject = match is_vertices {
            true => Subject::Entities,
            false => Subject::Relationships,
        };
        if name == header::GUID {
            return entries_of_guid(subject, wanted);
        }
        let prefix = prefix_of(wanted)?;
        if let Some(property) = name.strip_prefix("__") {
            return self.entries_of_property(labels, subject, property, prefix);
        }
        match name.split_once('.') {
            Some((classification, property)) if is_vertices => {
                self.entries_of_classified(classification, property, prefix)
            }
            None if !name.starts_with('_') => {
                self.entries_of_property(labels, subject, name, prefix)
            }
            _ => None,
        }
    }

    /// The entries of a type's property, and the proxies, which have no entries of properties.
    fn entries_of_property(
        &self,
        labels: &[PresentedLabel],
        subject: Subject,
        property: &str,
        prefix: Vec<u8>,
    ) -> Option<Vec<Entries>> {
        let labels: BTreeSet<u32> = labels.iter().map(number_of).collect();
        let (rules, types) = match subject {
            Subject::Entities => (&self.rules.entities, &self.entities),
            Subject::Relationships => (&self.rules.relationships, &self.relationships),
        };
        // Instances of removed types may have the value, too.
        let is_known = |label: &u32| types.contains_key(label) && rules.contains_key(label);
        let are_known = match labels.is_empty() {
            true => types.keys().chain(rules.keys()).all(is_known),
            false => labels.iter().all(is_known),
        };
        if !are_known {
            return None;
        }
        let (mut firsts, mut proxies) = (BTreeSet::new(), BTreeSet::new());
        for (label, of) in types {
            let Some(rules) = rules.get(label) else {
                continue;
            };
            let Some(at) = self.first_level(&labels, rules) else {
                continue;
            };
            proxies.insert(level_first(rules.levels[at], None));
            let known = self.types.get(*of).property(property);
            let def = known.and_then(|known| known.attribute.type_def());
            let Some(def) = def else { continue };
            // Only single values have entries, and those of big numbers are numbers.
            let rule = rules.property(property);
            let rule = rule.filter(|rule| is_single(def) && !rule.big)?;
            let level = rules.levels.get(at.max(rule.from as usize))?;
            firsts.insert(level_first(*level, Some(rule.number)));
        }
        let derived = |kind: IndexKind, firsts: BTreeSet<Vec<u8>>, prefix| Entries::Derived {
            index: kind.number(subject),
            firsts: firsts.into_iter().collect(),
            prefix,
        };
        let mut entries = vec![derived(IndexKind::Property, firsts, prefix)];
        if subject == Subject::Entities {
            entries.push(derived(IndexKind::Proxy, proxies, Vec::new()));
        }
        Some(entries)
    }

    /// The position in a type's levels of the first one that lists only instances of the labels
    /// (none = all); `None` if the type is not among them.
    fn first_level(&self, labels: &BTreeSet<u32>, rules: &TypeRules) -> Option<usize> {
        let has = |level: &u32| match *level {
            ANY => labels.is_empty() || labels.contains(&self.rules.root),
            level => labels.contains(&level),
        };
        rules.levels.iter().position(has)
    }

    /// The entries of a classification's property; proxies have them, too.
    fn entries_of_classified(
        &self,
        classification: &str,
        property: &str,
        prefix: Vec<u8>,
    ) -> Option<Vec<Entries>> {
        let of = self.types.get(self.types.by_name(classification)?);
        if of.def().category() != TypeDefCategory::Classification {
            return None;
        }
        let rules = self.rules.classifications.get(classification)?;
        let rule = rules.property(property).filter(|rule| !rule.big)?;
        Some(vec![Entries::Derived {
            index: IndexKind::ClassifiedProperty.number(Subject::Entities),
            firsts: vec![classified_first(classification, rule.number)],
            prefix,
        }])
    }
}

fn number_of(label: &PresentedLabel) -> u32 {
    match label {
        PresentedLabel::Vertex(label) => label.0,
        PresentedLabel::Edge(label) => label.0,
    }
}

/// The entries of the instance with this GUID.
fn entries_of_guid(subject: Subject, wanted: &Value) -> Option<Vec<Entries>> {
    let Value::Text(guid) = wanted else {
        return None;
    };
    Some(vec![match subject {
        Subject::Entities => Entries::Vertex(vertex_of(guid)),
        Subject::Relationships => Entries::Derived {
            index: IndexKind::Relationship.number(subject),
            firsts: vec![named_first(guid)],
            prefix: Vec::new(),
        },
    }])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use varve_model::{PropertyKeyId, VertexLabelId};

    use super::*;
    use crate::graph_store::rules::Rules;
    use crate::graph_store::state::Keys;
    use crate::types::Catalogue;

    #[test]
    fn entries_serve_only_labels_that_are_known() {
        let types = Arc::new(Catalogue::built_in());
        let of = |name: &str| types.by_name(name).expect("a type");
        let labels = [(of("Database"), 7), (of("GlossaryTerm"), 8)];
        let rules = Rules::of(&types, &labels.into_iter().collect(), &Rules::default());
        let mut presenter = InstancePresenter {
            types: Arc::clone(&types),
            rules: Arc::new(rules),
            keys: Keys {
                header: 1,
                properties: 2,
                classifications: 3,
            },
            parts: [1, 2, 3].map(PropertyKeyId),
            header: [PropertyKeyId(1)],
            entities: labels.map(|(of, label)| (label, of)).into_iter().collect(),
            relationships: [].into_iter().collect(),
            is_complete: Arc::default(),
        };
        let served = |presenter: &InstancePresenter, labels: &[u32]| {
            let labels = labels.iter().map(|label| VertexLabelId(*label));
            let labels: Vec<_> = labels.map(PresentedLabel::Vertex).collect();
            let wanted = Value::Text("x".to_owned());
            let entries = presenter.entries_equal(&labels, true, "qualifiedName", &wanted);
            entries.is_some()
        };
        assert!(served(&presenter, &[]) && served(&presenter, &[7, 8]));
        assert!(!served(&presenter, &[7, 9]));
        presenter.entities.remove(&8);
        assert!(!served(&presenter, &[]) && !served(&presenter, &[8]));
        assert!(served(&presenter, &[7]));
        presenter.entities.insert(8, of("GlossaryTerm"));
        presenter.entities.insert(9, of("GlossaryTerm"));
        assert!(!served(&presenter, &[]) && !served(&presenter, &[9]));
        assert!(served(&presenter, &[7, 8]));
    }
}
