//! Random calls that read.

use varve_omrs::instances::{InstanceProperties, InstancePropertyValue, Primitive};
use varve_omrs::json::Millis;
use varve_omrs::requests::{
    ClassificationCondition, EntityFindRequest, EntityNeighborhoodFindRequest,
    EntityPropertyFindRequest, FindRequest, HistoryRangeRequest, HistorySequencingOrder,
    InstanceFindRequest, MatchCriteria, PagedFindRequest, PropertyComparisonOperator,
    PropertyCondition, PropertyMatchFindRequest, RelatedEntitiesFindRequest, SearchClassifications,
    SearchProperties, SequencingOrder, SubtypeLimitedFindRequest, TypeLimitedFindRequest,
};
use varve_omrs::types::{InstanceStatus, TypeIndex};

use super::values::{TEXTS, array_of};
use super::{
    BEGIN, CLASSIFICATION_TYPES, ENTITY_TYPES, Generator, HOME, RELATIONSHIP_TYPES, USERS,
};
use crate::call::{At, InstanceKind, Read};

/// The deepest nesting of conditions.
const DEPTH_MAX: usize = 2;

impl Generator<'_> {
    /// A call that reads. Every kind comes about as often.
    pub(crate) fn read(&mut self) -> Read {
        match self.random.below(23) {
            0 => {
                let kind = self.kind();
                Read::IsKnown(kind, self.name(kind))
            }
            1 => Read::Summary(self.name(InstanceKind::Entity)),
            2 => {
                let kind = self.kind();
                let name = self.name(kind);
                Read::Get(kind, name, self.at())
            }
            3 => {
                let kind = self.kind();
                let name = self.name(kind);
                Read::History(kind, name, self.range())
            }
            4 => {
                let name = self.name(InstanceKind::Entity);
                Read::HomeClassifications(name, self.at())
            }
            5 => {
                let name = self.name(InstanceKind::Entity);
                Read::RelationshipsForEntity(name, self.of_type(InstanceKind::Relationship))
            }
            6..=8 => Read::FindEntities(EntityFindRequest {
                instances: self.instances(InstanceKind::Entity),
                match_classifications: self.one_in(3).then(|| self.classifications()),
            }),
            9 | 10 => Read::FindEntitiesByProperty(self.by_property()),
            11 => {
                let name = self.classification_asked();
                let request = self.by_classification(&name);
                Read::FindEntitiesByClassification(name, request)
            }
            12 => {
                let criteria = self.expression();
                let mut request = self.by_property();
                request.matching.match_properties = None;
                request.matching.match_criteria = None;
                Read::FindEntitiesByValue(criteria, request)
            }
            13 | 14 => Read::FindRelationships(self.instances(InstanceKind::Relationship)),
            15 => Read::FindRelationshipsByProperty(self.matching(InstanceKind::Relationship)),
            16 => {
                let criteria = self.expression();
                Read::FindRelationshipsByValue(criteria, self.of_type(InstanceKind::Relationship))
            }
            17 => {
                let start = self.name(InstanceKind::Entity);
                let end = self.name(InstanceKind::Entity);
                Read::Linking(start, end, self.find())
            }
            18 => self.neighborhood(),
            20..=22 => self.ordered_by_what_is_asked(),
            _ => self.related(),
        }
    }

    /// Entities in the order of a property that something is asked of: those that have the same
    /// value may fail together.
    fn ordered_by_what_is_asked(&mut self) -> Read {
        let name = self.name(InstanceKind::Entity);
        let of = self.type_of(InstanceKind::Entity, &name);
        let condition = self.condition(of);
        let mut paged = self.paged(InstanceKind::Entity);
        paged.sequencing_property.clone_from(&condition.property);
        let orders = [
            SequencingOrder::PropertyAscending,
            SequencingOrder::PropertyDescending,
        ];
        paged.order = Some(*self.random.pick(&orders));
        let types = [of, of, self.type_named("Referenceable")];
        let of = *self.random.pick(&types);
        let of_type = TypeLimitedFindRequest {
            paged,
            type_guid: Some(self.types().get(of).guid().to_owned()),
        };
        let match_properties = SearchProperties {
            conditions: vec![condition],
            match_criteria: self.criteria(),
        };
        Read::FindEntities(EntityFindRequest {
            instances: InstanceFindRequest {
                of_subtypes: SubtypeLimitedFindRequest {
                    of_type,
                    subtype_guids: Vec::new(),
                },
                match_properties: Some(match_properties),
            },
            match_classifications: None,
        })
    }

    fn neighborhood(&mut self) -> Read {
        let name = self.name(InstanceKind::Entity);
        let level = self.random.below(5) as i32 - 1;
        let request = EntityNeighborhoodFindRequest {
            find: self.find(),
            entity_type_guids: self.type_guids(InstanceKind::Entity),
            relationship_type_guids: self.type_guids(InstanceKind::Relationship),
            classifications: self.limit(),
        };
        Read::Neighborhood(name, level, request)
    }

    fn related(&mut self) -> Read {
        let name = self.name(InstanceKind::Entity);
        let request = RelatedEntitiesFindRequest {
            paged: self.paged(InstanceKind::Entity),
            entity_type_guids: self.type_guids(InstanceKind::Entity),
            classifications: self.limit(),
        };
        Read::Related(name, request)
    }

    /// Mostly now; seldom a time that has not come.
    pub(crate) fn at(&mut self) -> At {
        match self.random.below(30) {
            0 => Some(Millis(self.naive.now.0 + 100_000)),
            1..=14 => Some(self.past()),
            15 => Some(Millis(BEGIN - 20)),
            _ => None,
        }
    }

    fn range(&mut self) -> HistoryRangeRequest {
        let order = [
            None,
            Some(HistorySequencingOrder::Forwards),
            Some(HistorySequencingOrder::Backwards),
        ];
        HistoryRangeRequest {
            from_time: self.one_in(2).then(|| self.past()),
            to_time: self.one_in(2).then(|| self.past()),
            offset: self.small(),
            page_size: self.small(),
            order: *self.random.pick(&order),
        }
    }

    /// An offset or a page size.
    fn small(&mut self) -> i32 {
        match self.random.below(40) {
            0 => -1,
            1..=24 => 0,
            _ => 1 + self.random.below(4) as i32,
        }
    }

    fn find(&mut self) -> FindRequest {
        let statuses: &[InstanceStatus] = match self.random.below(8) {
            0 => &[InstanceStatus::Deleted],
            1 => &[InstanceStatus::Active, InstanceStatus::Deleted],
            2 => &[InstanceStatus::Draft, InstanceStatus::Active],
            _ => &[],
        };
        FindRequest {
            statuses: statuses.to_vec(),
            as_of_time: self.at(),
        }
    }

    fn paged(&mut self, kind: InstanceKind) -> PagedFindRequest {
        let order = *self.random.pick(SequencingOrder::ALL);
        let order = Some(order).filter(|_| !self.random.one_in(4));
        let property = match kind {
            InstanceKind::Entity => self.pick(&[
                "qualifiedName",
                "name",
                "position",
                "size",
                "no such property",
            ]),
            InstanceKind::Relationship => self.pick(&["description", "confidence"]),
        };
        PagedFindRequest {
            find: self.find(),
            sequencing_property: (!self.one_in(20)).then(|| property.to_owned()),
            order,
            offset: self.small(),
            page_size: self.small(),
        }
    }

    fn type_in(&mut self, kind: InstanceKind) -> TypeIndex {
        let name = match kind {
            InstanceKind::Entity => self.pick(&ENTITY_TYPES),
            InstanceKind::Relationship => self.pick(&RELATIONSHIP_TYPES),
        };
        self.type_named(name)
    }

    fn type_guid_in(&mut self, kind: InstanceKind) -> String {
        if self.one_in(40) {
            return "no such type".to_owned();
        }
        let of = self.type_in(kind);
        self.types().get(of).guid().to_owned()
    }

    fn type_guids(&mut self, kind: InstanceKind) -> Vec<String> {
        if !self.one_in(4) {
            return Vec::new();
        }
        (0..2).map(|_| self.type_guid_in(kind)).collect()
    }

    /// Classifications to limit a search to.
    fn limit(&mut self) -> Vec<String> {
        if !self.one_in(4) {
            return Vec::new();
        }
        let mut names: Vec<String> = CLASSIFICATION_TYPES.map(str::to_owned).to_vec();
        names.truncate(1 + self.random.below(2));
        names
    }

    fn of_type(&mut self, kind: InstanceKind) -> TypeLimitedFindRequest {
        TypeLimitedFindRequest {
            paged: self.paged(kind),
            type_guid: self.one_in(2).then(|| self.type_guid_in(kind)),
        }
    }

    fn instances(&mut self, kind: InstanceKind) -> InstanceFindRequest {
        let mut of_subtypes = SubtypeLimitedFindRequest {
            of_type: self.of_type(kind),
            subtype_guids: Vec::new(),
        };
        if self.one_in(5) {
            of_subtypes.subtype_guids = vec![self.type_guid_in(kind)];
        }
        let of = self.type_in(kind);
        InstanceFindRequest {
            of_subtypes,
            match_properties: (!self.one_in(4)).then(|| self.tree(of, 0)),
        }
    }

    fn criteria(&mut self) -> Option<MatchCriteria> {
        let criteria = *self.random.pick(MatchCriteria::ALL);
        Some(criteria).filter(|_| !self.random.one_in(10))
    }

    /// Conditions on properties of a type, and on header fields.
    fn tree(&mut self, of: TypeIndex, depth: usize) -> SearchProperties {
        let conditions = (0..1 + self.random.below(2)).map(|_| {
            if depth < DEPTH_MAX && self.one_in(4) {
                PropertyCondition {
                    nested: Some(Box::new(self.tree(of, depth + 1))),
                    ..Default::default()
                }
            } else {
                self.condition(of)
            }
        });
        SearchProperties {
            conditions: conditions.collect(),
            match_criteria: self.criteria(),
        }
    }

    fn condition(&mut self, of: TypeIndex) -> PropertyCondition {
        use PropertyComparisonOperator as Operator;
        let (name, value) = self.named_value(of);
        let is_text = matches!(&value, InstancePropertyValue::Primitive(value)
            if matches!(value.value, Some(Primitive::String(_))));
        let is_ordered = matches!(&value, InstancePropertyValue::Primitive(value)
            if matches!(value.value, Some(Primitive::Int(_) | Primitive::Long(_) | Primitive::Date(_))));
        let mut operators = vec![Operator::Eq, Operator::Eq, Operator::Neq, Operator::In];
        operators.extend([Operator::IsNull, Operator::NotNull]);
        if is_text {
            operators.extend([Operator::Like, Operator::Like]);
        }
        if is_ordered || self.one_in(20) {
            operators.extend([Operator::Lt, Operator::Lte, Operator::Gt, Operator::Gte]);
        }
        let operator = *self.random.pick(&operators);
        let value = match operator {
            Operator::IsNull | Operator::NotNull => None,
            Operator::Like => Some(InstancePropertyValue::string(&self.expression())),
            Operator::In => Some(array_of(vec![value])),
            _ => Some(value),
        };
        PropertyCondition {
            property: Some(name),
            operator: Some(operator),
            value: value.filter(|_| !self.random.one_in(50)),
            nested: None,
        }
    }

    /// A property of a type or a header field, and a value it may have.
    fn named_value(&mut self, of: TypeIndex) -> (String, InstancePropertyValue) {
        let text = InstancePropertyValue::string;
        let date = |at: Millis| InstancePropertyValue::primitive(Primitive::Date(at));
        let defined = self.attributes(of);
        match self.random.below(12) {
            0 => {
                let home = self.pick(&[HOME.0, "far-collection-1"]);
                ("metadataCollectionId".to_owned(), text(home))
            }
            1 => {
                let version = Primitive::Long(1 + self.random.below(3) as i64);
                (
                    "version".to_owned(),
                    InstancePropertyValue::primitive(version),
                )
            }
            2 => ("createTime".to_owned(), date(self.past())),
            3 => ("updateTime".to_owned(), date(self.past())),
            4 => {
                let name = self.pick(&["createdBy", "updatedBy"]);
                (name.to_owned(), text(self.pick(&USERS)))
            }
            5 => ("typeName".to_owned(), text(self.pick(&ENTITY_TYPES))),
            _ if defined.is_empty() => ("no such property".to_owned(), text("alpha")),
            _ => {
                let attribute = self.random.pick(&defined).clone();
                let def = attribute.type_def().expect("whole in a catalogue").clone();
                let value = self.value(&def);
                (attribute.name().to_owned(), value)
            }
        }
    }

    /// Exact, starts with, ends with, contains, with and without case, and some that are none of
    /// these.
    fn expression(&mut self) -> String {
        let text = self.text().replace(r"\E", r"\E\\E\Q");
        let quoted = format!(r"\Q{text}\E");
        let expression = match self.random.below(8) {
            0 | 1 => quoted,
            2 => format!("{quoted}.*"),
            3 => format!(".*{quoted}"),
            4 => format!(".*{quoted}.*"),
            5 => self
                .pick(&["al.*", "[ab].*", "a.b", "alpha|beta", ".+", "(?s).*"])
                .to_owned(),
            6 => TEXTS[self.random.below(4)].to_owned(),
            _ => {
                let part = self.pick(&["lph", "a", "t", "pha", "zzz", "bytes 89", "3.alph"]);
                let end = self.pick(&["", ".*", ".*"]);
                format!(r".*\Q{part}\E{end}")
            }
        };
        let ignores_case = self.one_in(4) && !expression.starts_with("(?");
        if ignores_case {
            return format!("(?i){expression}");
        }
        expression
    }

    /// Properties to match, strings of them as expressions.
    fn wanted(&mut self, of: TypeIndex) -> InstanceProperties {
        let mut wanted = InstanceProperties::default();
        for _ in 0..1 + self.random.below(2) {
            let (name, mut value) = self.named_value(of);
            let is_text = matches!(&value, InstancePropertyValue::Primitive(value)
                if matches!(value.value, Some(Primitive::String(_))));
            if is_text && self.one_in(2) {
                value = InstancePropertyValue::string(&self.expression());
            } else if let InstancePropertyValue::Primitive(primitive) = &mut value
                && let Some(Primitive::String(text)) = &mut primitive.value
            {
                *text = format!(r"\Q{}\E", text.replace(r"\E", r"\E\\E\Q"));
            }
            wanted = wanted.with(&name, value);
        }
        wanted
    }

    fn matching(&mut self, kind: InstanceKind) -> PropertyMatchFindRequest {
        let of = self.type_in(kind);
        PropertyMatchFindRequest {
            of_type: self.of_type(kind),
            match_properties: (!self.one_in(8)).then(|| self.wanted(of)),
            match_criteria: self.criteria(),
        }
    }

    fn by_property(&mut self) -> EntityPropertyFindRequest {
        EntityPropertyFindRequest {
            matching: self.matching(InstanceKind::Entity),
            classifications: self.limit(),
        }
    }

    fn classification_asked(&mut self) -> String {
        match self.random.below(40) {
            0 => String::new(),
            1 => "NoSuchThing".to_owned(),
            _ => self.pick(&CLASSIFICATION_TYPES).to_owned(),
        }
    }

    fn by_classification(&mut self, name: &str) -> PropertyMatchFindRequest {
        let mut request = self.matching(InstanceKind::Entity);
        request.match_properties = match self.types().by_name(name) {
            Some(of) if self.one_in(2) => Some(self.wanted(of)),
            _ => None,
        };
        request
    }

    fn classifications(&mut self) -> SearchClassifications {
        let conditions = (0..1 + self.random.below(2)).map(|_| {
            let name = self.pick(&CLASSIFICATION_TYPES);
            let of = self.type_named(name);
            ClassificationCondition {
                name: Some(name.to_owned()),
                match_properties: self.one_in(2).then(|| self.tree(of, 1)),
            }
        });
        SearchClassifications {
            conditions: conditions.collect(),
            match_criteria: self.criteria(),
        }
    }
}
