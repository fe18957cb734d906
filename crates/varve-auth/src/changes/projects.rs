//! Projects: each is made and removed with two groups and a target.

use super::{Author, DirectoryError, Made, invalid, named};
use crate::directory::{Change, Directory, Entry};
use crate::record::{Access, Group, Id, Project, RecordKind, Target};
use crate::resource::{Permission, Resource, ResourceType};

impl Directory {
    /// Makes a project with its two groups and its target: one group may read and write the
    /// project, the other may read it.
    ///
    /// # Errors
    /// When the name of the project, of one of its groups or of its target is taken.
    pub fn add_project(&self, name: &str, description: Option<String>, author: Author<'_>) -> Made {
        let group = |prefix: &str| Group {
            name: format!("{prefix}_{name}"),
            description: None,
        };
        let target = Target {
            name: format!("project_res_{name}"),
            // The graph in which HugeGraph stores its users.
            graph: "hugegraph".to_owned(),
            url: "localhost:8080".to_owned(),
            resources: Some(vec![Resource {
                kind: ResourceType::Project,
                label: name.to_owned(),
                properties: None,
            }]),
        };
        let conflict = |error: DirectoryError| {
            DirectoryError::Conflict(format!("Failed to commit transaction: {error}"))
        };
        let (admin_group, mut changes) =
            self.add_group(group("admin"), author).map_err(conflict)?;
        let (op_group, more) = self.add_group(group("op"), author).map_err(conflict)?;
        changes.extend(more);
        let (target, more) = self.add_target(target, author).map_err(conflict)?;
        changes.extend(more);
        let made = self.after(&changes);
        for (group, permission) in [
            (&admin_group, Permission::Write),
            (&admin_group, Permission::Read),
            (&op_group, Permission::Read),
        ] {
            let access = Access {
                group: group.clone(),
                target: target.clone(),
                permission,
                description: None,
            };
            changes.extend(made.add_access(access, author).map_err(conflict)?.1);
        }
        let id = named(RecordKind::Project, name)?;
        self.refuse_known(RecordKind::Project, &id)
            .map_err(conflict)?;
        let project = Project {
            name: name.to_owned(),
            description,
            graphs: Vec::new(),
            admin_group,
            op_group,
            target,
        };
        let record = author.record(id.clone(), project);
        changes.push(Change::Put(Entry::Project(record)));
        Ok((id, changes))
    }

    /// Changes the description or the graphs of a project.
    ///
    /// # Errors
    /// When the id is unknown.
    pub fn change_project(
        &self,
        id: &Id,
        author: Author<'_>,
        change: impl FnOnce(&mut Project) -> Result<(), DirectoryError>,
    ) -> Made {
        let Some(project) = self.projects.get(id) else {
            return invalid(format!("Invalid project id: {id}"));
        };
        let mut changed = Ok(());
        let record = author.changed(project, |project| changed = change(project));
        changed?;
        Ok((id.clone(), vec![Change::Put(Entry::Project(record))]))
    }

    /// Removes a project with its groups and its target.
    ///
    /// # Errors
    /// When the id is unknown, or the project has graphs.
    pub fn remove_project(&self, id: &Id) -> Made {
        let Some(project) = self.projects.get(id) else {
            return invalid(format!("Invalid project id: {id}"));
        };
        if !project.body.graphs.is_empty() {
            return Err(DirectoryError::Conflict(format!(
                "Failed to commit transaction: Can't delete project '{id}' that contains any graph, there are \
                 graphs bound to it"
            )));
        }
        let mut changes = Vec::new();
        for group in [&project.body.admin_group, &project.body.op_group] {
            if self.groups.contains_key(group) {
                changes.extend(self.remove_group(group)?.1);
            }
        }
        if self.targets.contains_key(&project.body.target) {
            changes.extend(self.remove_target(&project.body.target)?.1);
        }
        changes.push(Change::Remove(Entry::Project((**project).clone())));
        Ok((id.clone(), changes))
    }
}
