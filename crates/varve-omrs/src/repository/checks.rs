//! Checks that come first in every call: that what must be there is.

use crate::error::{Message, OmrsError};

/// Checks that a GUID was given in `parameter`.
pub(super) fn guid(guid: &str, parameter: &str) -> Result<(), OmrsError> {
    if guid.is_empty() {
        return Err(OmrsError::of_parameter(
            Message::NoGuid,
            parameter,
            &[parameter],
        ));
    }
    Ok(())
}
