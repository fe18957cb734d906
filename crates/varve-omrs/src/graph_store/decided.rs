//! The part of an event's period that the event decides: instants that no newer event covers.

use std::collections::BTreeMap;

use varve_model::{Instant, Period};

/// The instants covered by the events so far, as the ends of periods by their starts. The periods
/// neither overlap nor touch. So consecutive states, each ending where the next one begins, make
/// one period, however many there are.
#[derive(Debug, Default)]
pub(super) struct Decided(BTreeMap<Instant, Instant>);

impl Decided {
    /// Adds an event that is older than all before, and shows the parts of its period that no newer
    /// event covers.
    pub(super) fn add(&mut self, period: Period, mut show: impl FnMut(Period)) {
        let Period { from, to } = period;
        if from >= to {
            return;
        }
        let before = self.0.range(..from).next_back();
        let reaches = before.filter(|(_, end)| **end >= from);
        let start = reaches.map_or(from, |(start, _)| *start);
        let mut open = from;
        loop {
            let next = self.0.range(start..=to).next();
            let Some((begin, end)) = next.map(|(begin, end)| (*begin, *end)) else {
                break;
            };
            self.0.remove(&begin);
            if open < begin {
                show(Period {
                    from: open,
                    to: begin,
                });
            }
            open = open.max(end);
        }
        if open < to {
            show(Period { from: open, to });
        }
        self.0.insert(start, open.max(to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSTANTS: i64 = 40;

    /// A random period, which may be empty or without an end.
    fn period(below: &mut impl FnMut(i64) -> i64) -> Period {
        let from = below(INSTANTS);
        let to = match below(6) {
            0 => Instant::FOREVER,
            _ => Instant(from + below(12)),
        };
        Period {
            from: Instant(from),
            to,
        }
    }

    #[test]
    fn an_event_decides_where_no_newer_one_does() {
        let mut random = 7_u64;
        let mut below = |bound: i64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as i64 % bound
        };
        for _ in 0..300 {
            let (mut decided, mut newer) = (Decided::default(), Vec::<Period>::new());
            for _ in 0..20 {
                let period = period(&mut below);
                let mut shown = Vec::new();
                decided.add(period, |part| shown.push(part));
                // After the last one, nothing changes.
                for instant in (0..=2 * INSTANTS).map(Instant) {
                    let is_open = !newer.iter().any(|it| it.covers(instant));
                    let expected = period.covers(instant) && is_open;
                    let parts = shown.iter().filter(|part| part.covers(instant));
                    assert_eq!(parts.count(), usize::from(expected), "{instant:?}");
                }
                // Ordered, and as few parts as possible.
                assert!(shown.iter().all(|part| part.from < part.to));
                assert!(shown.windows(2).all(|two| two[0].to < two[1].from));
                newer.push(period);
            }
        }
    }

    #[test]
    fn states_that_follow_one_another_are_one_period() {
        let mut decided = Decided::default();
        let mut until = Instant::FOREVER;
        for from in (0..1_000).rev().map(Instant) {
            let mut shown = Vec::new();
            decided.add(Period::since(from), |part| shown.push(part));
            assert_eq!(shown, [Period { from, to: until }]);
            assert_eq!(decided.0.len(), 1);
            until = from;
        }
    }
}
