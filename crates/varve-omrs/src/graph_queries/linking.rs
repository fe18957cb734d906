//! What lies on the paths between two entities.
//!
//! An entity or relationship lies on a path from start to end that meets no entity twice if and only if it is in one of the
//! blocks (parts that stay connected when any one entity is taken away) which lie between the two in the tree of blocks and
//! cut entities. One depth-first search from the start finds the blocks, in time linear in what is connected to it: when the
//! search leaves an entity on the way back to the start, the block of the relationship that led to it is complete, and it
//! counts if the end, or a place where another block that counts begins, is in it.

use std::collections::HashMap;

use super::neighbourhood::other_end;
use super::{Stepper, SubGraph, WalkLimits};
use crate::error::OmrsError;
use crate::instances::EntityDetail;
use crate::requests::FindRequest;
use crate::search::Limits;
use crate::store::{Read, StoredRelationship};
use crate::types::Catalogue;

/// All entities and relationships on some path from `start` to `end` that meets no entity twice, both included. Nothing
/// when there is no path.
///
/// # Errors
/// `RepositoryErrorException` when it is more than the limits allow to look at, or the store fails.
pub fn linking(
    read: &dyn Read,
    types: &Catalogue,
    [start, end]: [EntityDetail; 2],
    find: &FindRequest,
    limits: &Limits,
) -> Result<SubGraph, OmrsError> {
    let walked = WalkLimits {
        find: find.clone(),
        ..WalkLimits::default()
    };
    let stepper = Stepper::new(read, types, &walked, limits);
    let is_same = start.header.guid() == end.header.guid();
    if !stepper.step.takes_entity(&end) {
        return Ok(SubGraph::default());
    }
    if is_same {
        return Ok(SubGraph {
            entities: vec![start],
            relationships: Vec::new(),
        });
    }
    let end = end.header.guid().to_owned();
    Search::new(stepper, start, end).run()
}

/// An entity that the search has come to.
struct Visited {
    entity: EntityDetail,
    /// The least number that it or what lies behind it is linked to.
    low: usize,
    /// Whether it is on a path to the end as far as blocks are complete: the end, or where a block that counts begins.
    leads: bool,
    is_kept: bool,
}

/// An entity on the way from the start to where the search is.
struct Frame {
    number: usize,
    /// The relationships that are still to be looked at.
    rest: std::vec::IntoIter<StoredRelationship>,
    /// Where the relationships and entities that belong behind it begin on the stacks.
    relationships_from: usize,
    entities_from: usize,
}

/// A depth-first search without recursion: paths can be as long as there are entities.
struct Search<'a> {
    stepper: Stepper<'a>,
    end: String,
    numbers: HashMap<String, Option<usize>>,
    visited: Vec<Visited>,
    frames: Vec<Frame>,
    /// Relationships and entities whose blocks are not complete yet.
    relationships: Vec<(StoredRelationship, [usize; 2])>,
    entities: Vec<usize>,
    kept: Vec<StoredRelationship>,
}

impl<'a> Search<'a> {
    fn new(stepper: Stepper<'a>, start: EntityDetail, end: String) -> Self {
        let mut search = Self {
            stepper,
            end,
            numbers: HashMap::new(),
            visited: Vec::new(),
            frames: Vec::new(),
            relationships: Vec::new(),
            entities: Vec::new(),
            kept: Vec::new(),
        };
        search.add(start);
        search
    }

    fn add(&mut self, entity: EntityDetail) -> usize {
        let number = self.visited.len();
        let guid = entity.header.guid();
        self.numbers.insert(guid.to_owned(), Some(number));
        let leads = guid == self.end;
        self.visited.push(Visited {
            entity,
            low: number,
            leads,
            is_kept: false,
        });
        number
    }

    fn run(mut self) -> Result<SubGraph, OmrsError> {
        self.enter(0, 0)?;
        while let Some(frame) = self.frames.last_mut() {
            match frame.rest.next() {
                Some(relationship) => self.pass(relationship)?,
                None => self.leave(),
            }
            // All of the start's other blocks would lead elsewhere.
            if self.visited[0].leads {
                break;
            }
        }
        let mut graph = SubGraph {
            entities: Vec::new(),
            relationships: self.kept,
        };
        let step = self.stepper.step;
        // Whichever status the start has, the paths begin there.
        let kept = self.visited.into_iter().filter(|of| of.is_kept);
        let kept = kept.map(|of| of.entity);
        graph
            .entities
            .extend(kept.filter(|entity| step.takes_entity(entity)));
        Ok(graph)
    }

    fn enter(&mut self, number: usize, relationships_from: usize) -> Result<(), OmrsError> {
        let guid = self.visited[number].entity.header.guid().to_owned();
        let rest = self.stepper.relationships(&guid)?;
        self.frames.push(Frame {
            number,
            rest: rest.into_iter(),
            relationships_from,
            entities_from: self.entities.len(),
        });
        self.entities.push(number);
        Ok(())
    }

    /// Looks along a relationship of the entity that the search is at.
    fn pass(&mut self, relationship: StoredRelationship) -> Result<(), OmrsError> {
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let from = frame.number;
        let guid = self.visited[from].entity.header.guid();
        let to = other_end(&relationship, guid).to_owned();
        match self.numbers.get(&to) {
            // It does not lead on, or was looked along from its other end, or is a loop.
            Some(None) => self.stepper.let_go(&relationship),
            Some(Some(number)) if *number >= from => self.stepper.let_go(&relationship),
            Some(Some(number)) => {
                let number = *number;
                let is_the_way_here = self
                    .relationships
                    .get(frame.relationships_from)
                    .is_some_and(|(way, _)| way.header.guid() == relationship.header.guid());
                if from != 0 && is_the_way_here {
                    self.stepper.let_go(&relationship);
                    return Ok(());
                }
                self.relationships.push((relationship, [number, from]));
                let visited = &mut self.visited[from];
                visited.low = visited.low.min(number);
            }
            None => {
                let Some(entity) = self.stepper.entity(&to)? else {
                    self.stepper.let_go(&relationship);
                    self.numbers.insert(to, None);
                    return Ok(());
                };
                let number = self.add(entity);
                let relationships_from = self.relationships.len();
                self.relationships.push((relationship, [from, number]));
                self.enter(number, relationships_from)?;
            }
        }
        Ok(())
    }

    /// Goes back from the entity that the search is at.
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
        // Nothing behind here is linked to what lies before `before`: the block is complete.
        let entities = self.entities.split_off(frame.entities_from);
        let relationships = self.relationships.split_off(frame.relationships_from);
        let counts = entities.iter().any(|number| self.visited[*number].leads);
        if !counts {
            for (relationship, _) in &relationships {
                self.stepper.let_go(relationship);
            }
            return;
        }
        for number in entities {
            self.visited[number].is_kept = true;
        }
        let visited = &mut self.visited[before];
        visited.is_kept = true;
        visited.leads = true;
        let kept = relationships
            .into_iter()
            .map(|(relationship, _)| relationship);
        self.kept.extend(kept);
    }
}
