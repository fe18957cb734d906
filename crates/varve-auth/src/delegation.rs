//! What a change of the directory gives or takes: who is not the administrator may make it only if
//! its own rights contain that.

use crate::directory::Directory;
use crate::record::{Access, Id};
use crate::resource::Resource;
use crate::rights::{Grant, Rights};

impl Directory {
    /// What the members of a group may do by it.
    #[must_use]
    pub fn rights_of_group(&self, group: &Id) -> Rights {
        let own = self.accesses().map(|one| &one.body);
        let own = own.filter(|access| access.group == *group);
        Rights::of(own.filter_map(|access| self.grant(access, None)).collect())
    }

    /// What an access gives, whether or not it is there.
    #[must_use]
    pub fn rights_of_access(&self, access: &Access) -> Rights {
        Rights::of(self.grant(access, None).into_iter().collect())
    }

    /// What is given by means of a target, if its resources are these; `None` = as they are.
    #[must_use]
    pub fn rights_through_target(&self, target: &Id, resources: Option<&[Resource]>) -> Rights {
        let own = self.accesses().map(|one| &one.body);
        let own = own.filter(|access| access.target == *target);
        Rights::of(
            own.filter_map(|access| self.grant(access, resources))
                .collect(),
        )
    }

    fn grant(&self, access: &Access, resources: Option<&[Resource]>) -> Option<Grant> {
        let target = &self.target(&access.target)?.body;
        let own = || target.resources.clone().unwrap_or_default();
        Some(Grant {
            graph: target.graph.clone(),
            permission: access.permission,
            resources: resources.map_or_else(own, <[Resource]>::to_vec),
        })
    }
}
