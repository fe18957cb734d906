//! The rights that a change of the directory gives or takes. A client other than the administrator
//! may make the change only if its own rights contain these.

use crate::directory::Directory;
use crate::record::{Access, Id};
use crate::resource::Resource;
use crate::rights::{Grant, Rights};

impl Directory {
    /// The rights that a group gives its members.
    #[must_use]
    pub fn rights_of_group(&self, group: &Id) -> Rights {
        let own = self.accesses().map(|one| &one.body);
        let own = own.filter(|access| access.group == *group);
        Rights::of(own.filter_map(|access| self.grant(access, None)).collect())
    }

    /// The rights that an access gives, whether or not it exists.
    #[must_use]
    pub fn rights_of_access(&self, access: &Access) -> Rights {
        Rights::of(self.grant(access, None).into_iter().collect())
    }

    /// The rights given through a target, if it had these resources; `None` = its own.
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
