//! Offset, limit, capacity and page: which matches are passed on, and where the next page starts.

use varve_kv::Flow;

use super::page::Bookmark;
use crate::{ErrorKind, GraphError};

/// The most candidates that one query may examine: elements from an index, edges of a vertex, or
/// stored elements in a scan of the whole table. It is also the greatest limit of a query. Beyond
/// it, a query without paging fails, and a page ends early.
pub const QUERY_CAPACITY: u64 = 800_000;
/// How many candidates are examined after the last element of a page to find out whether another
/// match follows. If none is found among them, the answer still has a token, and the next page may
/// be empty.
const LOOK_AHEAD: u64 = 256;
/// The fewest elements that are fetched together.
const FETCH_MIN: u64 = 8;
/// The most elements that are fetched together.
pub(super) const FETCH_MAX: u64 = 256;

/// Appends the position of a candidate to a buffer.
pub(super) type Position<'p> = &'p dyn Fn(&mut Vec<u8>);

/// What to do with a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Skip,
    Deliver,
    Stop,
}

/// The state of one query's delivery of matches.
#[derive(Debug)]
pub(super) struct Delivery {
    skip: u64,
    limit: u64,
    /// Whether there is no limit; then a match beyond the capacity is an error.
    all: bool,
    paging: bool,
    /// How many candidates may be examined after the last element of a page, and in all.
    look_ahead: u64,
    capacity: u64,
    delivered: u64,
    /// How many candidates were examined in all, and how many of them after the last one delivered.
    examined: u64,
    looked_ahead: u64,
    more: bool,
    /// Whether the walk ended at the capacity.
    over: bool,
    leg: u32,
    position: Vec<u8>,
    /// Whether page tokens name only elements that were delivered.
    names_delivered: bool,
}

impl Delivery {
    /// Checks the range of a query: a negative offset means 0, a limit of -1 means no limit.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for another negative limit, a limit over [`QUERY_CAPACITY`],
    /// or paging with an offset.
    pub(super) fn new(
        what: &str,
        offset: i64,
        limit: i64,
        paging: bool,
    ) -> Result<Self, GraphError> {
        let offset = offset.max(0);
        if limit < -1 {
            let end = offset.saturating_add(limit);
            return Err(GraphError::invalid(format!(
                "Not a legal range: [{offset}, {end}]"
            )));
        }
        if limit.unsigned_abs() > QUERY_CAPACITY {
            let message = format!("Invalid limit {limit}, must be <= capacity({QUERY_CAPACITY})");
            return Err(GraphError::invalid(message));
        }
        if paging && offset > 0 {
            let message =
                format!("Not support querying {what} based on paging and offset together");
            return Err(GraphError::invalid(message));
        }
        let all = limit < 0;
        Ok(Self {
            skip: offset.unsigned_abs(),
            limit: if all {
                QUERY_CAPACITY
            } else {
                limit.unsigned_abs()
            },
            all,
            paging,
            look_ahead: LOOK_AHEAD,
            capacity: QUERY_CAPACITY,
            ..Self::piece(0)
        })
    }

    /// Keeps candidates that were examined but not delivered out of the page tokens.
    pub(super) fn name_delivered(&mut self) {
        self.names_delivered = true;
    }

    /// A page of `demand` elements, without look-ahead and without capacity: the caller bounds the
    /// cost.
    pub(super) fn piece(demand: usize) -> Self {
        Self {
            skip: 0,
            limit: u64::try_from(demand).unwrap_or(u64::MAX),
            all: false,
            paging: true,
            look_ahead: 0,
            capacity: u64::MAX,
            delivered: 0,
            examined: 0,
            looked_ahead: 0,
            more: false,
            over: false,
            leg: 0,
            position: Vec::new(),
            names_delivered: false,
        }
    }

    pub(super) fn asks_for_nothing(&self) -> bool {
        self.limit == 0
    }

    /// Returns how many candidates to fetch together next.
    pub(super) fn fetch(&self) -> u64 {
        let missing = self.skip.saturating_add(self.limit - self.delivered);
        missing.clamp(FETCH_MIN, FETCH_MAX)
    }

    /// Begins a leg of the plan, at a position in it.
    pub(super) fn begin(&mut self, leg: u32, position: &[u8]) {
        self.leg = leg;
        self.position.clear();
        self.position.extend_from_slice(position);
    }

    /// Takes one candidate. `emit` delivers it and returns whether the receiver wants more.
    pub(super) fn offer(
        &mut self,
        position: Position<'_>,
        matches: bool,
        emit: &mut dyn FnMut() -> Flow,
    ) -> Flow {
        let verdict = if matches {
            self.matched()
        } else {
            Verdict::Skip
        };
        let flow = match verdict {
            Verdict::Stop => return Flow::Break(()),
            Verdict::Deliver => {
                if self.names_delivered {
                    self.stand(position);
                }
                emit()
            }
            Verdict::Skip => Flow::Continue(()),
        };
        let onward = self.passed(1, position);
        if flow.is_break() {
            self.more = true;
            if !self.names_delivered {
                self.stand(position);
            }
            return flow;
        }
        onward
    }

    /// Makes the next page start after this position.
    fn stand(&mut self, position: Position<'_>) {
        if self.paging {
            self.position.clear();
            position(&mut self.position);
        }
    }

    /// The number of candidates examined so far.
    pub(super) fn examined(&self) -> u64 {
        self.examined
    }

    fn matched(&mut self) -> Verdict {
        if self.skip > 0 {
            self.skip -= 1;
            return Verdict::Skip;
        }
        if self.delivered == self.limit {
            self.more = true;
            self.over = self.all;
            return Verdict::Stop;
        }
        self.delivered += 1;
        Verdict::Deliver
    }

    /// Counts candidates up to `position` that were read but not offered, since they do not exist.
    pub(super) fn passed(&mut self, candidates: u64, position: Position<'_>) -> Flow {
        self.examined += candidates;
        let is_full = self.delivered == self.limit;
        let ended = if !is_full || self.all {
            self.over |= self.examined > self.capacity;
            self.over
        } else {
            self.looked_ahead += candidates;
            !self.paging || self.looked_ahead > self.look_ahead
        };
        self.more |= ended;
        // The page ends here or before the next match.
        if (ended || is_full) && !self.names_delivered {
            self.stand(position);
        }
        if ended {
            Flow::Break(())
        } else {
            Flow::Continue(())
        }
    }

    /// Returns where the next page starts; `None` after the last page and without paging.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] if a walk without paging reached the capacity, or a page
    /// reached it without a delivered element that its token may name.
    pub(super) fn finish(
        self,
        plan: u64,
        choices: Vec<u8>,
    ) -> Result<Option<Bookmark>, GraphError> {
        let stands_still = self.names_delivered && self.delivered == 0;
        if self.over && (!self.paging || stands_still) {
            let message = format!("Too many records(must <= {QUERY_CAPACITY}) for the query");
            return Err(GraphError::new(ErrorKind::LimitExceeded, message));
        }
        let (leg, position) = (self.leg, self.position);
        let bookmark = Bookmark {
            plan,
            choices,
            leg,
            position,
        };
        Ok((self.paging && self.more).then_some(bookmark))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(delivery: &mut Delivery, matches: &[bool]) -> Vec<usize> {
        let mut out = Vec::new();
        for (at, matches) in matches.iter().enumerate() {
            let position = [u8::try_from(at % 256).expect("remainder")];
            let flow = delivery.offer(
                &|out| out.extend_from_slice(&position),
                *matches,
                &mut || {
                    out.push(at);
                    Flow::Continue(())
                },
            );
            if flow.is_break() {
                break;
            }
        }
        out
    }

    fn position(delivery: Delivery) -> Option<Vec<u8>> {
        delivery
            .finish(0, Vec::new())
            .expect("in capacity")
            .map(|bookmark| bookmark.position)
    }

    #[test]
    fn refusals_as_recorded() {
        let message = |offset, limit, paging| {
            Delivery::new("vertices", offset, limit, paging)
                .expect_err("refused")
                .message
        };
        assert_eq!(message(0, -2, false), "Not a legal range: [0, -2]");
        assert_eq!(
            message(0, 800_001, false),
            "Invalid limit 800001, must be <= capacity(800000)"
        );
        assert_eq!(
            message(1, 2, true),
            "Not support querying vertices based on paging and offset together"
        );
    }

    #[test]
    fn offset_and_limit_cut_the_matches() {
        let mut delivery = Delivery::new("vertices", 1, 2, false).expect("legal");
        assert_eq!(
            take(&mut delivery, &[true, false, true, true, true]),
            [2, 3]
        );
        let mut negative = Delivery::new("vertices", -3, -1, false).expect("legal");
        assert_eq!(take(&mut negative, &[true, true]), [0, 1]);
    }

    #[test]
    fn a_page_ends_only_when_another_match_exists() {
        let mut exact = Delivery::new("vertices", 0, 2, true).expect("legal");
        assert_eq!(take(&mut exact, &[true, true, false, false]), [0, 1]);
        assert_eq!(position(exact), None);
        let mut more = Delivery::new("vertices", 0, 2, true).expect("legal");
        assert_eq!(take(&mut more, &[true, true, false, true]), [0, 1]);
        assert_eq!(
            position(more),
            Some(vec![2]),
            "the next page starts right before the match"
        );
    }

    /// Offers a match at each of three positions to a receiver that breaks at the second.
    fn broken_at_the_second(delivery: &mut Delivery) -> usize {
        let mut taken = 0;
        for at in 1..=3_u8 {
            let flow = delivery.offer(&|out| out.push(at), true, &mut || {
                taken += 1;
                match taken < 2 {
                    true => Flow::Continue(()),
                    false => Flow::Break(()),
                }
            });
            if flow.is_break() {
                break;
            }
        }
        taken
    }

    #[test]
    fn a_receiver_that_breaks_ends_the_page_behind_its_last_element() {
        let mut delivery = Delivery::new("vertices", 0, 10, true).expect("legal");
        assert_eq!(broken_at_the_second(&mut delivery), 2);
        assert_eq!(position(delivery), Some(vec![2]));
        let mut named = Delivery::new("vertices", 0, 10, true).expect("legal");
        named.name_delivered();
        assert_eq!(broken_at_the_second(&mut named), 2);
        assert_eq!(position(named), Some(vec![2]));
        let mut whole = Delivery::new("vertices", 0, 10, false).expect("legal");
        assert_eq!(broken_at_the_second(&mut whole), 2);
        assert_eq!(position(whole), None, "no page was asked for");
    }

    #[test]
    fn looking_ahead_is_bounded() {
        let mut delivery = Delivery::new("vertices", 0, 1, true).expect("legal");
        let mut matches = vec![true];
        matches.resize(4_000, false);
        take(&mut delivery, &matches);
        assert!(delivery.looked_ahead <= LOOK_AHEAD + 1 && position(delivery).is_some());
    }

    #[test]
    fn all_is_bounded_by_the_capacity() {
        let mut exact = Delivery::new("vertices", 0, -1, false).expect("legal");
        exact.limit = 3;
        assert_eq!(take(&mut exact, &[true, true, true]).len(), 3);
        assert_eq!(position(exact), None);
        let mut delivery = Delivery::new("vertices", 0, -1, false).expect("legal");
        delivery.limit = 3;
        assert_eq!(take(&mut delivery, &[true, true, true]).len(), 3);
        assert!(
            delivery
                .offer(&|out: &mut Vec<u8>| out.push(9), true, &mut || {
                    Flow::Continue(())
                })
                .is_break()
        );
        let error = delivery.finish(0, Vec::new()).expect_err("over");
        assert_eq!(
            error.message,
            "Too many records(must <= 800000) for the query"
        );
    }

    #[test]
    fn candidates_that_match_nothing_count() {
        let mut query = Delivery::new("vertices", 0, 10, false).expect("legal");
        assert!(
            query
                .passed(QUERY_CAPACITY, &|out: &mut Vec<u8>| out.push(1))
                .is_continue()
        );
        assert!(take(&mut query, &[false, true]).is_empty());
        assert!(query.finish(0, Vec::new()).is_err());
        let mut page = Delivery::new("vertices", 0, 10, true).expect("legal");
        assert!(
            page.passed(QUERY_CAPACITY + 1, &|out: &mut Vec<u8>| out.push(7))
                .is_break()
        );
        assert_eq!(position(page), Some(vec![7]), "a page ends early instead");
    }
}
