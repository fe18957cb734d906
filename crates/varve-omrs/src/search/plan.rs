//! Ways to an answer, begun in turns until one has it.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::access::{Access, Kind, Ways};
use super::memory::Place;
use super::order::header_of;
use super::weight::instance_bytes;
use super::{Limits, Meter, Order, Query, SortKey, guid_bytes};
use crate::error::OmrsError;
use crate::matching::{SortValue, Target};
use crate::store::{Read, StoredInstance, Subject, Walk};
use crate::types::{Catalogue, PrimitiveDefCategory};

/// How many instances each way looks at in its first turn. Each turn is twice as long as the one before.
const FIRST_TURN: usize = 32;
/// The longest turn.
const TURN_MAX: usize = 1 << 16;
/// The most results of which the GUIDs are kept for the pages to come.
const LIST_MAX: usize = 2000;

/// The ways to a page, racing.
pub(super) struct Race<'a> {
    read: &'a dyn Read,
    types: &'a Catalogue,
    query: &'a Query,
    ways: Vec<Way>,
    list: Option<Arc<[String]>>,
}

enum Way {
    InOrder(InOrder),
    Collected(Collected),
    /// It would have to hold too much.
    GivenUp,
}

/// Walks one after the other which show what is asked for in its order.
struct InOrder {
    segments: Vec<Segment>,
    segment: usize,
    after: Option<Vec<u8>>,
    /// How many were found, those before the page included.
    found: usize,
    page: Vec<StoredInstance>,
    /// What the page takes in memory, in bytes.
    held: usize,
    /// Where the last one of the page stands.
    last: Option<(usize, Vec<u8>)>,
}

/// A walk of which only a part may count.
#[derive(Debug, Clone, PartialEq)]
struct Segment {
    access: Access,
    reverse: bool,
    only: Only,
}

#[derive(Debug, Clone, PartialEq)]
enum Only {
    All,
    /// Those without a value of this property.
    Missing(String),
    /// Those with one, which the walk shows one after the other.
    Present(String),
}

/// Walks in any order which together show all that is asked for.
struct Collected {
    order: Order,
    walks: Vec<Access>,
    walk: usize,
    after: Option<Vec<u8>>,
    /// GUIDs of those that came already, where one may come more than once.
    seen: Option<HashSet<String>>,
    found: Vec<Found>,
    /// What those that were found take in memory, in bytes, and what their GUIDs do.
    held: usize,
    /// Whether some that cannot be on the page were let go.
    is_cut: bool,
}

struct Found {
    key: SortKey,
    bytes: usize,
    instance: StoredInstance,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// With more to look at.
    Unfinished,
    /// With the page.
    Done,
    /// With more than may be held.
    TooMuch,
}

type Answer = (Vec<StoredInstance>, Option<Place>);

impl<'a> Race<'a> {
    pub(super) fn new(
        read: &'a dyn Read,
        types: &'a Catalogue,
        query: &'a Query,
        earlier: Option<&Place>,
    ) -> Self {
        let mut race = Self {
            read,
            types,
            query,
            ways: Vec::new(),
            list: None,
        };
        if let Some(Place::List(list)) = earlier {
            race.list = Some(Arc::clone(list));
            return race;
        }
        race.ways = race.ways();
        if let Some(Place::Walk {
            way,
            segment,
            after,
        }) = earlier
            && let Some(Way::InOrder(in_order)) = race.ways.get_mut(*way)
        {
            in_order.segment = *segment;
            in_order.after = Some(after.clone());
            in_order.found = query.page.offset;
        }
        race
    }

    /// Always the same ways for the same query and state, so that a place in one of them can be found again.
    fn ways(&self) -> Vec<Way> {
        let ways = Ways {
            read: self.read,
            types: self.types,
            query: self.query,
        };
        let (order, segments) = in_order(&ways);
        let mut narrow = Vec::new();
        let mut wide = Vec::new();
        for walks in ways.best() {
            let is_narrow = walks.iter().all(Access::is_narrow);
            let list = if is_narrow { &mut narrow } else { &mut wide };
            match &walks[..] {
                [walk] if walk.is_in(&order) => {
                    let segments = vec![Segment::all(walk.clone(), false)];
                    list.insert(0, Way::InOrder(InOrder::new(segments)));
                }
                _ => list.push(Way::Collected(Collected::new(order.clone(), walks))),
            }
        }
        let in_order = match segments {
            Some(segments) => Some(Way::InOrder(InOrder::new(segments))),
            None if narrow.is_empty() && wide.is_empty() => {
                Some(Way::Collected(Collected::new(order, vec![Access::Guid])))
            }
            None => None,
        };
        narrow.into_iter().chain(in_order).chain(wide).collect()
    }

    /// Lets the ways take turns.
    pub(super) fn run(&mut self, limits: &Limits) -> Result<Answer, OmrsError> {
        let meter = Meter::new(limits);
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
                match way.go_on(asked, &meter, &mut budget)? {
                    Turn::Done => {
                        let way = self.ways.swap_remove(index);
                        return Ok(self.answer(index, way));
                    }
                    Turn::TooMuch => {
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
                let place = way.last.map(|(segment, after)| Place::Walk {
                    way: index,
                    segment,
                    after,
                });
                (way.page, place)
            }
            Way::Collected(way) => way.answer(self.query),
            Way::GivenUp => Answer::default(),
        }
    }

    /// The page of a list that an earlier page left.
    fn listed(&self, list: Arc<[String]>, meter: &Meter) -> Result<Answer, OmrsError> {
        let page = self.query.page;
        let size = page.size.unwrap_or(usize::MAX);
        let mut found = Vec::new();
        for guid in list.iter().skip(page.offset).take(size) {
            meter.examine()?;
            let instance = match self.query.subject {
                Subject::Entities => self.read.entity(guid)?.map(StoredInstance::Entity),
                Subject::Relationships => self
                    .read
                    .relationship(guid)?
                    .map(StoredInstance::Relationship),
            };
            if let Some(instance) = instance {
                meter.hold(instance_bytes(&instance))?;
                found.push(instance);
            }
        }
        Ok((found, Some(Place::List(list))))
    }
}

/// The order in which results will come, and walks that show it if there are indexes for them.
fn in_order(ways: &Ways<'_>) -> (Order, Option<Vec<Segment>>) {
    let one = |order: Order, access: Access| {
        let reverse = order.is_reverse();
        let is_served = ways.is_served(&access, reverse);
        let segments = is_served.then(|| vec![Segment::all(access, reverse)]);
        (order, segments)
    };
    match &ways.query.order {
        // The order of creation keeps together what was made together, wherever the same instances are listed again.
        Order::Any if ways.is_served(&Access::CreateTime, false) => {
            one(Order::CreateTime { reverse: false }, Access::CreateTime)
        }
        Order::Any | Order::Guid => one(Order::Guid, Access::Guid),
        order @ Order::CreateTime { .. } => one(order.clone(), Access::CreateTime),
        order @ Order::UpdateTime { .. } => one(order.clone(), Access::UpdateTime),
        order @ Order::Property { name, reverse } => match ways.kind(name) {
            Kind::Undefined | Kind::Collection => one(Order::Guid, Access::Guid),
            kind if is_indexed_alike(kind) => (order.clone(), by_property(ways, name, *reverse)),
            _ => (order.clone(), None),
        },
    }
}

/// Whether an index has values of this kind in the order of results: decimals that are equal can be written differently, and
/// so can a zero.
fn is_indexed_alike(kind: Kind) -> bool {
    match kind {
        Kind::Primitive(category) => !matches!(
            category,
            PrimitiveDefCategory::Unknown
                | PrimitiveDefCategory::BigDecimal
                | PrimitiveDefCategory::Float
                | PrimitiveDefCategory::Double
        ),
        Kind::Enum => true,
        Kind::Undefined | Kind::Collection | Kind::Mixed => false,
    }
}

fn by_property(ways: &Ways<'_>, name: &str, reverse: bool) -> Option<Vec<Segment>> {
    let access = Access::Property(name.to_owned());
    if !ways.is_served(&access, reverse) {
        return None;
    }
    if ways.all_have(name) {
        return Some(vec![Segment::all(access, reverse)]);
    }
    // Those whose type does not have the property are not in its walk.
    if !ways.is_served(&Access::Guid, false) {
        return None;
    }
    let missing = Segment {
        access: Access::Guid,
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
    ) -> Result<Turn, OmrsError> {
        match self {
            Self::InOrder(way) => way.go_on(asked, meter, budget),
            Self::Collected(way) => way.go_on(asked, meter, budget),
            Self::GivenUp => Ok(Turn::Unfinished),
        }
    }

    /// What it holds, in bytes.
    fn held(&self) -> usize {
        match self {
            Self::InOrder(way) => way.held,
            Self::Collected(way) => way.held,
            Self::GivenUp => 0,
        }
    }
}

impl Segment {
    fn all(access: Access, reverse: bool) -> Self {
        Self {
            access,
            reverse,
            only: Only::All,
        }
    }
}

/// What a query is asked of.
type Asked<'a> = (&'a dyn Read, &'a Catalogue, &'a Query);

/// What is done after an instance was looked at.
enum Next {
    GoOn,
    /// The page, or what may be held, is full.
    Full,
    /// Nothing that comes in this walk counts.
    EndWalk,
}

/// Goes on with a walk until the budget is used up (then its place is kept in `after`), or it is at its end (then `after` is
/// none and the result is true), or the page is full (then `budget` is what is left of it).
fn go_on(
    (read, _, query): Asked<'_>,
    (access, reverse): (&Access, bool),
    after: &mut Option<Vec<u8>>,
    (meter, budget): (&Meter, &mut usize),
    look: &mut dyn FnMut(StoredInstance, &[u8]) -> Next,
) -> Result<bool, OmrsError> {
    let from = after.take();
    let walk = Walk {
        subject: query.subject,
        of: access.walked_type(query),
        by: access.by(),
        reverse,
        after: from.as_deref(),
    };
    let mut is_at_end = true;
    let mut place = None;
    read.walk(&walk, &mut |step| {
        *budget -= 1;
        meter.examine()?;
        match look(step.instance, step.place) {
            Next::EndWalk => return Ok(ControlFlow::Break(())),
            Next::GoOn if *budget > 0 => return Ok(ControlFlow::Continue(())),
            Next::GoOn | Next::Full => {}
        }
        place = Some(step.place.to_vec());
        is_at_end = false;
        Ok(ControlFlow::Break(()))
    })?;
    *after = place;
    Ok(is_at_end)
}

impl InOrder {
    fn new(segments: Vec<Segment>) -> Self {
        Self {
            segments,
            segment: 0,
            after: None,
            found: 0,
            page: Vec::new(),
            held: 0,
            last: None,
        }
    }

    fn go_on(
        &mut self,
        asked: Asked<'_>,
        meter: &Meter,
        budget: &mut usize,
    ) -> Result<Turn, OmrsError> {
        let (_, types, query) = asked;
        let end = query
            .page
            .size
            .map(|size| query.page.offset.saturating_add(size));
        while let Some(segment) = self.segments.get(self.segment) {
            let (found, page, held) = (&mut self.found, &mut self.page, &mut self.held);
            let mut is_full = false;
            let mut is_too_much = false;
            let mut look = |instance: StoredInstance, _: &[u8]| {
                if let Some(left_out) = segment.only.left_out(&instance, segment.reverse) {
                    return left_out;
                }
                if !query.takes(types, &instance) {
                    return Next::GoOn;
                }
                *found += 1;
                if *found > query.page.offset {
                    let bytes = instance_bytes(&instance);
                    *held += bytes;
                    is_too_much = !meter.has_room_for(bytes);
                    page.push(instance);
                }
                is_full = Some(*found) == end;
                if is_full || is_too_much {
                    Next::Full
                } else {
                    Next::GoOn
                }
            };
            let walk = (&segment.access, segment.reverse);
            let cost = (meter, &mut *budget);
            let is_at_end = go_on(asked, walk, &mut self.after, cost, &mut look)?;
            if is_too_much {
                return Ok(Turn::TooMuch);
            }
            if is_full {
                self.last = self.after.take().map(|after| (self.segment, after));
                return Ok(Turn::Done);
            }
            if !is_at_end {
                return Ok(Turn::Unfinished);
            }
            self.segment += 1;
            if *budget == 0 && self.segment < self.segments.len() {
                return Ok(Turn::Unfinished);
            }
        }
        Ok(Turn::Done)
    }
}

impl Only {
    fn left_out(&self, instance: &StoredInstance, reverse: bool) -> Option<Next> {
        let is_missing = |name: &str| {
            let target = Target::from(instance);
            SortValue::of(target.properties, name).is_missing()
        };
        match self {
            Self::Missing(name) if !is_missing(name) => Some(Next::GoOn),
            // From the greatest down, those without a value come last.
            Self::Present(name) if is_missing(name) => {
                Some(if reverse { Next::EndWalk } else { Next::GoOn })
            }
            _ => None,
        }
    }
}

impl Collected {
    fn new(order: Order, walks: Vec<Access>) -> Self {
        let repeats = walks.len() > 1 || walks.iter().any(Access::repeats);
        Self {
            order,
            walks,
            walk: 0,
            after: None,
            seen: repeats.then(HashSet::new),
            found: Vec::new(),
            held: 0,
            is_cut: false,
        }
    }

    fn go_on(
        &mut self,
        asked: Asked<'_>,
        meter: &Meter,
        budget: &mut usize,
    ) -> Result<Turn, OmrsError> {
        let (_, types, query) = asked;
        while let Some(access) = self.walks.get(self.walk) {
            let (seen, found, held) = (&mut self.seen, &mut self.found, &mut self.held);
            let mut is_too_much = false;
            let order = &self.order;
            let is_cut = &mut self.is_cut;
            let mut look = |instance: StoredInstance, _: &[u8]| {
                if !query.takes(types, &instance) {
                    return Next::GoOn;
                }
                let guid = header_of(&instance).guid();
                if seen
                    .as_mut()
                    .is_some_and(|seen| !seen.insert(guid.to_owned()))
                {
                    return Next::GoOn;
                }
                let mut added = instance_bytes(&instance);
                let found_one = Found {
                    key: order.key(&Target::from(&instance)),
                    bytes: added,
                    instance,
                };
                if seen.is_some() {
                    added += guid_bytes(header_of(&found_one.instance).guid());
                }
                found.push(found_one);
                *held += added;
                let is_pressing = !meter.has_room_for(added);
                if let Some(freed) = cut(order, query, found, is_pressing) {
                    *is_cut = true;
                    *held -= freed;
                    meter.release(freed);
                }
                // To cut again soon would cost more time than this way is worth.
                is_too_much = is_pressing && !meter.is_half_empty();
                if is_too_much { Next::Full } else { Next::GoOn }
            };
            let cost = (meter, &mut *budget);
            let walk = (access, false);
            let is_at_end = go_on(asked, walk, &mut self.after, cost, &mut look)?;
            if is_too_much {
                return Ok(Turn::TooMuch);
            }
            if !is_at_end {
                return Ok(Turn::Unfinished);
            }
            self.walk += 1;
            if *budget == 0 && self.walk < self.walks.len() {
                return Ok(Turn::Unfinished);
            }
        }
        Ok(Turn::Done)
    }

    fn answer(mut self, query: &Query) -> Answer {
        sort(&self.order, &mut self.found);
        let page = query.page;
        let is_kept = !self.is_cut && self.found.len() <= LIST_MAX;
        let place = is_kept.then(|| {
            let guids = self.found.iter();
            let guids = guids.map(|found| header_of(&found.instance).guid().to_owned());
            Place::List(guids.collect())
        });
        let size = page.size.unwrap_or(usize::MAX);
        let found = self.found.into_iter().skip(page.offset).take(size);
        (found.map(|found| found.instance).collect(), place)
    }
}

fn sort(order: &Order, found: &mut [Found]) {
    found.sort_unstable_by(|one, other| {
        let one = (&one.key, header_of(&one.instance).guid());
        let other = (&other.key, header_of(&other.instance).guid());
        order.compare(one, other)
    });
}

/// Lets go of those that come after the page, now and then, or at once when there is no more room. Tells the bytes that they
/// took if it did.
fn cut(order: &Order, query: &Query, found: &mut Vec<Found>, is_pressing: bool) -> Option<usize> {
    let size = query.page.size?;
    let wanted = query.page.offset.saturating_add(size);
    let most = wanted.saturating_mul(2).saturating_add(LIST_MAX);
    if found.len() <= wanted || (found.len() <= most && !is_pressing) {
        return None;
    }
    sort(order, found);
    Some(found.drain(wanted..).map(|found| found.bytes).sum())
}
