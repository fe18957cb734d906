//! Entries of earlier forms of the rules: which instances had other entries, and which entries
//! proxies and DELETED instances had.

use varve_encoding::DecodeError;
use varve_encoding::datum::{Cursor, Token};
use varve_encoding::row::{edge_parts, vertex_parts};
use varve_graph::GraphError;
use varve_graph::index::{DerivedEntries, Deriver};
use varve_model::ElementId;

use super::decode::Parts;
use super::entries::{InstanceDeriver, skip_rest};
use super::rules::Rules;
use super::state::Keys;
use crate::types::InstanceStatus;

/// Makes the entries that proxies and DELETED instances had while they were listed among the
/// others. Other instances get none.
pub(super) struct Former(pub(super) InstanceDeriver);

impl Deriver for Former {
    fn derive(
        &self,
        id: &ElementId,
        content: &[u8],
        entries: &mut DerivedEntries,
    ) -> Result<(), GraphError> {
        let marks = marks(id, content, self.0.keys)?;
        let is_proxy = matches!(id, ElementId::Vertex(_)) && marks.proxy;
        if is_proxy || marks.deleted {
            self.0.derive(id, content, entries)?;
        }
        Ok(())
    }
}

/// Whether an instance has other entries by the present rules than by `rules` of an earlier form.
/// It does if it is DELETED, or if it carries classifications and the form lacks the entries of
/// [`Rules::has_orders_of_parts`]. A proxy may too: after an upgrade to form 3, entries of the
/// entity that it was earlier may be missing.
pub(super) fn has_other_entries(
    id: &ElementId,
    content: &[u8],
    keys: Keys,
    rules: &Rules,
) -> Result<bool, DecodeError> {
    let marks = marks(id, content, keys)?;
    let is_apart = marks.proxy || marks.deleted;
    Ok((is_apart && !rules.keeps_deleted_apart())
        || (marks.classified && !rules.has_orders_of_parts()))
}

/// The properties of an instance that decide which kinds of entries it has.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    classified: bool,
    deleted: bool,
    proxy: bool,
}

fn marks(id: &ElementId, content: &[u8], keys: Keys) -> Result<Marks, DecodeError> {
    let properties = match id {
        ElementId::Vertex(_) => vertex_parts(content)?.1,
        ElementId::Edge(_) => edge_parts(content)?.2,
    };
    let parts = Parts::of(properties, keys)?;
    let mut marks = Marks {
        classified: parts.classifications.is_some(),
        ..Marks::default()
    };
    if parts.header.is_empty() {
        return Ok(marks);
    }
    let mut cursor = Cursor::new(parts.header);
    let Token::Map(members) = cursor.token()? else {
        return Err(cursor.error());
    };
    for _ in 0..members {
        match (cursor.name()?, cursor.token()?) {
            ("st", Token::Text(name)) => marks.deleted = name == InstanceStatus::Deleted.name(),
            ("px", Token::Bool(proxy)) => marks.proxy = proxy,
            (_, token) => skip_rest(token, &mut cursor)?,
        }
    }
    Ok(marks)
}
