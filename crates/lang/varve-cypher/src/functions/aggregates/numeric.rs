//! Sums, means and deviations.

use super::Accumulator;
use crate::error::{CypherError, Outcome, arithmetic_error, type_error};
use crate::temporal::{Duration, out_of_range};
use crate::value::{Graph, Value};

#[expect(clippy::cast_precision_loss, reason = "means are floats")]
const fn float(count: u64) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sums of mixed numbers are floats"
)]
const fn approximate(whole: i128) -> f64 {
    whole as f64
}

fn not_a_number(value: &Value) -> CypherError {
    let message = format!(
        "expected INTEGER, FLOAT or DURATION, found {}",
        value.type_name()
    );
    type_error("InvalidArgumentValue", message)
}

/// A sum of integers, of floats, or of durations. Integers are summed exactly, so that only the
/// result may overflow.
#[derive(Default)]
pub(super) struct Sum {
    whole: i128,
    float: Option<f64>,
    duration: Option<Duration>,
    /// Whether there was a number.
    has_number: bool,
}

impl Sum {
    fn result(&self) -> Outcome<Value> {
        if let Some(duration) = self.duration {
            return Ok(Value::Duration(Box::new(duration)));
        }
        match self.float {
            Some(float) => Ok(Value::Float(float + approximate(self.whole))),
            None => i64::try_from(self.whole).map(Value::Integer).map_err(|_| {
                arithmetic_error("IntegerOverflow", "the sum does not fit an INTEGER")
            }),
        }
    }
}

impl Accumulator for Sum {
    fn add(&mut self, value: &Value, times: u64, _: &Graph<'_>) -> Outcome<()> {
        match value {
            Value::Null => return Ok(()),
            Value::Integer(number) => {
                let all = i128::from(*number) * i128::from(times);
                self.whole = self.whole.saturating_add(all);
                self.has_number = true;
            }
            Value::Float(number) => {
                *self.float.get_or_insert(0.0) += number * float(times);
                self.has_number = true;
            }
            Value::Duration(duration) => {
                let all = i64::try_from(times)
                    .ok()
                    .and_then(|times| duration.times(times));
                let sum = all.and_then(|all| self.duration.unwrap_or_default().plus(&all));
                self.duration = Some(sum.ok_or_else(out_of_range)?);
            }
            other => return Err(not_a_number(other)),
        }
        match (self.has_number, self.duration.is_some()) {
            (true, true) => Err(type_error(
                "InvalidArgumentValue",
                "numbers and durations have no sum",
            )),
            _ => Ok(()),
        }
    }

    fn finish(self: Box<Self>) -> Outcome<Value> {
        self.result()
    }
}

/// A mean; null without values.
#[derive(Default)]
pub(super) struct Average {
    sum: Sum,
    count: u64,
}

impl Accumulator for Average {
    fn add(&mut self, value: &Value, times: u64, graph: &Graph<'_>) -> Outcome<()> {
        if !value.is_null() {
            self.count = self.count.saturating_add(times);
        }
        self.sum.add(value, times, graph)
    }

    fn finish(self: Box<Self>) -> Outcome<Value> {
        if self.count == 0 {
            return Ok(Value::Null);
        }
        let count = float(self.count);
        if let Some(duration) = self.sum.duration {
            let mean = duration
                .scaled(|part| part / count)
                .ok_or_else(out_of_range)?;
            return Ok(Value::Duration(Box::new(mean)));
        }
        let total = self.sum.float.unwrap_or(0.0) + approximate(self.sum.whole);
        Ok(Value::Float(total / count))
    }
}

/// A standard deviation by Welford's method, which is exact for close values; null without values.
pub(super) struct Deviation {
    sample: bool,
    count: u64,
    mean: f64,
    squares: f64,
}

impl Deviation {
    pub(super) const fn new(sample: bool) -> Deviation {
        Deviation {
            sample,
            count: 0,
            mean: 0.0,
            squares: 0.0,
        }
    }
}

impl Accumulator for Deviation {
    fn add(&mut self, value: &Value, times: u64, _: &Graph<'_>) -> Outcome<()> {
        let number = match value {
            Value::Null => return Ok(()),
            Value::Integer(number) => approximate(i128::from(*number)),
            Value::Float(number) => *number,
            other => return Err(not_a_number(other)),
        };
        if times == 0 {
            return Ok(());
        }
        let before = float(self.count);
        self.count = self.count.saturating_add(times);
        let (added, total) = (float(times), float(self.count));
        let difference = number - self.mean;
        self.mean += difference * added / total;
        self.squares += difference * difference * before * added / total;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Outcome<Value> {
        if self.count == 0 {
            return Ok(Value::Null);
        }
        let divisor = self.count.saturating_sub(u64::from(self.sample));
        Ok(Value::Float(match divisor {
            0 => 0.0,
            _ if !self.mean.is_finite() => f64::NAN,
            divisor => (self.squares / float(divisor)).sqrt(),
        }))
    }
}
