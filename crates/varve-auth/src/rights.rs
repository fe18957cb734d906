//! What a user may do, and the decision whether it may do something.

use std::collections::BTreeMap;

use crate::resource::{Permission, Resource, ResourceType};

/// A permission on resources of one graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    /// The graph's name; empty = the server.
    pub graph: String,
    /// What is allowed.
    pub permission: Permission,
    /// On what.
    pub resources: Vec<Resource>,
}

/// How much of a type of resource somebody may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// None.
    Nothing,
    /// What has a certain label, name or property.
    Some,
    /// All.
    All,
}

/// The rights of one user: the union of what its groups have. Nothing takes a right away.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rights {
    is_administrator: bool,
    grants: Vec<Grant>,
}

impl Rights {
    /// Those of the administrator.
    #[must_use]
    pub const fn administrator() -> Self {
        Self {
            is_administrator: true,
            grants: Vec::new(),
        }
    }

    /// The union of these.
    #[must_use]
    pub const fn of(grants: Vec<Grant>) -> Self {
        Self {
            is_administrator: false,
            grants,
        }
    }

    /// Whether it may do everything. That is a property of the user, and no right on a graph of
    /// some name.
    #[must_use]
    pub const fn is_administrator(&self) -> bool {
        self.is_administrator
    }

    /// How much of the graph's resources of this type may be treated so.
    #[must_use]
    pub fn reach(&self, graph: &str, permission: Permission, kind: ResourceType) -> Reach {
        if self.is_administrator {
            return Reach::All;
        }
        let mut reach = Reach::Nothing;
        for grant in &self.grants {
            if grant.graph != graph || !grant.permission.allows(permission) {
                continue;
            }
            for resource in grant.resources.iter().filter(|one| one.kind.covers(kind)) {
                if resource.is_all() {
                    return Reach::All;
                }
                reach = Reach::Some;
            }
        }
        reach
    }

    /// Whether anything of the graph may be treated so.
    #[must_use]
    pub fn reaches(&self, graph: &str, permission: Permission) -> bool {
        self.reach(graph, permission, ResourceType::None) != Reach::Nothing
    }

    /// Whether anything of this type may be treated so on some graph.
    #[must_use]
    pub fn reaches_somewhere(&self, permission: Permission, kind: ResourceType) -> bool {
        let graphs = self.grants.iter().map(|grant| grant.graph.as_str());
        self.is_administrator
            || graphs
                .into_iter()
                .any(|graph| self.reach(graph, permission, kind) != Reach::Nothing)
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
    }
}
