//! The searches of the performance suite, and how many instances each looks at.

use varve_omrs::OmrsError;
use varve_omrs::instances::*;
use varve_omrs::json::{Millis, Shared};
use varve_omrs::repository::Repository;
use varve_omrs::requests::*;
use varve_omrs::types::InstanceStatus;

use super::suite::{CLASSIFICATION, Filled, HOMES, values};

/// How many instances are asked for.
pub(super) const PAGE: i32 = 5;

/// A pattern that matches one text.
fn exactly(text: &str) -> InstancePropertyValue {
    InstancePropertyValue::string(&format!(r"\Q{text}\E"))
}

/// What is searched for, and how many were found and shown.
pub(super) type Row = (String, usize, usize);

impl Filled {
    fn of_type(&self, of: Option<&str>, order: SequencingOrder) -> TypeLimitedFindRequest {
        let guid = |of: &str| {
            self.types
                .get(self.types.by_name(of).expect("a type"))
                .guid()
        };
        TypeLimitedFindRequest {
            paged: PagedFindRequest {
                order: Some(order),
                page_size: PAGE,
                ..PagedFindRequest::default()
            },
            type_guid: of.map(|of| guid(of).to_owned()),
        }
    }

    fn row(
        &self,
        rows: &mut Vec<Row>,
        what: &str,
        search: impl Fn(&Repository) -> Result<Vec<Shared<EntityDetail>>, OmrsError>,
    ) {
        let (found, looked_at) = self.examined.search(search);
        rows.push((what.to_owned(), found.len(), looked_at));
    }

    /// Two properties as the suite chooses them, with the values of the first instance.
    fn pair(&self, of: &str) -> Vec<(String, InstancePropertyValue)> {
        let mut all = values(&self.types, of, 0, self.i);
        all.sort_by_key(|(_, value)| matches!(value, Primitive::String(_)));
        if all.len() > 1 {
            all.retain(|(name, _)| name != "qualifiedName");
        }
        all.truncate(2);
        let wanted = |value: Primitive| match value {
            Primitive::String(text) => exactly(&text),
            other => InstancePropertyValue::primitive(other),
        };
        all.into_iter()
            .map(|(name, value)| (name, wanted(value)))
            .collect()
    }

    fn criteria_rows(
        &self,
        of: &str,
        orders: [SequencingOrder; 4],
        search: &mut dyn FnMut(&str, PropertyMatchFindRequest),
    ) {
        use MatchCriteria::{All, Any, None as Neither};
        let pair = self.pair(of);
        let names: Vec<&str> = pair.iter().map(|(name, _)| name.as_str()).collect();
        let (first, second) = (names[0], names[names.len() - 1]);
        let kinds = [
            ("one", 1, All, first),
            ("two, all", 2, All, second),
            ("two, any", 2, Any, second),
            ("two, none", 2, Neither, first),
        ];
        for ((what, count, criteria, by), order) in kinds.into_iter().zip(orders) {
            let mut of_type = self.of_type(None, order);
            of_type.paged.sequencing_property = Some(by.to_owned());
            let wanted = pair.iter().take(count).cloned().collect();
            let request = PropertyMatchFindRequest {
                of_type,
                match_properties: Some(InstanceProperties {
                    values: wanted,
                    ..InstanceProperties::default()
                }),
                match_criteria: Some(criteria),
            };
            search(what, request);
        }
    }

    fn searches_of_type(&self, rows: &mut Vec<Row>, of: &str, at: Option<Millis>) {
        use SequencingOrder as Order;
        let then = at.map_or("", |_| " as of then");
        let of_type = |order: Order| {
            let mut request = self.of_type(Some(of), order);
            request.paged.find.as_of_time = at;
            request
        };
        for order in [
            Order::Any,
            Order::CreationDateRecent,
            Order::LastUpdateRecent,
        ] {
            self.row(
                rows,
                &format!("{of}: all by {order:?}{then}"),
                |repository| {
                    let mut request = EntityFindRequest::default();
                    request.instances.of_subtypes.of_type = of_type(order);
                    repository.find_entities(&request)
                },
            );
        }
        self.searches_by_text(rows, of, at);
        let (up, down) = (Order::PropertyAscending, Order::PropertyDescending);
        self.criteria_rows(of, [up, down, up, down], &mut |what, matching| {
            let mut request = EntityPropertyFindRequest {
                matching,
                ..EntityPropertyFindRequest::default()
            };
            let limited = of_type(Order::Any);
            request.matching.of_type.type_guid = limited.type_guid;
            request.matching.of_type.paged.find.as_of_time = at;
            self.row(rows, &format!("{of}: {what}{then}"), |repository| {
                repository.find_entities_by_property(&request)
            });
        });
        for home in HOMES {
            self.row(rows, &format!("{of}: at {home}{then}"), |repository| {
                let mut request = EntityPropertyFindRequest::default();
                request.matching.of_type = of_type(Order::Any);
                request.matching.match_properties =
                    Some(InstanceProperties::default().with("metadataCollectionId", exactly(home)));
                repository.find_entities_by_property(&request)
            });
        }
    }

    fn searches_by_text(&self, rows: &mut Vec<Row>, of: &str, at: Option<Millis>) {
        use SequencingOrder as Order;
        let then = at.map_or("", |_| " as of then");
        let texts = values(&self.types, of, 0, self.i);
        let is_text = |value: &Primitive| matches!(value, Primitive::String(_));
        let searched = texts
            .iter()
            .find(|(name, value)| name != "qualifiedName" && is_text(value));
        let word = searched.map_or("qualifiedName", |(name, _)| name);
        let (begin, end) = (&word[..word.len() - 1], &word[1..]);
        let middle = &begin[1..];
        for (what, pattern, order) in [
            ("is", format!(r"\Q{word}\E"), Order::CreationDateOldest),
            (
                "starts",
                format!(r"\Q{begin}\E.*"),
                Order::CreationDateRecent,
            ),
            (
                "contains",
                format!(r".*\Q{middle}\E.*"),
                Order::LastUpdateOldest,
            ),
            ("ends", format!(r".*\Q{end}\E"), Order::LastUpdateRecent),
            ("regex", format!("{begin}.*"), Order::Guid),
        ] {
            let mut of_type = self.of_type(Some(of), order);
            of_type.paged.find.as_of_time = at;
            let request = EntityPropertyFindRequest {
                matching: PropertyMatchFindRequest {
                    of_type,
                    ..PropertyMatchFindRequest::default()
                },
                ..EntityPropertyFindRequest::default()
            };
            self.row(rows, &format!("{of}: text {what}{then}"), |repository| {
                repository.find_entities_by_property_value(&pattern, &request)
            });
        }
    }

    fn searches_by_classification(&self, rows: &mut Vec<Row>, at: Option<Millis>) {
        use SequencingOrder as Order;
        let then = at.map_or("", |_| " as of then");
        let mut ask = |what: &str, mut request: PropertyMatchFindRequest| {
            request.of_type.paged.find.as_of_time = at;
            self.row(rows, &format!("classified: {what}{then}"), |repository| {
                repository.find_entities_by_classification(CLASSIFICATION, &request)
            });
        };
        ask(
            "name only",
            PropertyMatchFindRequest {
                of_type: self.of_type(None, Order::CreationDateRecent),
                ..PropertyMatchFindRequest::default()
            },
        );
        let orders = [
            Order::CreationDateOldest,
            Order::LastUpdateRecent,
            Order::LastUpdateOldest,
            Order::Guid,
        ];
        self.criteria_rows(CLASSIFICATION, orders, &mut ask);
        for home in HOMES {
            ask(
                &format!("at {home}"),
                PropertyMatchFindRequest {
                    of_type: self.of_type(None, Order::Any),
                    match_properties: Some(
                        InstanceProperties::default().with("metadataCollectionId", exactly(home)),
                    ),
                    match_criteria: None,
                },
            );
        }
    }

    pub(super) fn searches_of_deleted(&self, rows: &mut Vec<Row>) {
        use SequencingOrder as Order;
        for of in ["Asset", "Referenceable"] {
            for order in [Order::Any, Order::CreationDateRecent] {
                let mut request = EntityPropertyFindRequest::default();
                request.matching.of_type = self.of_type(Some(of), order);
                request.matching.of_type.paged.find.statuses = vec![InstanceStatus::Deleted];
                self.row(rows, &format!("{of}: deleted by {order:?}"), |repository| {
                    repository.find_entities_by_property(&request)
                });
            }
        }
    }

    fn search_of_updated(&self, rows: &mut Vec<Row>, of: &str) {
        use SequencingOrder as Order;
        let mut undo = EntityFindRequest::default();
        undo.instances.of_subtypes.of_type = self.of_type(Some(of), Order::Any);
        let condition = |name: &str, operator, value| PropertyCondition {
            property: Some(name.to_owned()),
            operator: Some(operator),
            value: Some(value),
            nested: None,
        };
        undo.instances.match_properties = Some(SearchProperties {
            conditions: vec![
                condition(
                    "version",
                    PropertyComparisonOperator::Gt,
                    InstancePropertyValue::primitive(Primitive::Long(1)),
                ),
                condition(
                    "metadataCollectionId",
                    PropertyComparisonOperator::Eq,
                    InstancePropertyValue::string(HOMES[0]),
                ),
            ],
            match_criteria: Some(MatchCriteria::All),
        });
        self.row(rows, &format!("{of}: updated"), |repository| {
            repository.find_entities(&undo)
        });
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for at in [None, Some(self.before)] {
            for of in ["RelationalColumn", "ToDo", "Referenceable"] {
                self.searches_of_type(&mut rows, of, at);
            }
            self.searches_by_classification(&mut rows, at);
        }
        for of in ["RelationalColumn", "Referenceable"] {
            self.search_of_updated(&mut rows, of);
        }
        rows
    }
}
