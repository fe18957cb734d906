//! Rules: the index entries of each type's instances. They are derived from the types and consist
//! of numbers, so that entries can be made without the types.
//!
//! The rules are stored with the graph, so that a program that opens the graph maintains its
//! indexes even if it does not know the types. Types are identified by their labels' ids,
//! properties by numbers that never change. A change of the types changes the rules; the entries of
//! the affected types' instances are then rebuilt.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use varve_encoding::DecodeError;
use varve_encoding::datum;
use varve_graph::GraphError;
use varve_model::Datum;

use super::encode::category_number;
use super::state::Keys;
use crate::types::{
    AttributeTypeDef, AttributeTypeKind, Catalogue, PrimitiveDefCategory, ResolvedType,
    TypeDefCategory, TypeIndex,
};

/// The level of all types. The level of a type is its label's id, which is at least 1.
pub(super) const ANY: u32 = 0;

/// The present form: which kinds of entries follow from rules. Form 1 had no entries of
/// [`Rules::has_orders_of_parts`], forms 1 and 2 no list of [`Rules::keeps_proxies_apart`], and
/// forms 1 to 3 no lists of [`Rules::keeps_deleted_apart`].
pub(super) const FORM: u32 = 4;

/// The rules of all types.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Rules {
    /// The form of the entries in the graph.
    pub(super) form: u32,
    /// The label of the root type of most entity types. The level of all types is its level.
    pub(super) root: u32,
    /// The rules of entity types, by label.
    pub(super) entities: BTreeMap<u32, TypeRules>,
    /// The rules of relationship types, by label.
    pub(super) relationships: BTreeMap<u32, TypeRules>,
    /// The rules of classifications, by name. Classifications have no labels and no levels.
    pub(super) classifications: BTreeMap<String, TypeRules>,
    /// The names of properties; the position of a name is the property's number.
    pub(super) names: Vec<String>,
}

/// The rules of one type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TypeRules {
    /// The levels that list its instances: the level of all types, then from the root down to the
    /// type itself.
    pub(super) levels: Vec<u32>,
    /// Its properties of single values, ordered by name.
    pub(super) properties: Vec<PropertyRule>,
}

/// The rule of one property of a type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PropertyRule {
    pub(super) name: String,
    /// Its number, the same in all types.
    pub(super) number: u32,
    /// The position in the type's levels of the first level whose type has the property. The level
    /// of all types counts as the root's.
    pub(super) from: u32,
    /// Whether the property's texts are the digits of big numbers, and are ordered as numbers.
    pub(super) big: bool,
}

/// The types whose instances' entries must be rebuilt.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Changed {
    /// The labels of entity types.
    pub(super) entities: Vec<u32>,
    /// The labels of relationship types.
    pub(super) relationships: Vec<u32>,
    /// The names of classifications.
    pub(super) classifications: Vec<String>,
}

impl Changed {
    pub(super) fn is_empty(&self) -> bool {
        self.entities.is_empty() && self.relationships.is_empty() && self.classifications.is_empty()
    }
}

/// Whether an attribute has single values, which can be ordered: primitives and enums.
pub(super) fn is_single(def: &AttributeTypeDef) -> bool {
    match &def.kind {
        AttributeTypeKind::Primitive(kind) => {
            !matches!(kind.category, None | Some(PrimitiveDefCategory::Unknown))
        }
        AttributeTypeKind::Enum(_) => true,
        AttributeTypeKind::Collection(_) => false,
    }
}

fn is_big(def: &AttributeTypeDef) -> bool {
    match &def.kind {
        AttributeTypeKind::Primitive(kind) => kind.category.is_some_and(is_big_category),
        _ => false,
    }
}

fn is_big_category(category: PrimitiveDefCategory) -> bool {
    let big = [
        PrimitiveDefCategory::BigInteger,
        PrimitiveDefCategory::BigDecimal,
    ];
    big.contains(&category)
}

/// Whether `category` is the stored number of a kind of big numbers.
pub(super) fn is_big_number(category: i64) -> bool {
    let big = [
        PrimitiveDefCategory::BigInteger,
        PrimitiveDefCategory::BigDecimal,
    ];
    big.map(category_number).contains(&category)
}

impl TypeRules {
    /// The rule of the property `name`.
    pub(super) fn property(&self, name: &str) -> Option<&PropertyRule> {
        let found = self
            .properties
            .binary_search_by(|rule| rule.name.as_str().cmp(name));
        found.ok().map(|at| &self.properties[at])
    }
}

impl Rules {
    /// Whether entities with a classification, and in forms 2 and 3 also DELETED instances, have
    /// entries by times and properties, not only by GUID.
    pub(super) fn has_orders_of_parts(&self) -> bool {
        self.form >= 2
    }

    /// Whether proxies have a list of their own, and are not in the lists of entities.
    pub(super) fn keeps_proxies_apart(&self) -> bool {
        self.form >= 3
    }

    /// Whether DELETED instances have orders of their own by GUID and by time, and are not in those
    /// of other instances.
    pub(super) fn keeps_deleted_apart(&self) -> bool {
        self.form >= 4
    }

    /// The same rules in form 2, the last form that listed proxies and DELETED instances among the
    /// others. Its entries for these instances include those of all other forms, except the lists
    /// of their own.
    pub(super) fn with_all_together(&self) -> Self {
        Self {
            form: 2,
            ..self.clone()
        }
    }

    /// The rules that follow from `types` with these `labels`. The numbers of properties are taken
    /// from `before`, and so are the rules of labels whose types were removed.
    pub(super) fn of(types: &Catalogue, labels: &FxHashMap<TypeIndex, u32>, before: &Self) -> Self {
        let mut rules = before.clone();
        rules.form = FORM;
        if !labels.values().any(|label| *label == before.root) {
            rules.root = main_root(types, labels);
        }
        let numbers = before.names.iter().cloned().zip(0..);
        let mut numbers: FxHashMap<String, u32> = numbers.collect();
        for (index, of) in types.types() {
            if of.def().category() == TypeDefCategory::Classification {
                let mut made = rules.of_type(types, of, labels, &mut numbers);
                made.levels.clear();
                made.properties.iter_mut().for_each(|rule| rule.from = 0);
                rules.classifications.insert(of.name().to_owned(), made);
                continue;
            }
            let Some(label) = labels.get(&index) else {
                continue;
            };
            let made = rules.of_type(types, of, labels, &mut numbers);
            if of.def().category() == TypeDefCategory::Entity {
                rules.entities.insert(*label, made);
            } else {
                rules.relationships.insert(*label, made);
            }
        }
        rules
    }

    fn of_type(
        &mut self,
        types: &Catalogue,
        of: &ResolvedType,
        labels: &FxHashMap<TypeIndex, u32>,
        numbers: &mut FxHashMap<String, u32>,
    ) -> TypeRules {
        let is_entity = of.def().category() == TypeDefCategory::Entity;
        let root = self.root;
        let label_of = |index: &TypeIndex| labels.get(index).copied().unwrap_or_default();
        let is_listed = |index: &&TypeIndex| !(is_entity && label_of(index) == root);
        let listed: Vec<TypeIndex> = of.lineage().iter().filter(is_listed).copied().collect();
        let mut levels = vec![ANY];
        levels.extend(listed.iter().map(label_of));
        let mut properties = Vec::new();
        for property in of.properties() {
            let name = property.attribute.name();
            let single = property.attribute.type_def();
            let Some(def) = single.filter(|def| is_single(def)) else {
                continue;
            };
            let has = |index: &TypeIndex| types.get(*index).property(name).is_some();
            let first = listed.iter().position(has).unwrap_or(listed.len());
            let root_has = of
                .lineage()
                .first()
                .is_some_and(|index| is_entity && label_of(index) == root && has(index));
            let from = if root_has { 0 } else { first + 1 };
            let names = &mut self.names;
            let number = *numbers.entry(name.to_owned()).or_insert_with(|| {
                names.push(name.to_owned());
                u32::try_from(names.len() - 1).unwrap_or(u32::MAX)
            });
            properties.push(PropertyRule {
                name: name.to_owned(),
                number,
                from: u32::try_from(from).unwrap_or(u32::MAX),
                big: is_big(def),
            });
        }
        TypeRules { levels, properties }
    }

    /// The labels of all entity and relationship types.
    pub(super) fn labels(&self) -> (Vec<u32>, Vec<u32>) {
        let all = |rules: &BTreeMap<u32, TypeRules>| rules.keys().copied().collect();
        (all(&self.entities), all(&self.relationships))
    }

    /// The types whose instances have other entries by `self` than by `before`. Labels without
    /// rules in `before` are left out.
    pub(super) fn changed_since(&self, before: &Self) -> Changed {
        fn changed<K: Ord + Clone>(
            now: &BTreeMap<K, TypeRules>,
            before: &BTreeMap<K, TypeRules>,
        ) -> Vec<K> {
            let differs = |(of, rules): &(&K, &TypeRules)| {
                before.get(*of).is_some_and(|before| before != *rules)
            };
            let differing = now.iter().filter(differs);
            differing.map(|(of, _)| of.clone()).collect()
        }
        // An entity from a dump may carry a classification that was not known until now. It is
        // listed by name, but has no entries of the classification's properties.
        let is_new = |(name, rules): &(&String, &TypeRules)| {
            !before.classifications.contains_key(*name) && !rules.properties.is_empty()
        };
        let mut classifications = changed(&self.classifications, &before.classifications);
        let new = self.classifications.iter().filter(is_new);
        classifications.extend(new.map(|(name, _)| name.clone()));
        Changed {
            entities: changed(&self.entities, &before.entities),
            relationships: changed(&self.relationships, &before.relationships),
            classifications,
        }
    }

    /// All entity and relationship types, to rebuild.
    pub(super) fn all(&self) -> Changed {
        let (entities, relationships) = self.labels();
        Changed {
            entities,
            relationships,
            classifications: Vec::new(),
        }
    }

    /// The labels of all types whose instances may be affected. Any entity may carry a
    /// classification.
    pub(super) fn labels_of(&self, changed: &Changed) -> (Vec<u32>, Vec<u32>) {
        let entities = if changed.classifications.is_empty() {
            changed.entities.clone()
        } else {
            self.labels().0
        };
        (entities, changed.relationships.clone())
    }

    /// The number of a property.
    pub(super) fn number_of(&self, name: &str) -> Option<u32> {
        let at = self.names.iter().position(|known| known == name)?;
        u32::try_from(at).ok()
    }

    /// Encodes the rules. `pending` has the labels whose instances' entries must still be rebuilt.
    pub(super) fn to_bytes(&self, keys: Keys, pending: &(Vec<u32>, Vec<u32>)) -> Vec<u8> {
        let number = |number: &u32| Datum::Int(i64::from(*number));
        let numbers = |all: &[u32]| Datum::List(all.iter().map(number).collect());
        let property = |rule: &PropertyRule| {
            Datum::List(vec![
                number(&rule.number),
                number(&rule.from),
                Datum::Bool(rule.big),
            ])
        };
        let properties = |of: &TypeRules| of.properties.iter().map(property).collect();
        let rules = |(label, of): (&u32, &TypeRules)| {
            Datum::List(vec![
                number(label),
                numbers(&of.levels),
                Datum::List(properties(of)),
            ])
        };
        let named = |(name, of): (&String, &TypeRules)| {
            Datum::List(vec![Datum::Text(name.clone()), Datum::List(properties(of))])
        };
        let classifications = self.classifications.iter().map(named).collect();
        let all = |of: &BTreeMap<u32, TypeRules>| Datum::List(of.iter().map(rules).collect());
        let names = self.names.iter().cloned().map(Datum::Text).collect();
        datum::to_bytes(&Datum::Map(vec![
            ("version".to_owned(), number(&self.form)),
            (
                "keys".to_owned(),
                numbers(&[keys.header, keys.properties, keys.classifications]),
            ),
            ("root".to_owned(), number(&self.root)),
            ("names".to_owned(), Datum::List(names)),
            ("entities".to_owned(), all(&self.entities)),
            ("relationships".to_owned(), all(&self.relationships)),
            ("classifications".to_owned(), Datum::List(classifications)),
            (
                "pending".to_owned(),
                Datum::List(vec![numbers(&pending.0), numbers(&pending.1)]),
            ),
        ]))
    }

    /// Decodes the bytes of [`Rules::to_bytes`].
    ///
    /// # Errors
    /// When the bytes are damaged, or have a newer form.
    pub(super) fn decode(bytes: &[u8]) -> Result<Read, GraphError> {
        let record = datum::decode(bytes)?;
        if let Some(form) = record.get("version").and_then(number)
            && form > FORM
        {
            return Err(GraphError::invalid(format!(
                "the index entries of open metadata are of form {form}, which a newer version of Varve made; this \
                 one knows forms up to {FORM}"
            )));
        }
        let read = read(&record);
        Ok(read.ok_or_else(|| DecodeError::new("rules of index entries", bytes, 0))?)
    }
}

/// The label of the root entity type with the most subtypes; of several, the first by name.
fn main_root(types: &Catalogue, labels: &FxHashMap<TypeIndex, u32>) -> u32 {
    let entities = types.types().filter(|(index, of)| {
        of.depth() == 0
            && labels.contains_key(index)
            && of.def().category() == TypeDefCategory::Entity
    });
    let best = entities.max_by_key(|(index, of)| {
        let members = types.with_subtypes(*index).len();
        (members, std::cmp::Reverse(of.name().to_owned()))
    });
    best.map_or(0, |(index, _)| labels[&index])
}

/// Rules, the ids of the property keys, and the labels whose entries must still be rebuilt.
type Read = (Rules, Keys, (Vec<u32>, Vec<u32>));

fn read(record: &Datum) -> Option<Read> {
    let form = number(record.get("version")?)?;
    if !(1..=FORM).contains(&form) {
        return None;
    }
    let names: Option<Vec<String>> = list(record.get("names")?)?
        .iter()
        .map(|name| match name {
            Datum::Text(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let names = names?;
    let all = |member: &str| -> Option<BTreeMap<u32, TypeRules>> {
        let rules = list(record.get(member)?)?.iter();
        rules.map(|rule| rules_of(rule, &names)).collect()
    };
    let (entities, relationships) = (all("entities")?, all("relationships")?);
    let [first, second] = list(record.get("pending")?)? else {
        return None;
    };
    let pending = (numbers(first)?, numbers(second)?);
    let root = number(record.get("root")?)?;
    let classifications = match record.get("classifications") {
        None => BTreeMap::new(),
        Some(classifications) => {
            let rules = list(classifications)?.iter();
            let rules: Option<_> = rules.map(|rule| named_rules_of(rule, &names)).collect();
            rules?
        }
    };
    let rules = Rules {
        form,
        root,
        entities,
        relationships,
        classifications,
        names,
    };
    let [header, properties, classifications] = numbers(record.get("keys")?)?[..] else {
        return None;
    };
    let keys = Keys {
        header,
        properties,
        classifications,
    };
    Some((rules, keys, pending))
}

fn rules_of(rule: &Datum, names: &[String]) -> Option<(u32, TypeRules)> {
    let [label, levels, properties] = list(rule)? else {
        return None;
    };
    let rules = TypeRules {
        levels: numbers(levels)?,
        properties: properties_of(properties, names)?,
    };
    Some((number(label)?, rules))
}

fn named_rules_of(rule: &Datum, names: &[String]) -> Option<(String, TypeRules)> {
    let [Datum::Text(name), properties] = list(rule)? else {
        return None;
    };
    let rules = TypeRules {
        levels: Vec::new(),
        properties: properties_of(properties, names)?,
    };
    Some((name.clone(), rules))
}

fn properties_of(properties: &Datum, names: &[String]) -> Option<Vec<PropertyRule>> {
    let property = |rule: &Datum| {
        let [of, from, Datum::Bool(big)] = list(rule)? else {
            return None;
        };
        let number = number(of)?;
        Some(PropertyRule {
            name: names.get(number as usize)?.clone(),
            number,
            from: self::number(from)?,
            big: *big,
        })
    };
    list(properties)?.iter().map(property).collect()
}

fn list(datum: &Datum) -> Option<&[Datum]> {
    match datum {
        Datum::List(items) => Some(items),
        _ => None,
    }
}

fn number(datum: &Datum) -> Option<u32> {
    match datum {
        Datum::Int(number) => u32::try_from(*number).ok(),
        _ => None,
    }
}

fn numbers(datum: &Datum) -> Option<Vec<u32>> {
    list(datum)?.iter().map(number).collect()
}
