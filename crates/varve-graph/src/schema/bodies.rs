//! The schema's part of task bodies: status changes before and after the work on elements, which
//! the caller supplies.

use std::sync::{Arc, Weak};

use super::catalogue::Catalogue;
use super::{property_key, removal};
use crate::tasks::{Subject, TaskBodies, TaskProgress, TaskSpec, TaskType};
use crate::{ErrorKind, GraphError};

/// Runs schema tasks: changes statuses before and after, and lets the inner bodies do the work on
/// elements and index entries. Jobs are passed on unchanged.
///
/// During `rebuild_index` the index labels are CREATING or REBUILDING; during `remove_schema` the
/// label and its index labels are DELETING, so that no new writes use them. Requests that began
/// earlier use the schema with which they began.
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
                // A graph that is being closed continues the task when it is opened again.
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
            // The index label is complete from the start, since no vertex has a value yet.
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
            // If this cannot be stored, the status stays as it is. The element can then be rebuilt
            // or removed again.
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
