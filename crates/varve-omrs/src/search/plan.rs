//! Runs the plans for a query in turns, until one has the page.

use std::sync::Arc;

use super::access::{Access, PropertyKind, Ways};
use super::by_texts::ByTexts;
use super::collected::Collected;
use super::in_order::{InOrder, Only, Segment};
use super::memory::PageEnd;
use super::turn::{Asked, Turn};
use super::weight::kept_bytes;
use super::{Limits, Meter, Order, Query};
use crate::error::OmrsError;
use crate::graph_store::GraphReader;
use crate::store::{Candidate, Listing};
use crate::types::{Catalogue, PrimitiveDefCategory};

/// The number of instances that each plan examines in its first turn. Each turn is twice as long as
/// the previous one.
const FIRST_TURN: usize = 32;
/// The longest turn, in instances.
const TURN_MAX: usize = 1 << 16;

/// The competing plans of one query.
pub(super) struct Race<'a> {
    read: &'a GraphReader,
    types: &'a Catalogue,
    query: &'a Query,
    ways: Vec<Way>,
    list: Option<Arc<[String]>>,
}

enum Way {
    InOrder(InOrder),
    Collected(Collected),
    ByTexts(ByTexts),
    /// Given up: the plan needs too much memory, or has no access.
    GivenUp,
}

type Answer = (Vec<Candidate>, Option<PageEnd>);

impl<'a> Race<'a> {
    pub(super) fn new(
        read: &'a GraphReader,
        types: &'a Catalogue,
        query: &'a Query,
        earlier: Option<&PageEnd>,
    ) -> Self {
        let mut race = Self {
            read,
            types,
            query,
            ways: Vec::new(),
            list: None,
        };
        if let Some(PageEnd::List(list)) = earlier {
            race.list = Some(Arc::clone(list));
            return race;
        }
        race.ways = race.ways();
        if let Some(PageEnd::Walk { way, mark }) = earlier
            && let Some(Way::InOrder(in_order)) = race.ways.get_mut(*way)
        {
            in_order.resume(mark, query.page.offset);
        }
        race
    }

    /// Makes the plans. They depend only on the query and the state, so that the end of a page in
    /// one of them can be found again.
    fn ways(&self) -> Vec<Way> {
        let ways = Ways {
            read: self.read,
            types: self.types,
            query: self.query,
        };
        let (order, segments) = in_order(&ways);
        let (walks, others) = ways.best(&order);
        let pattern = ways.pattern();
        let everything = ways.all(Listing::Guid);
        // Such a walk visits all results, in the same order as the walk of all instances, so it
        // replaces that.
        let is_ahead = |walk: &Access| walk.is_part_of_all() && self.query.types.of.is_none();
        let has_better = walks.iter().any(is_ahead);
        let reverse = |walk: &Access| order.is_reverse() && walk.is_by_time();
        let one = |walk: Access| {
            let reverse = reverse(&walk);
            Way::InOrder(InOrder::new(
                order.clone(),
                vec![Segment::all(walk, reverse)],
            ))
        };
        let mut ways: Vec<Way> = walks.into_iter().map(one).collect();
        let (narrow, wide): (Vec<_>, Vec<_>) = others
            .into_iter()
            .partition(|walks| walks.iter().all(Access::is_narrow));
        let collected = |walks| Way::Collected(Collected::new(order.clone(), walks));
        ways.extend(narrow.into_iter().map(collected));
        match segments {
            Some(_) if has_better => {}
            Some(segments) => {
                ways.push(Way::InOrder(InOrder::new(order.clone(), segments)));
            }
            None if ways.is_empty() && wide.is_empty() => ways.push(collected(vec![everything])),
            None => {}
        }
        ways.extend(wide.into_iter().map(collected));
        let by_texts = pattern.map(|pattern| ByTexts::new(order.clone(), pattern));
        ways.extend(by_texts.map(Way::ByTexts));
        ways
    }

    /// Runs the plans in turns.
    pub(super) fn run(&mut self, limits: &Limits) -> Result<Answer, OmrsError> {
        let meter = Meter::of_query(limits, self.query.effort.as_ref());
        if let Some(list) = self.list.take() {
            return self.listed(list, &meter);
        }
        let mut going = self.ways.len();
        let mut turn = FIRST_TURN;
        loop {
            for index in 0..self.ways.len() {
                let way = &mut self.ways[index];
                if matches!(way, Way::GivenUp) {
                    continue;
                }
                let left = meter.left()?;
                let mut budget = if going == 1 { left } else { turn.min(left) };
                let asked = (self.read, self.types, self.query);
                match way.go_on(asked, &meter, &mut budget, going == 1)? {
                    Turn::Done => {
                        meter.check()?;
                        let way = self.ways.swap_remove(index);
                        return Ok(self.answer(index, way));
                    }
                    Turn::TooMuch | Turn::NoWay => {
                        meter.release(way.held());
                        *way = Way::GivenUp;
                        going -= 1;
                        if going == 0 {
                            return Err(meter.too_much());
                        }
                    }
                    Turn::Unfinished => {}
                }
            }
            turn = turn.saturating_mul(2).min(TURN_MAX);
        }
    }

    fn answer(&self, index: usize, way: Way) -> Answer {
        match way {
            Way::InOrder(way) => {
                let (page, mark) = way.answer();
                let place = mark.map(|mark| PageEnd::Walk { way: index, mark });
                (page, place)
            }
            Way::Collected(way) | Way::ByTexts(ByTexts::Begun(way)) => way.answer(self.query),
            Way::ByTexts(ByTexts::Waiting(..)) | Way::GivenUp => Answer::default(),
        }
    }

    /// The page of a list that an earlier page has cached.
    fn listed(&self, list: Arc<[String]>, meter: &Meter) -> Result<Answer, OmrsError> {
        let page = self.query.page;
        let size = page.size.unwrap_or(usize::MAX);
        let mut found = Vec::new();
        for guid in list.iter().skip(page.offset).take(size) {
            meter.examine()?;
            if let Some(kept) = self.read.kept(self.query.subject, guid)? {
                meter.hold(kept_bytes(&kept))?;
                found.push(kept);
            }
        }
        Ok((found, Some(PageEnd::List(list))))
    }
}

/// The order of the results, and the walks that visit them in this order if indexes serve them.
fn in_order(ways: &Ways<'_>) -> (Order, Option<Vec<Segment>>) {
    let all = |order: Order, listing: Listing| {
        let segment = Segment::all(ways.all(listing), order.is_reverse());
        (order, Some(vec![segment]))
    };
    match &ways.query.order {
        // Creation order keeps instances that were created together close to each other in every
        // listing.
        Order::Any => all(Order::CreateTime { reverse: false }, Listing::CreateTime),
        Order::Guid => all(Order::Guid, Listing::Guid),
        order @ Order::CreateTime { .. } => all(order.clone(), Listing::CreateTime),
        order @ Order::UpdateTime { .. } => all(order.clone(), Listing::UpdateTime),
        order @ Order::Property { name, reverse } => match ways.kind(name) {
            PropertyKind::Undefined | PropertyKind::Collection => all(Order::Guid, Listing::Guid),
            kind if is_indexed_alike(kind) => (order.clone(), by_property(ways, name, *reverse)),
            _ => (order.clone(), None),
        },
    }
}

/// Whether an index orders values of this kind as results are ordered. Equal decimals can have
/// different forms, and so can zero.
fn is_indexed_alike(kind: PropertyKind) -> bool {
    match kind {
        PropertyKind::Primitive(category) => !matches!(
            category,
            PrimitiveDefCategory::Unknown
                | PrimitiveDefCategory::BigDecimal
                | PrimitiveDefCategory::Float
                | PrimitiveDefCategory::Double
        ),
        PropertyKind::Enum => true,
        PropertyKind::Undefined | PropertyKind::Collection | PropertyKind::Mixed => false,
    }
}

fn by_property(ways: &Ways<'_>, name: &str, reverse: bool) -> Option<Vec<Segment>> {
    let access = Access::Property(name.to_owned());
    if !ways.is_served(&access) {
        return None;
    }
    if ways.all_have(name) {
        return Some(vec![Segment::all(access, reverse)]);
    }
    // Instances whose type lacks the property are not in the property's walk.
    let missing = Segment {
        access: ways.all(Listing::Guid),
        reverse: false,
        only: Only::Missing(name.to_owned()),
    };
    let present = Segment {
        access,
        reverse,
        only: Only::Present(name.to_owned()),
    };
    Some(if reverse {
        vec![present, missing]
    } else {
        vec![missing, present]
    })
}

impl Way {
    fn go_on(
        &mut self,
        asked: Asked<'_>,
        meter: &Meter,
        budget: &mut usize,
        is_last: bool,
    ) -> Result<Turn, OmrsError> {
        match self {
            Self::InOrder(way) => way.go_on(asked, meter, budget),
            Self::Collected(way) => way.go_on(asked, meter, budget),
            Self::ByTexts(way) => way.go_on(asked, meter, budget, is_last),
            Self::GivenUp => Ok(Turn::Unfinished),
        }
    }

    /// The bytes that the plan holds.
    fn held(&self) -> usize {
        match self {
            Self::InOrder(way) => way.held(),
            Self::Collected(way) => way.held(),
            Self::ByTexts(way) => way.held(),
            Self::GivenUp => 0,
        }
    }
}
