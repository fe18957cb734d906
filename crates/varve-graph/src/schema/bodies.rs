//! The schema's side of task bodies: status changes around the element work, which the caller
//! supplies.

use std::sync::{Arc, Weak};

use super::catalogue::Catalogue;
use super::{property_key, removal};
use crate::tasks::{Subject, TaskBodies, TaskProgress, TaskSpec, TaskType};
use crate::{ErrorKind, GraphError};

/// Runs schema tasks: changes statuses before and after, and has the work on elements and index
/// entries done by the inner bodies. Jobs are passed on as they are.
///
/// The inner bodies see `rebuild_index` with the index labels CREATING or REBUILDING, and
/// `remove_schema` with the label and its index labels DELETING, so that no new writes use them;
/// requests that began before keep the schema they began with.
pub struct SchemaBodies {
    catalogue: Weak<Catalogue>,
    elements: Arc<dyn TaskBodies>,
}

impl std::fmt::Debug for SchemaBodies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SchemaBodies").finish_non_exhaustive()
    }
}

impl SchemaBodies {
    /// Wraps the bodies that do the work on elements.
    #[must_use]
    pub fn new(catalogue: &Arc<Catalogue>, elements: Arc<dyn TaskBodies>) -> Self {
        Self {
            catalogue: Arc::downgrade(catalogue),
            elements,
        }
    }

    fn catalogue(&self) -> Result<Arc<Catalogue>, GraphError> {
        let closed = || GraphError::new(ErrorKind::IllegalState, "The graph is closed");
        self.catalogue.upgrade().ok_or_else(closed)
    }

    fn rebuild(
        &self,
        subject: Subject,
        task: &TaskSpec,
        progress: &TaskProgress,
    ) -> Result<String, GraphError> {
        let catalogue = self.catalogue()?;
        if removal::rebuilt(&catalogue.current(), subject).is_empty() {
            return Ok(String::new());
        }
        catalogue.change(|draft| removal::begin_rebuild(draft, subject))?;
        match self.elements.run(task, progress) {
            Ok(result) => {
                catalogue.change(|draft| {
                    removal::end_rebuild(draft, subject, true);
                    Ok(())
                })?;
                Ok(result)
            }
            Err(error) => {
                // A graph that is being closed goes on with the task at its next opening.
                if progress.is_cancelled() || !progress.should_end() {
                    catalogue.change(|draft| {
                        removal::end_rebuild(draft, subject, false);
                        Ok(())
                    })?;
                }
                Err(error)
            }
        }
    }

    fn remove(
        &self,
        subject: Subject,
        task: &TaskSpec,
        progress: &TaskProgress,
    ) -> Result<String, GraphError> {
        let catalogue = self.catalogue()?;
        if !catalogue.change(|draft| removal::begin_removal(draft, subject))? {
            return Ok(String::new());
        }
        match self.elements.run(task, progress) {
            Ok(result) => {
                catalogue.change(|draft| removal::end_removal(draft, subject))?;
                Ok(result)
            }
            Err(error) => {
                if progress.is_cancelled() || !progress.should_end() {
                    catalogue.change(|draft| removal::fail_removal(draft, subject))?;
                }
                Err(error)
            }
        }
    }
}

impl TaskBodies for SchemaBodies {
    fn run(&self, task: &TaskSpec, progress: &TaskProgress) -> Result<String, GraphError> {
        match (task.task_type, task.subject) {
            (TaskType::RebuildIndex, Some(subject)) => self.rebuild(subject, task, progress),
            (TaskType::RemoveSchema, Some(subject)) => self.remove(subject, task, progress),
            // Its index label is complete: no vertex has a value yet.
            (TaskType::CreateOlap, _) => Ok(String::new()),
            (TaskType::RemoveOlap, Some(subject)) => {
                self.elements.run(task, progress)?;
                let id = varve_model::PropertyKeyId(subject.id);
                let catalogue = self.catalogue()?;
                catalogue.change(|draft| property_key::finish_removal(draft, id))?;
                Ok(String::new())
            }
            _ => self.elements.run(task, progress),
        }
    }

    fn abandoned(&self, task: &TaskSpec) {
        if let (Some(subject), Ok(catalogue)) = (task.subject, self.catalogue()) {
            // If this cannot be stored the status stays as it is; the element can be rebuilt or
            // removed again.
            let _ = catalogue.change(|draft| match task.task_type {
                TaskType::RebuildIndex => {
                    removal::end_rebuild(draft, subject, false);
                    Ok(())
                }
                TaskType::RemoveSchema => removal::fail_removal(draft, subject),
                _ => Ok(()),
            });
        }
        self.elements.abandoned(task);
    }
}
