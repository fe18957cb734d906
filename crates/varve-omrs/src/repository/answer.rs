//! How long an answer may become: rendered instances are longer than what is stored of them,
//! so that an answer that is over its limit must be known before all of it was made.

use crate::error::{Message, OmrsError};
use crate::json::{Encode, Shared};
use crate::search::Limits;

/// Counts the JSON of the instances of one answer while they are rendered.
#[derive(Debug)]
pub(super) struct AnswerBytes {
    most: usize,
    left: usize,
}

impl AnswerBytes {
    /// None were rendered.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            most: limits.answer_bytes_max,
            left: limits.answer_bytes_max,
        }
    }

    /// Counts one more instance. Its JSON is made if it is not there: it will be needed.
    ///
    /// # Errors
    /// `RepositoryErrorException` when the answer is longer than it may be: what stands around the
    /// instances is not counted.
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

    /// All of these, rendered one after the other.
    ///
    /// # Errors
    /// The first; or as [`AnswerBytes::add`], as soon as it is known: no more are rendered then.
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
