//! The length of answers. Rendered instances are longer than stored ones, so an answer that exceeds
//! the limit is detected while it is rendered.

use crate::error::{Message, OmrsError};
use crate::json::{Encode, Shared};
use crate::search::Limits;

/// Counts the bytes of the JSON of one answer's instances.
#[derive(Debug)]
pub(super) struct AnswerBytes {
    most: usize,
    left: usize,
}

impl AnswerBytes {
    /// No instance counted yet.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            most: limits.answer_bytes_max,
            left: limits.answer_bytes_max,
        }
    }

    /// Counts an instance. Renders it if its JSON does not exist yet, since it will be needed.
    ///
    /// # Errors
    /// `RepositoryErrorException` when the answer exceeds the limit. JSON around the instances is
    /// not counted.
    pub(super) fn add<T: Encode>(&mut self, rendered: &Shared<T>) -> Result<(), OmrsError> {
        match rendered.json_bytes(self.left) {
            Some(bytes) => {
                self.left -= bytes;
                Ok(())
            }
            None => {
                let words = self.most.to_string();
                Err(OmrsError::new(Message::AnswerTooLong, &[&words]))
            }
        }
    }

    /// Collects rendered instances, and counts them.
    ///
    /// # Errors
    /// The first error of `rendered`, or as [`AnswerBytes::add`]. No more instances are rendered
    /// then.
    pub(super) fn all<T: Encode>(
        mut self,
        rendered: impl Iterator<Item = Result<Shared<T>, OmrsError>>,
    ) -> Result<Vec<Shared<T>>, OmrsError> {
        let mut all = Vec::new();
        for one in rendered {
            let one = one?;
            self.add(&one)?;
            all.push(one);
        }
        Ok(all)
    }
}
