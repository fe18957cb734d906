//! Finds the subgraph on the simple paths (without repeated entities) between two entities.
//!
//! An entity or relationship is on such a path if and only if it is in a block (biconnected
//! component) on the path between start and end in the tree of blocks and cut vertices. One
//! depth-first search from the start finds the blocks, in time linear in what is connected to it.
//! When the search goes back from an entity towards the start, the block of the relationship that
//! led to the entity may be complete. The block counts if it contains the end, or an entity at
//! which another block that counts begins.

use std::collections::HashMap;

use super::neighbourhood::other_end;
use super::{Entered, Keep, Stepper, SubGraph, WalkLimits, Way};
use crate::error::OmrsError;
use crate::graph_store::GraphReader;
use crate::requests::FindRequest;
use crate::search::Limits;
use crate::store::RenderedEntity;
use crate::types::Catalogue;

/// All entities and relationships on simple paths from `start` to `end`, both included. Empty when
/// there is no path.
///
/// # Errors
/// `RepositoryErrorException` when a limit is exceeded, or the store fails.
pub fn linking(
    read: &GraphReader,
    types: &Catalogue,
    [start, end]: [RenderedEntity; 2],
    find: &FindRequest,
    limits: &Limits,
) -> Result<SubGraph, OmrsError> {
    let walked = WalkLimits {
        find: find.clone(),
        ..WalkLimits::default()
    };
    let stepper = Stepper::new(read, types, &walked, limits);
    let is_same = start.guid() == end.guid();
    if !stepper.step.takes_entity(read, &end)? {
        return Ok(SubGraph::default());
    }
    if is_same {
        return Ok(SubGraph {
            entities: vec![start],
            relationships: Vec::new(),
        });
    }
    let [from, to] = [&start, &end].map(|entity| entity.guid().to_owned());
    let found = Search::new(&stepper, from, to).run()?;
    found.read(&stepper, [start, end])
}

/// The result before it is rendered. Most entities that the search visits are not in it, and are
/// never read in full.
struct Linking {
    entities: Vec<(String, Entered)>,
    relationships: Vec<Way>,
}

impl Linking {
    fn read(self, stepper: &Stepper<'_>, ends: [RenderedEntity; 2]) -> Result<SubGraph, OmrsError> {
        let mut graph = SubGraph::default();
        let mut entities = self.entities.into_iter();
        let mut relationships = self.relationships.into_iter();
        loop {
            if stepper.must_let_go_rows() {
                let rest = entities.as_mut_slice().iter_mut();
                rest.for_each(|(_, entered)| stepper.let_go_row(entered));
                let rest = relationships.as_mut_slice().iter_mut();
                rest.for_each(|way| stepper.let_go_row_of(way));
            }
            let Some((guid, mut entered)) = entities.next() else {
                let Some(way) = relationships.next() else {
                    return Ok(graph);
                };
                graph.relationships.push(stepper.rendered_way(way)?);
                continue;
            };
            let is_end = |end: &&RenderedEntity| end.guid() == guid;
            let end = ends.iter().find(is_end);
            if end.is_some() {
                stepper.let_go_row(&mut entered);
            }
            let entity = match end {
                // The paths begin at the start whatever its status, but the result has it only if
                // it satisfies the limits.
                Some(end) if stepper.step.takes_entity(stepper.read, end)? => Some(end.clone()),
                Some(_) => None,
                None => stepper.entered(&guid, entered)?,
            };
            graph.entities.extend(entity);
        }
    }
}

/// An entity that the search has visited.
struct Visited {
    guid: String,
    entered: Entered,
    /// The low point: the least number among the entities to which it, or an entity behind it, is
    /// linked.
    low: usize,
    /// Whether a complete part of a path to the end begins here: it is the end, or a block that
    /// counts begins at it.
    leads: bool,
    is_kept: bool,
}

/// An entity on the path from the start to the current entity of the search.
struct Frame {
    number: usize,
    /// The relationships that are still to be followed.
    rest: std::vec::IntoIter<Way>,
    /// The positions on the stacks at which the relationships and entities of this entity begin.
    relationships_from: usize,
    entities_from: usize,
}

/// A depth-first search without recursion, since a path can have all entities.
struct Search<'a> {
    stepper: &'a Stepper<'a>,
    end: String,
    numbers: HashMap<String, Option<usize>>,
    visited: Vec<Visited>,
    frames: Vec<Frame>,
    /// The relationships and entities whose blocks are not complete yet.
    relationships: Vec<Way>,
    entities: Vec<usize>,
    kept: Vec<Way>,
    /// The links of entities that the search has not visited yet, read in advance. The search
    /// visits every connected entity.
    ahead: HashMap<String, Vec<Way>>,
}

impl<'a> Search<'a> {
    fn new(stepper: &'a Stepper<'a>, start: String, end: String) -> Self {
        let mut search = Self {
            stepper,
            end,
            numbers: HashMap::new(),
            visited: Vec::new(),
            frames: Vec::new(),
            relationships: Vec::new(),
            entities: Vec::new(),
            kept: Vec::new(),
            ahead: HashMap::new(),
        };
        search.add(start, Entered::default());
        search
    }

    fn add(&mut self, guid: String, entered: Entered) -> usize {
        let number = self.visited.len();
        self.numbers.insert(guid.clone(), Some(number));
        let leads = guid == self.end;
        self.visited.push(Visited {
            guid,
            entered,
            low: number,
            leads,
            is_kept: false,
        });
        number
    }

    fn run(mut self) -> Result<Linking, OmrsError> {
        self.enter(0, 0)?;
        loop {
            if self.stepper.must_let_go_rows() {
                self.let_go_rows();
            }
            let Some(frame) = self.frames.last_mut() else {
                break;
            };
            match frame.rest.next() {
                Some(way) => self.pass(way)?,
                None => self.leave(),
            }
            // The other blocks of the start do not lead to the end.
            if self.visited[0].leads {
                break;
            }
        }
        let mut entities = Vec::new();
        for mut of in self.visited {
            match of.is_kept {
                true => entities.push((of.guid, of.entered)),
                false => self.stepper.let_go_row(&mut of.entered),
            }
        }
        let rest = self.frames.iter().flat_map(|frame| frame.rest.as_slice());
        let rest = rest.chain(&self.relationships);
        for way in rest.chain(self.ahead.values().flatten()) {
            self.stepper.let_go_way(way);
        }
        Ok(Linking {
            entities,
            relationships: self.kept,
        })
    }

    /// Drops all cached rows.
    fn let_go_rows(&mut self) {
        let stepper = self.stepper;
        for (_, ways) in self.ahead.drain() {
            ways.iter().for_each(|way| stepper.let_go_way(way));
        }
        for of in &mut self.visited {
            stepper.let_go_row(&mut of.entered);
        }
        let rest = self.frames.iter_mut();
        let rest = rest.flat_map(|frame| frame.rest.as_mut_slice());
        for way in rest.chain(&mut self.relationships).chain(&mut self.kept) {
            stepper.let_go_row_of(way);
        }
    }

    fn enter(&mut self, number: usize, relationships_from: usize) -> Result<(), OmrsError> {
        let rest = match self.ways_from(number) {
            Err(error) if self.stepper.may_go_without_rows(&error) => {
                self.let_go_rows();
                self.ways_from(number)?
            }
            done => done?,
        };
        self.frames.push(Frame {
            number,
            rest: rest.into_iter(),
            relationships_from,
            entities_from: self.entities.len(),
        });
        self.entities.push(number);
        Ok(())
    }

    /// The links of an entity that the search visits. As long as there is room, those of the next
    /// neighbours of its predecessor are read at the same time.
    fn ways_from(&mut self, number: usize) -> Result<Vec<Way>, OmrsError> {
        let guid = &self.visited[number].guid;
        if let Some(ways) = self.ahead.remove(guid) {
            return Ok(ways);
        }
        let most = match self.stepper.has_room_for_row(0) {
            true => self.stepper.read.links_at_once(),
            false => 1,
        };
        let mut asked: Vec<&str> = vec![guid];
        if let Some(before) = self.frames.last() {
            let from = &self.visited[before.number].guid;
            for way in before.rest.as_slice() {
                if asked.len() >= most {
                    break;
                }
                let to = other_end(&way.link.ends, from);
                let is_known = self.numbers.contains_key(to) || self.ahead.contains_key(to);
                if !is_known && !asked.contains(&to) {
                    asked.push(to);
                }
            }
        }
        if let [only] = asked[..] {
            return self.stepper.links(only, Keep::Rows);
        }
        let mut found = self.stepper.ways_of_each(&asked)?.into_iter();
        let own = found.next().unwrap_or_default();
        let others: Vec<String> = asked[1..].iter().map(|&guid| guid.to_owned()).collect();
        self.ahead.extend(others.into_iter().zip(found));
        Ok(own)
    }

    /// Follows a relationship of the current entity.
    fn pass(&mut self, way: Way) -> Result<(), OmrsError> {
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let from = frame.number;
        let to = other_end(&way.link.ends, &self.visited[from].guid);
        match self.numbers.get(to) {
            // The other entity may not be entered, or the relationship was followed from there, or
            // is a loop.
            Some(None) => self.stepper.let_go_way(&way),
            Some(Some(number)) if *number >= from => self.stepper.let_go_way(&way),
            Some(Some(number)) => {
                let number = *number;
                let is_the_way_here = self
                    .relationships
                    .get(frame.relationships_from)
                    .is_some_and(|here| here.link.guid == way.link.guid);
                if from != 0 && is_the_way_here {
                    self.stepper.let_go_way(&way);
                    return Ok(());
                }
                self.relationships.push(way);
                let visited = &mut self.visited[from];
                visited.low = visited.low.min(number);
            }
            None => {
                let to = to.to_owned();
                let Some(entered) = self.stepper.enter(&to)? else {
                    self.stepper.let_go_way(&way);
                    for way in self.ahead.remove(&to).unwrap_or_default() {
                        self.stepper.let_go_way(&way);
                    }
                    self.numbers.insert(to, None);
                    return Ok(());
                };
                let number = self.add(to, entered);
                let relationships_from = self.relationships.len();
                self.relationships.push(way);
                self.enter(number, relationships_from)?;
            }
        }
        Ok(())
    }

    /// Goes back from the current entity.
    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let Some(before) = self.frames.last() else {
            return;
        };
        let (number, before) = (frame.number, before.number);
        let low = self.visited[number].low;
        if low < before {
            let visited = &mut self.visited[before];
            visited.low = visited.low.min(low);
            return;
        }
        // No entity behind this one is linked to one before `before`, so the block is complete.
        let entities = self.entities.split_off(frame.entities_from);
        let relationships = self.relationships.split_off(frame.relationships_from);
        let counts = entities.iter().any(|number| self.visited[*number].leads);
        if !counts {
            for way in &relationships {
                self.stepper.let_go_way(way);
            }
            return;
        }
        for number in entities {
            self.visited[number].is_kept = true;
        }
        let visited = &mut self.visited[before];
        visited.is_kept = true;
        visited.leads = true;
        self.kept.extend(relationships);
    }
}
