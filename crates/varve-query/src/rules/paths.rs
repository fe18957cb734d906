//! The rule for paths to given vertices: loops whose first result a search from both ends finds.

use crate::Value;
use crate::plan::{Expanded, Fused, LoopTest, Op, Repeat};
use crate::predicate::Predicate;
use crate::value::Token;

/// `repeat(both().simplePath()).until(hasId(b))` becomes [`Fused::Towards`].
pub(super) fn towards(ops: &mut [Op]) {
    for op in ops {
        if let Op::Repeat(repeat) = op
            && let Some(fused) = fused(repeat)
        {
            *op = Op::Fused(fused);
        }
    }
}

/// The loops that fit: the body walks one kind of edges along simple paths and does nothing else,
/// nothing leaves on its way, and whatever leaves has one of the given ids.
fn fused(repeat: &Repeat) -> Option<Fused> {
    let [
        Op::Expand {
            direction,
            labels,
            to: Expanded::Vertices,
        },
        Op::SimplePath {
            simple: true,
            by,
            from: None,
            to: None,
        },
    ] = repeat.body.ops.as_slice()
    else {
        return None;
    };
    let (Some(until), None, true) = (&repeat.until, &repeat.emit, by.is_empty()) else {
        return None;
    };
    let LoopTest::Child(test) = &until.test else {
        return None;
    };
    let [
        Op::HasToken {
            token: Token::Id,
            predicate,
        },
    ] = test.ops.as_slice()
    else {
        return None;
    };
    Some(Fused::Towards {
        direction: *direction,
        labels: labels.clone(),
        targets: targets(predicate)?,
        predicate: predicate.clone(),
        repeat: Box::new(repeat.clone()),
    })
}

/// The ids that may be meant; `None` where others may be meant too.
fn targets(predicate: &Predicate) -> Option<Vec<Value>> {
    let ids = super::ids_of(predicate)?;
    let known = |id: &Value| {
        matches!(
            id,
            Value::Text(_) | Value::Int(_) | Value::Long(_) | Value::Uuid(_)
        )
    };
    ids.iter().all(known).then(|| super::candidates(ids))
}
