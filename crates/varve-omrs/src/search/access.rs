//! Access paths: walks that visit every instance that may satisfy a condition.

use crate::graph_store::GraphReader;
use crate::instances::{InstancePropertyValue, Primitive, PrimitivePropertyValue};
use crate::matching::{Condition, Pattern, Shape, Test, is_header_field};
use crate::store::{Listing, Subject, Walk, WalkBy};
use crate::types::{
    AttributeTypeKind, Catalogue, InstanceStatus, PrimitiveDefCategory, TypeDefCategory, TypeIndex,
};

use super::{Order, Query};

/// The most selective plans that run beside the walk in the query's order.
const WAYS_MAX: usize = 2;
/// The most walks that one plan joins.
const JOINED_MAX: usize = 64;

/// A [`WalkBy`] with owned values: the order of a walk, or a value that all its instances have.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Access {
    Guid,
    CreateTime,
    UpdateTime,
    Property(String),
    PropertyIs(String, Primitive),
    PropertyStarts(String, String),
    Text(String),
    TextStarts(String),
    Classified(Vec<String>, Listing),
    ClassifiedWith(String, String, Primitive),
    Home(String),
    Deleted(Listing),
    Live(Listing),
}

impl Access {
    pub(super) fn by(&self) -> WalkBy<'_> {
        match self {
            Self::Guid => WalkBy::Guid,
            Self::CreateTime => WalkBy::CreateTime,
            Self::UpdateTime => WalkBy::UpdateTime,
            Self::Property(name) => WalkBy::Property(name),
            Self::PropertyIs(name, value) => WalkBy::PropertyIs(name, value),
            Self::PropertyStarts(name, start) => WalkBy::PropertyStarts(name, start),
            Self::Text(text) => WalkBy::Text(text),
            Self::TextStarts(start) => WalkBy::TextStarts(start),
            Self::Classified(names, listing) => WalkBy::Classified(names, *listing),
            Self::ClassifiedWith(name, property, value) => {
                WalkBy::ClassifiedWith(name, property, value)
            }
            Self::Home(id) => WalkBy::Home(id),
            Self::Deleted(listing) => WalkBy::Deleted(*listing),
            Self::Live(listing) => WalkBy::Live(*listing),
        }
    }

    /// The type to which the walk is limited. Stores list the instances with a classification or a
    /// home for all types together. The search skips other types itself, and counts them, so that
    /// no turn takes long.
    pub(super) fn walked_type(&self, query: &Query) -> Option<TypeIndex> {
        match self {
            Self::Classified(..) | Self::ClassifiedWith(..) | Self::Home(_) => None,
            _ => query.types.of,
        }
    }

    /// The expected number of instances of the walk, as a rank: the fewest first.
    fn rank(&self) -> u8 {
        match self {
            Self::PropertyIs(..) | Self::ClassifiedWith(..) => 0,
            Self::Text(_) => 1,
            Self::PropertyStarts(..) => 2,
            Self::Classified(..) => 3,
            Self::TextStarts(_) => 4,
            Self::Deleted(_) => 5,
            Self::Home(_) => 7,
            Self::Guid
            | Self::CreateTime
            | Self::UpdateTime
            | Self::Property(_)
            | Self::Live(_) => 8,
        }
    }

    /// Whether the walk is ordered by GUID.
    fn is_by_guid(&self) -> bool {
        matches!(
            self,
            Self::Guid
                | Self::PropertyIs(..)
                | Self::Text(_)
                | Self::Classified(_, Listing::Guid)
                | Self::ClassifiedWith(..)
                | Self::Home(_)
                | Self::Deleted(Listing::Guid)
                | Self::Live(Listing::Guid)
        )
    }

    /// Whether the walk is ordered by a time.
    pub(super) fn is_by_time(&self) -> bool {
        matches!(
            self,
            Self::CreateTime
                | Self::UpdateTime
                | Self::Classified(_, Listing::CreateTime | Listing::UpdateTime)
                | Self::Deleted(Listing::CreateTime | Listing::UpdateTime)
                | Self::Live(Listing::CreateTime | Listing::UpdateTime)
        )
    }

    /// Whether the walk, if its type is not limited, visits a subset of the walk of all instances,
    /// in the same order.
    pub(super) fn is_part_of_all(&self) -> bool {
        matches!(self, Self::Classified(..))
    }

    /// Whether the walk may visit an instance more than once.
    pub(super) fn repeats(&self) -> bool {
        matches!(self, Self::TextStarts(_) | Self::PropertyStarts(..))
    }

    /// Whether the walk is expected to visit so few instances that it runs before the walk in the
    /// query's order.
    pub(super) fn is_narrow(&self) -> bool {
        match self {
            Self::PropertyIs(_, value) | Self::ClassifiedWith(.., value) => {
                !matches!(value, Primitive::Boolean(_))
            }
            _ => false,
        }
    }

    /// Whether the walk visits its instances in this order, reversed if the order is.
    pub(super) fn is_in(&self, order: &Order) -> bool {
        let listing = match self {
            Self::Classified(_, listing) | Self::Deleted(listing) => Some(*listing),
            _ => None,
        };
        match order {
            Order::Guid => self.is_by_guid(),
            Order::CreateTime { .. } => listing == Some(Listing::CreateTime),
            Order::UpdateTime { .. } => listing == Some(Listing::UpdateTime),
            // All instances have the same value.
            Order::Property { name, .. } => {
                matches!(self, Self::PropertyIs(property, _) if property == name)
            }
            Order::Any => false,
        }
    }
}

/// The listing that gives this order.
fn listing_in(order: &Order) -> Listing {
    match order {
        Order::CreateTime { .. } => Listing::CreateTime,
        Order::UpdateTime { .. } => Listing::UpdateTime,
        Order::Any | Order::Guid | Order::Property { .. } => Listing::Guid,
    }
}

/// The walk of the entities with any of these classifications, in this order if it is a listing's.
fn classified(mut names: Vec<String>, order: &Order) -> Access {
    names.sort_unstable();
    names.dedup();
    Access::Classified(names, listing_in(order))
}

/// Finds plans for a query.
pub(super) struct Ways<'a> {
    pub(super) read: &'a GraphReader,
    pub(super) types: &'a Catalogue,
    pub(super) query: &'a Query,
}

impl Ways<'_> {
    /// The best plans, the most selective first. The first list has walks that visit all results in
    /// the order `order`. The second has plans without that order, each a list of walks that
    /// together visit all results.
    pub(super) fn best(&self, order: &Order) -> (Vec<Access>, Vec<Vec<Access>>) {
        let mut ways = Vec::new();
        if let Some(condition) = &self.query.condition {
            self.add_ways(condition, order, &mut ways);
        }
        let names = &self.query.classifications;
        if !names.is_empty() && names.len() <= JOINED_MAX {
            ways.push(vec![classified(names.clone(), order)]);
        }
        let statuses = &self.query.find.statuses;
        let is_deleted = |status: &InstanceStatus| *status == InstanceStatus::Deleted;
        if !statuses.is_empty() && statuses.iter().all(is_deleted) {
            ways.push(vec![Access::Deleted(listing_in(order))]);
        }
        ways.retain(|way: &Vec<Access>| way.iter().all(|access| self.is_served(access)));
        ways.sort_by_key(|way| worst(way));
        ways.dedup();
        let (mut in_order, mut others) = (Vec::new(), Vec::new());
        for mut way in ways {
            match way.pop() {
                Some(only) if way.is_empty() && only.is_in(order) => in_order.push(only),
                last => {
                    way.extend(last);
                    others.push(way);
                }
            }
        }
        in_order.truncate(WAYS_MAX);
        others.truncate(WAYS_MAX);
        (in_order, others)
    }

    /// A pattern that some text of every result matches, and for which no index of texts can be
    /// used.
    pub(super) fn pattern(&self) -> Option<&Pattern> {
        self.query.condition.as_ref().and_then(pattern_of)
    }

    /// The walk of all instances that may be results, in the order of a listing.
    pub(super) fn all(&self, listing: Listing) -> Access {
        let statuses = &self.query.find.statuses;
        if !statuses.contains(&InstanceStatus::Deleted) {
            return Access::Live(listing);
        }
        match listing {
            Listing::Guid => Access::Guid,
            Listing::CreateTime => Access::CreateTime,
            Listing::UpdateTime => Access::UpdateTime,
        }
    }

    /// Whether an index serves the walk, which it then does in either direction. Only a walk by a
    /// property may have none: the types may not have the property, or too many have it. Nor are
    /// relationships listed by classifications, which they never have.
    pub(super) fn is_served(&self, access: &Access) -> bool {
        self.read.can_walk(&Walk {
            subject: self.query.subject,
            of: access.walked_type(self.query),
            by: access.by(),
            reverse: false,
            after: None,
        })
    }

    fn add_ways(&self, condition: &Condition, order: &Order, ways: &mut Vec<Vec<Access>>) {
        match condition {
            Condition::All(conditions) => {
                for condition in conditions {
                    self.add_ways(condition, order, ways);
                }
            }
            Condition::Any(conditions) => ways.extend(self.joined(conditions, order)),
            Condition::None(_) => {}
            Condition::Property { name, test } => ways.extend(self.property(name, test)),
            Condition::Text(pattern) => {
                ways.extend(text_access(pattern.shape()).map(|of| vec![of]))
            }
            Condition::Classification { name, condition } => {
                ways.push(vec![classified(vec![name.clone()], order)]);
                if let Some(condition) = condition {
                    self.add_classified_ways(name, condition, ways);
                }
            }
        }
    }

    /// One plan that joins the best plan of each alternative; `None` if one has none, or there are
    /// too many.
    fn joined(&self, conditions: &[Condition], order: &Order) -> Option<Vec<Access>> {
        let mut joined = Vec::new();
        for condition in conditions {
            let mut ways = Vec::new();
            self.add_ways(condition, order, &mut ways);
            joined.extend(self.best_of(ways)?);
            if joined.len() > JOINED_MAX {
                return None;
            }
        }
        let names = joined.iter().map(|access| match access {
            Access::Classified(names, _) => Some(&names[..]),
            _ => None,
        });
        let names: Option<Vec<&[String]>> = names.collect();
        match names {
            Some(names) => Some(vec![classified(names.concat(), order)]),
            None => Some(joined),
        }
    }

    fn best_of(&self, mut ways: Vec<Vec<Access>>) -> Option<Vec<Access>> {
        ways.retain(|way| way.iter().all(|access| self.is_served(access)));
        ways.into_iter().min_by_key(|way| worst(way))
    }

    /// Adds the plans for entities whose classification `name` satisfies a condition.
    fn add_classified_ways(&self, name: &str, condition: &Condition, ways: &mut Vec<Vec<Access>>) {
        match condition {
            Condition::All(conditions) => {
                for condition in conditions {
                    self.add_classified_ways(name, condition, ways);
                }
            }
            Condition::Any(conditions) => {
                let mut joined = Vec::new();
                for condition in conditions {
                    let mut ways = Vec::new();
                    self.add_classified_ways(name, condition, &mut ways);
                    match self.best_of(ways) {
                        Some(way) if joined.len() + way.len() <= JOINED_MAX => joined.extend(way),
                        _ => return,
                    }
                }
                ways.push(joined);
            }
            Condition::Property { name: of, test } if !is_header_field(of) => {
                ways.extend(self.classified_property(name, of, test));
            }
            _ => {}
        }
    }

    fn classified_property(&self, name: &str, property: &str, test: &Test) -> Option<Vec<Access>> {
        let classification = self.types.by_name(name)?;
        let kind = kind_in(self.types, classification, property)?;
        let is =
            |value: Primitive| Access::ClassifiedWith(name.to_owned(), property.to_owned(), value);
        let of = |value: &InstancePropertyValue| value_as_stored(value, kind).map(is);
        match test {
            Test::Is(value) => Some(vec![of(value)?]),
            Test::OneOf(values) if values.len() <= JOINED_MAX => values.iter().map(of).collect(),
            Test::Matches(pattern) => match pattern.shape() {
                Shape::Is(text) => Some(vec![is(text_as_stored(text, kind)?)]),
                _ => None,
            },
            _ => None,
        }
    }

    fn property(&self, name: &str, test: &Test) -> Option<Vec<Access>> {
        if is_header_field(name) {
            return self.header_field(name, test);
        }
        match test {
            Test::Is(value) => Some(vec![self.value(name, value)?]),
            Test::OneOf(values) if values.len() <= JOINED_MAX => {
                values.iter().map(|value| self.value(name, value)).collect()
            }
            Test::Matches(pattern) => {
                let access = match pattern.shape() {
                    Shape::Is(text) => self.text_value(name, text)?,
                    Shape::Starts(start) => Access::PropertyStarts(name.to_owned(), start.clone()),
                    Shape::Contains(_) | Shape::Unknown => return None,
                };
                Some(vec![access])
            }
            _ => None,
        }
    }

    /// The walks for a header field that is indexed. Types may have a property of the same name, so
    /// it is searched too.
    fn header_field(&self, name: &str, test: &Test) -> Option<Vec<Access>> {
        let text = match test {
            Test::Matches(pattern) => match pattern.shape() {
                Shape::Is(text) => text,
                _ => return None,
            },
            Test::Is(InstancePropertyValue::Primitive(PrimitivePropertyValue {
                value: Some(Primitive::String(text)),
                ..
            })) => text,
            _ => return None,
        };
        let field = match name {
            // In a home, few instances are of a given type, so the type's own walk is better.
            "metadataCollectionId" if self.query.types.of.is_none() => Access::Home(text.clone()),
            _ => return None,
        };
        match self.kind(name) {
            PropertyKind::Undefined => Some(vec![field]),
            _ => Some(vec![field, self.text_value(name, text)?]),
        }
    }

    fn text_value(&self, name: &str, text: &str) -> Option<Access> {
        let value = text_as_stored(text, self.kind(name))?;
        Some(Access::PropertyIs(name.to_owned(), value))
    }

    fn value(&self, name: &str, value: &InstancePropertyValue) -> Option<Access> {
        let value = value_as_stored(value, self.kind(name))?;
        Some(Access::PropertyIs(name.to_owned(), value))
    }

    /// The kind of a property in the types of the query.
    pub(super) fn kind(&self, name: &str) -> PropertyKind {
        let of = self.query.types.of;
        if let Some(kind) = of.and_then(|of| kind_in(self.types, of, name))
            && !self.types.is_redefined(name)
        {
            return kind;
        }
        let mut found = PropertyKind::Undefined;
        let category = match self.query.subject {
            Subject::Entities => TypeDefCategory::Entity,
            Subject::Relationships => TypeDefCategory::Relationship,
        };
        let subtypes = match of {
            Some(of) => self.types.with_subtypes(of),
            None => {
                let all = self.types.types();
                let all = all.filter(|(_, of)| of.def().category() == category);
                all.map(|(index, _)| index).collect()
            }
        };
        for index in subtypes {
            match kind_in(self.types, index, name) {
                None => {}
                Some(kind) if found == PropertyKind::Undefined || found == kind => found = kind,
                Some(_) => return PropertyKind::Mixed,
            }
        }
        found
    }

    /// Whether all types of the query have a property of this name.
    pub(super) fn all_have(&self, name: &str) -> bool {
        let of = self.query.types.of;
        of.is_some_and(|of| self.types.get(of).property(name).is_some())
    }
}

/// The kind of a property in all types of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PropertyKind {
    /// No type has it.
    Undefined,
    /// Each type that has it defines this kind.
    Primitive(PrimitiveDefCategory),
    /// An enum.
    Enum,
    /// A collection, whose values have no order.
    Collection,
    /// Its kind differs between types.
    Mixed,
}

fn kind_in(types: &Catalogue, index: TypeIndex, name: &str) -> Option<PropertyKind> {
    let property = types.get(index).property(name)?;
    let Some(def) = property.attribute.type_def() else {
        return Some(PropertyKind::Mixed);
    };
    Some(match &def.kind {
        AttributeTypeKind::Primitive(kind) => {
            PropertyKind::Primitive(kind.category.unwrap_or(PrimitiveDefCategory::Unknown))
        }
        AttributeTypeKind::Enum(_) => PropertyKind::Enum,
        AttributeTypeKind::Collection(_) => PropertyKind::Collection,
    })
}

/// The stored form of a text in a property of this kind.
fn text_as_stored(text: &str, kind: PropertyKind) -> Option<Primitive> {
    let is_text = kind == PropertyKind::Primitive(PrimitiveDefCategory::String);
    is_text.then(|| Primitive::String(text.to_owned()))
}

/// The stored form of a value in a property of this kind.
fn value_as_stored(value: &InstancePropertyValue, kind: PropertyKind) -> Option<Primitive> {
    let InstancePropertyValue::Primitive(PrimitivePropertyValue {
        value: Some(value), ..
    }) = value
    else {
        return None;
    };
    match kind {
        PropertyKind::Primitive(category) => as_stored(value, category),
        _ => None,
    }
}

/// The value of a category that equals `value`, if an index finds all equal values by equal bytes.
fn as_stored(value: &Primitive, category: PrimitiveDefCategory) -> Option<Primitive> {
    use PrimitiveDefCategory as Category;
    let whole = match value {
        Primitive::Byte(value) => Some(i64::from(*value)),
        Primitive::Short(value) => Some(i64::from(*value)),
        Primitive::Int(value) => Some(i64::from(*value)),
        Primitive::Long(value) => Some(*value),
        Primitive::Date(value) => Some(value.0),
        _ => None,
    };
    if let Some(whole) = whole {
        return match category {
            Category::Byte => whole.try_into().ok().map(Primitive::Byte),
            Category::Short => whole.try_into().ok().map(Primitive::Short),
            Category::Int => whole.try_into().ok().map(Primitive::Int),
            Category::Long => Some(Primitive::Long(whole)),
            Category::Date => Some(Primitive::Date(crate::json::Millis(whole))),
            _ => None,
        };
    }
    match value {
        Primitive::Boolean(_) | Primitive::String(_) | Primitive::Char(_) => {}
        // Zero has two different forms that are equal.
        Primitive::Float(number) if *number != 0.0 && number.is_finite() => {}
        Primitive::Double(number) if *number != 0.0 && number.is_finite() => {}
        _ => return None,
    }
    (value.category() == category).then(|| value.clone())
}

fn pattern_of(condition: &Condition) -> Option<&Pattern> {
    let pattern = match condition {
        Condition::All(conditions) => return conditions.iter().find_map(pattern_of),
        Condition::Text(pattern) => pattern,
        Condition::Property {
            name,
            test: Test::Matches(pattern),
        } if !is_header_field(name) => pattern,
        _ => return None,
    };
    let is_hard = matches!(pattern.shape(), Shape::Contains(_) | Shape::Unknown);
    is_hard.then_some(pattern)
}

fn text_access(shape: &Shape) -> Option<Access> {
    match shape {
        Shape::Is(text) => Some(Access::Text(text.clone())),
        Shape::Starts(start) => Some(Access::TextStarts(start.clone())),
        Shape::Contains(_) | Shape::Unknown => None,
    }
}

fn worst(way: &[Access]) -> u8 {
    way.iter().map(Access::rank).max().unwrap_or(u8::MAX)
}
