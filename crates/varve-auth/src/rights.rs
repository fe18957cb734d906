//! The rights of a user, and the checks of single operations.

use std::collections::BTreeMap;

use serde_json::Value;
use varve_model::Condition;
use varve_view::Coverage;

use crate::resource::{Labels, Permission, Resource, ResourceType};

/// A permission on resources of one graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    /// The graph's name; empty = the server.
    pub graph: String,
    /// The permission.
    pub permission: Permission,
    /// The resources.
    pub resources: Vec<Resource>,
}

/// How much of a type of resource a user may access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// None.
    Nothing,
    /// Resources with certain labels, names or properties.
    Some,
    /// All.
    All,
}

/// The names of one type for which a user has a permission.
#[derive(Debug)]
pub struct Names(Vec<Labels>);

impl Names {
    /// Whether the name is one of them.
    #[must_use]
    pub fn contain(&self, name: &str) -> bool {
        self.0.iter().any(|names| names.contain(name))
    }
}

/// The rights of one user: the union of its groups' rights. Nothing takes a right away.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rights {
    is_administrator: bool,
    grants: Vec<Grant>,
}

impl Rights {
    /// The rights of the administrator.
    #[must_use]
    pub const fn administrator() -> Self {
        Self {
            is_administrator: true,
            grants: Vec::new(),
        }
    }

    /// The union of these grants.
    #[must_use]
    pub const fn of(grants: Vec<Grant>) -> Self {
        Self {
            is_administrator: false,
            grants,
        }
    }

    /// The grants; the administrator has none.
    pub(crate) fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Whether these are the administrator's rights, which no grant can give.
    #[must_use]
    pub const fn is_administrator(&self) -> bool {
        self.is_administrator
    }

    /// How much of the graph's resources of this type the permission covers.
    #[must_use]
    pub fn reach(&self, graph: &str, permission: Permission, kind: ResourceType) -> Reach {
        if self.is_administrator {
            return Reach::All;
        }
        let mut reach = Reach::Nothing;
        for resource in self.resources(graph, permission, kind) {
            if resource.is_all() {
                return Reach::All;
            }
            reach = Reach::Some;
        }
        reach
    }

    /// The elements of these labels that the permission covers. `conditions` translates a property
    /// and its value or predicate; a resource that it cannot translate covers nothing.
    #[must_use]
    pub fn coverage<L: Ord + Copy>(
        &self,
        (graph, permission, kind): (&str, Permission, ResourceType),
        labels: &[(L, &str)],
        conditions: &dyn Fn(&str, &Value) -> Option<Vec<Condition>>,
    ) -> BTreeMap<L, Coverage> {
        let mut covered: BTreeMap<L, Coverage> = BTreeMap::new();
        for resource in self.resources(graph, permission, kind) {
            let meant = resource
                .conditions()
                .map(|(key, value)| conditions(key, value));
            let Some(meant) = meant.collect::<Option<Vec<_>>>() else {
                continue;
            };
            let (meant, names) = (meant.concat(), resource.labels());
            for (label, _) in labels.iter().filter(|(_, name)| names.contain(name)) {
                covered.entry(*label).or_default().add(meant.clone());
            }
        }
        covered
    }

    /// The names of this type that the permission covers.
    #[must_use]
    pub fn names(&self, graph: &str, permission: Permission, kind: ResourceType) -> Names {
        if self.is_administrator {
            return Names(vec![Labels::Any]);
        }
        let resources = self.resources(graph, permission, kind);
        let plain = resources.filter(|resource| resource.conditions().next().is_none());
        Names(plain.map(Resource::labels).collect())
    }

    fn resources<'r>(
        &'r self,
        graph: &'r str,
        permission: Permission,
        kind: ResourceType,
    ) -> impl Iterator<Item = &'r Resource> {
        let grants = self.grants.iter();
        grants
            .filter(move |grant| grant.graph == graph && grant.permission.allows(permission))
            .flat_map(|grant| &grant.resources)
            .filter(move |resource| resource.kind.covers(kind))
    }

    /// Whether every permission covers all of the graph.
    #[must_use]
    pub fn administer(&self, graph: &str) -> bool {
        let each = Permission::EACH.iter();
        each.copied()
            .all(|permission| self.reach(graph, permission, ResourceType::All) == Reach::All)
    }

    /// Whether the permission covers anything of the graph.
    #[must_use]
    pub fn reaches(&self, graph: &str, permission: Permission) -> bool {
        self.reach(graph, permission, ResourceType::None) != Reach::Nothing
    }

    /// Whether the permission covers anything of this type on some graph.
    #[must_use]
    pub fn reaches_somewhere(&self, permission: Permission, kind: ResourceType) -> bool {
        let graphs = self.grants.iter().map(|grant| grant.graph.as_str());
        self.is_administrator
            || graphs
                .into_iter()
                .any(|graph| self.reach(graph, permission, kind) != Reach::Nothing)
    }

    /// Whether these contain all rights of `other`: then a user with these may give `other` to
    /// others.
    #[must_use]
    pub fn contain(&self, other: &Self) -> bool {
        let has = |grant: &Grant| {
            let given = Permission::EACH
                .iter()
                .filter(|one| grant.permission.allows(**one));
            let mut needed = given.flat_map(|one| grant.resources.iter().map(move |it| (*one, it)));
            needed.all(|(permission, resource)| {
                let mut own = self.resources(&grant.graph, permission, resource.kind);
                own.any(|own| own.contains(resource))
            })
        };
        self.is_administrator || (!other.is_administrator && other.grants.iter().all(has))
    }

    /// The resources of each permission on each graph, as `users/{id}/role` shows them.
    #[must_use]
    pub fn by_graph(&self) -> BTreeMap<&str, BTreeMap<Permission, Vec<&Resource>>> {
        let mut graphs: BTreeMap<&str, BTreeMap<Permission, Vec<&Resource>>> = BTreeMap::new();
        for grant in &self.grants {
            let of_graph = graphs.entry(&grant.graph).or_default();
            let resources = of_graph.entry(grant.permission).or_default();
            resources.extend(&grant.resources);
        }
        graphs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(kind: ResourceType, label: &str) -> Resource {
        Resource {
            kind,
            label: label.to_owned(),
            properties: None,
        }
    }

    fn grant(permission: Permission, resource: Resource) -> Grant {
        Grant {
            graph: "g".to_owned(),
            permission,
            resources: vec![resource],
        }
    }

    #[test]
    fn rights_contain_what_they_surely_have() {
        use Permission::{Any, Delete, Execute, Read, Write};
        let of = |grants: &[(Permission, ResourceType, &str)]| {
            let each = grants.iter();
            let each =
                each.map(|(permission, kind, label)| grant(*permission, resource(*kind, label)));
            Rights::of(each.collect())
        };
        let person = of(&[(Read, ResourceType::Vertex, "person")]);
        let all = of(&[(Any, ResourceType::All, "*")]);
        let vertices = of(&[(Read, ResourceType::Vertex, "*")]);
        let each = [Read, Write, Delete, Execute].map(|one| (one, ResourceType::All, "*"));
        assert!(all.contain(&of(&each)) && of(&each).contain(&all));
        assert!(!of(&each[1..]).contain(&all));
        assert!(vertices.contain(&person) && person.contain(&person) && all.contain(&person));
        assert!(!person.contain(&vertices) && !vertices.contain(&all));
        assert!(!person.contain(&of(&[(Read, ResourceType::Vertex, "pers.n")])));
        assert!(!all.contain(&Rights::administrator()) && Rights::administrator().contain(&all));
        assert!(all.contain(&Rights::default()) && Rights::default().contain(&Rights::default()));
        let mut old = resource(ResourceType::Vertex, "person");
        old.properties = Some([("age".to_owned(), "P.gt(9)".into())].into());
        let old = Rights::of(vec![grant(Read, old)]);
        assert!(person.contain(&old) && !old.contain(&person) && old.contain(&old));
    }

    #[test]
    fn coverage_is_compiled_from_patterns_and_conditions() {
        use varve_model::{Predicate, PropertyKeyId};
        let mut adult = resource(ResourceType::Vertex, "per.*");
        adult.properties = Some([("age".to_owned(), "P.gte(18)".into())].into());
        let mut any = resource(ResourceType::All, "cit(y|ies)");
        any.properties = Some([("*".to_owned(), "*".into())].into());
        let mut unknown = resource(ResourceType::Vertex, "*");
        unknown.properties = Some([("size".to_owned(), "P.gte(18)".into())].into());
        let grants = [adult, any, unknown].map(|one| grant(Permission::Read, one));
        let rights = Rights::of(grants.into());
        let labels = [(1, "person"), (2, "city"), (3, "a person"), (4, "persona")];
        let condition = |name: &str, value: &Value| {
            (name == "age").then(|| {
                vec![Condition {
                    key: PropertyKeyId(7),
                    predicate: Predicate::Eq(varve_model::Value::Text(value.to_string())),
                }]
            })
        };
        let asked = ("g", Permission::Read, ResourceType::Vertex);
        let covered = rights.coverage(asked, &labels, &condition);
        assert!(matches!(covered[&1], Coverage::Where(_)), "{covered:?}");
        assert!(matches!(covered[&4], Coverage::Where(_)), "{covered:?}");
        assert_eq!(covered[&2], Coverage::All);
        assert_eq!(covered.len(), 3);
        let written = ("g", Permission::Write, ResourceType::Vertex);
        assert!(rights.coverage(written, &labels, &condition).is_empty());
    }

    #[test]
    fn rights_are_the_union_and_a_label_is_less_than_all() {
        let grant = |permission, resources| Grant {
            graph: "g".to_owned(),
            permission,
            resources,
        };
        let rights = Rights::of(vec![
            grant(
                Permission::Read,
                vec![resource(ResourceType::Vertex, "person")],
            ),
            grant(Permission::Write, vec![resource(ResourceType::All, "*")]),
        ]);
        let reach = |permission, kind| rights.reach("g", permission, kind);
        assert_eq!(reach(Permission::Read, ResourceType::Vertex), Reach::Some);
        assert_eq!(reach(Permission::Read, ResourceType::Edge), Reach::Nothing);
        assert_eq!(reach(Permission::Write, ResourceType::Edge), Reach::All);
        assert_eq!(
            reach(Permission::Write, ResourceType::Grant),
            Reach::Nothing
        );
        assert_eq!(
            reach(Permission::Execute, ResourceType::Gremlin),
            Reach::Nothing
        );
        assert_eq!(
            rights.reach("h", Permission::Write, ResourceType::Vertex),
            Reach::Nothing
        );
        assert!(!rights.is_administrator() && rights.reaches("g", Permission::Read));
        let all = grant(Permission::Any, vec![resource(ResourceType::All, "*")]);
        let all = Rights::of(vec![all]);
        assert!(all.administer("g") && Rights::administrator().administer("g"));
        assert!(!all.administer("h") && !rights.administer("g"));
    }
}
