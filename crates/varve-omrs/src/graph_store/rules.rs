//! Which index entries instances of a type have: what follows from the types, in numbers, so that
//! entries can be made without them.
//!
//! The rules are stored with the graph, so that whoever opens it keeps its indexes, whether or not
//! he knows the types. Types are known by their labels' ids, properties by numbers that are given
//! once. A change of the types changes the rules; where that concerns instances that there may be,
//! their entries are made anew.

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

/// The level of all types. Levels of types are their labels' ids, which begin with 1.
pub(super) const ANY: u32 = 0;

/// Which entries rules stand for, whatever the types are. Form 1 had none of
/// [`Rules::has_orders_of_parts`], forms 1 and 2 not the list of [`Rules::keeps_proxies_apart`],
/// forms 1 to 3 not those of [`Rules::keeps_deleted_apart`].
pub(super) const FORM: u32 = 4;

/// The rules of all types.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Rules {
    /// The form of the build that made the entries.
    pub(super) form: u32,
    /// The label of the root that most entity types descend from: its level is that of all types.
    pub(super) root: u32,
    /// By the labels of entity types.
    pub(super) entities: BTreeMap<u32, TypeRules>,
    /// By the labels of relationship types.
    pub(super) relationships: BTreeMap<u32, TypeRules>,
    /// By the names of classifications, which have no labels and no levels.
    pub(super) classifications: BTreeMap<String, TypeRules>,
    /// The names of properties: each one's place is its number.
    pub(super) names: Vec<String>,
}

/// The rules of one type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TypeRules {
    /// The levels that its instances are listed at: of all types, then from the root down to the
    /// type itself.
    pub(super) levels: Vec<u32>,
    /// Its properties of single values, by name.
    pub(super) properties: Vec<PropertyRule>,
}

/// The rule of one property of a type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PropertyRule {
    pub(super) name: String,
    /// Its number, the same in all types.
    pub(super) number: u32,
    /// The place in the type's levels of the first whose type has the property. The level of all
    /// types is the root's.
    pub(super) from: u32,
    /// Texts that are digits of big numbers, and stand in their order.
    pub(super) big: bool,
}

/// Types whose instances' entries are to be made anew.
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

/// Whether an attribute has single values that stand in an order: primitives and enums.
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

/// Whether this is the number of a kind of big numbers.
pub(super) fn is_big_number(category: i64) -> bool {
    let big = [
        PrimitiveDefCategory::BigInteger,
        PrimitiveDefCategory::BigDecimal,
    ];
    big.map(category_number).contains(&category)
}

impl TypeRules {
    /// The rule of the property called `name`.
    pub(super) fn property(&self, name: &str) -> Option<&PropertyRule> {
        let found = self
            .properties
            .binary_search_by(|rule| rule.name.as_str().cmp(name));
        found.ok().map(|at| &self.properties[at])
    }
}

impl Rules {
    /// Whether what carries a classification, and (in form 2 and 3) what is DELETED, have entries
    /// by more than GUIDs.
    pub(super) fn has_orders_of_parts(&self) -> bool {
        self.form >= 2
    }

    /// Whether proxies are in a list of their own, and not in those of entities.
    pub(super) fn keeps_proxies_apart(&self) -> bool {
        self.form >= 3
    }

    /// Whether what is DELETED is in orders by GUID and times of its own, and not in those of the
    /// others.
    pub(super) fn keeps_deleted_apart(&self) -> bool {
        self.form >= 4
    }

    /// The same of the last form that listed proxies, and what is DELETED, among the others. It
    /// stands for all that earlier and later ones listed of them, but for what they list apart.
    pub(super) fn with_all_together(&self) -> Self {
        Self {
            form: 2,
            ..self.clone()
        }
    }

    /// The rules that follow from `types`, whose labels are `labels`. Numbers, and rules of labels
    /// whose types have gone, are those of `before`.
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

    /// Whose instances have other entries by `self` than by `before`, but for labels without rules
    /// before.
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
        // What came with a dump may carry a classification that was not known until now: it is
        // listed by the name, but has no entries of the properties.
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

    /// All types.
    pub(super) fn all(&self) -> Changed {
        let (entities, relationships) = self.labels();
        Changed {
            entities,
            relationships,
            classifications: Vec::new(),
        }
    }

    /// The labels of all whose instances may be concerned: any entity may carry a classification.
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

    /// As bytes. `pending` are labels whose instances' entries are still to be made anew.
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

    /// Reads what [`Rules::to_bytes`] wrote.
    ///
    /// # Errors
    /// When they are damaged, or of a form that is not known yet.
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

/// The entity type without a supertype that most others descend from; of several the first by name.
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

/// Rules, the ids of the property keys, and labels whose instances' entries are to be made anew.
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
