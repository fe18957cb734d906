//! Percentiles.

use super::Accumulator;
use crate::error::{Outcome, argument_error, type_error};
use crate::value::{Graph, Value, order};

/// A percentile of numbers; null without values.
pub(super) struct Percentile {
    /// Whether it is interpolated between two values.
    continuous: bool,
    /// From 0 to 1.
    at: f64,
    /// The values, each with its number of rows.
    values: Vec<(Value, u64)>,
    count: u64,
}

impl Percentile {
    pub(super) fn new(continuous: bool, at: Option<&Value>) -> Outcome<Percentile> {
        let Some(at) = at.and_then(number) else {
            let message = "the second argument of a percentile is a number";
            return Err(type_error("InvalidArgumentType", message));
        };
        if !(0.0..=1.0).contains(&at) {
            let message = format!("the percentile {at} is not from 0 to 1");
            return Err(argument_error("NumberOutOfRange", message));
        }
        Ok(Percentile {
            continuous,
            at,
            values: Vec::new(),
            count: 0,
        })
    }

    /// The value at a position of the sorted rows.
    fn value(&self, position: u64) -> Value {
        let mut end = 0_u64;
        let found = self.values.iter().find(|(_, times)| {
            end = end.saturating_add(*times);
            position < end
        });
        found.map_or(Value::Null, |(value, _)| value.clone())
    }
}

#[expect(clippy::cast_precision_loss, reason = "percentiles are floats")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

impl Accumulator for Percentile {
    fn add(&mut self, value: &Value, times: u64, _: &Graph<'_>) -> Outcome<()> {
        if value.is_null() || times == 0 {
            return Ok(());
        }
        if number(value).is_none() {
            let message = format!("expected INTEGER or FLOAT, found {}", value.type_name());
            return Err(type_error("InvalidArgumentValue", message));
        }
        self.count = self.count.saturating_add(times);
        self.values.push((value.clone(), times));
        Ok(())
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "positions are below the number of rows and not negative"
    )]
    fn finish(mut self: Box<Self>) -> Outcome<Value> {
        let Some(last) = self.count.checked_sub(1) else {
            return Ok(Value::Null);
        };
        self.values.sort_by(|left, right| order(&left.0, &right.0));
        if !self.continuous {
            // The first value that so large a part of the rows does not exceed.
            let rank = (self.at * self.count as f64).ceil() as u64;
            return Ok(self.value(rank.saturating_sub(1).min(last)));
        }
        let place = self.at * last as f64;
        let below = (place.floor() as u64).min(last);
        let above = below.saturating_add(1).min(last);
        let ends = (number(&self.value(below)), number(&self.value(above)));
        let (Some(from), Some(to)) = ends else {
            return Ok(Value::Null);
        };
        let part = place - place.floor();
        Ok(Value::Float(if part == 0.0 {
            from
        } else {
            from + (to - from) * part
        }))
    }
}
