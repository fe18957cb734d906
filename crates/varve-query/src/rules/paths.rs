//! The rule for paths to given vertices: a search from both ends finds the first result of the
//! loop.

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

/// Fuses a loop whose body is an expansion to vertices along simple paths and nothing else, which
/// emits nothing, and which ends at vertices with given ids.
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

/// The possible ids of the targets; `None` if the predicate may accept other ids.
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
