//! Checks the records of the small tables: schema elements, tasks, variables, notable commits,
//! counters.

use varve_encoding::change;
use varve_encoding::datum;
use varve_encoding::tables::{CHANGE, COUNTER, META, SCHEMA, TX};
use varve_kv::TableId;

use super::Wrong;
use crate::schema::DEFINITIONS;
use crate::{tasks, variables};

/// Checks that a record decodes. A value that only its writer can decode is not checked.
pub(super) fn check(
    table: TableId,
    partition: &[u8],
    clustering: &[u8],
    value: &[u8],
) -> Result<(), Wrong> {
    let has_length = |what: &str, bytes: &[u8], length: usize| match bytes.len() == length {
        true => Ok(()),
        false => Err(Wrong::Damage(format!(
            "{what} has {} bytes instead of {length}",
            bytes.len()
        ))),
    };
    match table {
        COUNTER => has_length("its value", value, size_of::<u64>())?,
        SCHEMA => {
            has_length("its id", clustering, size_of::<u32>())?;
            datum::decode(value)?;
        }
        CHANGE => {
            change::split(clustering)?;
            change::visit(value, &mut |_| {})?;
        }
        TX => {
            has_length("its commit version", clustering, size_of::<u64>())?;
            datum::decode(value)?;
        }
        META if partition == variables::PARTITION || partition == DEFINITIONS => {
            datum::decode(value)?;
        }
        META if partition == tasks::PARTITION => tasks::check_stored(clustering, value)?,
        _ => {}
    }
    Ok(())
}
