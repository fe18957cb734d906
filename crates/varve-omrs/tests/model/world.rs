//! A repository and the naive one beside it, kept alike.

use std::sync::Arc;

use varve_model::Instant;
use varve_omrs::Exception;
use varve_omrs::json::Millis;
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::PagedFindRequest;
use varve_omrs::types::Catalogue;
use varve_testkit::ManualClock;

use crate::below;
use crate::call::{Answer, InstanceKind, Names, Read, Write};
use crate::compare::{difference, in_order, paged, part, tidied};
use crate::generate::{BEGIN, HOME, Known, things};
use crate::naive::Naive;
use crate::real;

/// A call that writes: how long after the one before, for whom.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) wait_ms: i64,
    pub(crate) user: &'static str,
    pub(crate) write: Write,
}

pub(crate) struct World {
    repository: Repository,
    clock: Arc<ManualClock>,
    pub(crate) naive: Naive,
    pub(crate) names: Names,
    pub(crate) known: Known,
}

impl World {
    pub(crate) fn new() -> Self {
        let (store, clock) = below::open(BEGIN);
        let options = Options {
            metadata_collection_id: Some(HOME.0.to_owned()),
            metadata_collection_name: HOME.1.to_owned(),
            base_url: "https://here.example/servers/here".to_owned(),
        };
        let repository = Repository::open(Arc::clone(&store) as Arc<_>, options).unwrap();
        assert!(store.read_texts());
        repository.add_type_def_gallery(things()).unwrap();
        let mut types = Catalogue::built_in();
        types.add_gallery(things()).unwrap();
        let mut naive = Naive::new(types, HOME);
        naive.now = Millis(BEGIN);
        Self {
            repository,
            clock,
            naive,
            names: Names::default(),
            known: Known::new(),
        }
    }

    /// Makes a call on both; an error in words when they differ.
    pub(crate) fn apply(&mut self, step: &Step) -> Result<(), String> {
        self.naive.now.0 += step.wait_ms;
        self.clock.set(Instant(self.naive.now.0 * 1000));
        let write = step.write.resolved(&self.names);
        let found = real::write(&self.repository, step.user, &write);
        if let Ok(answer) = &found
            && let (Some(name), Some(guid)) = (step.write.made(), answer.guid())
        {
            self.names.insert(name, guid);
            guid.clone_into(&mut self.naive.next_guid);
        }
        let wanted = self.naive.write(step.user, &write);
        let shown = |answer: Answer| tidied(answer);
        let (wanted, words) = (wanted.map(shown), format!("{found:?}"));
        let found = found.map(shown).map_err(|error| error.exception);
        if wanted != found {
            let words = if found.is_err() { words } else { String::new() };
            return Err(rendered(&wanted, &found) + "\n  " + &words);
        }
        if found.is_ok() {
            self.remember(&step.write);
        }
        Ok(())
    }

    fn remember(&mut self, write: &Write) {
        match write {
            Write::AddEntity(name, _) | Write::AddExternalEntity(name, _) => {
                self.known.entities.push(name.clone());
            }
            Write::AddRelationship(name, _) | Write::AddExternalRelationship(name, _) => {
                self.known.relationships.push(name.clone());
            }
            Write::ReIdentify(InstanceKind::Entity, _, new, _) => {
                self.known.entities.push(new.clone())
            }
            Write::ReIdentify(InstanceKind::Relationship, _, new, _) => {
                self.known.relationships.push(new.clone());
            }
            _ => {}
        }
    }

    /// Asks both; an error in words when they differ. Of a search, the whole result is compared,
    /// then its page.
    pub(crate) fn ask(&mut self, read: &Read) -> Result<(), String> {
        let read = read.resolved(&self.names);
        let found = real::read(&self.repository, &read);
        let words = format!("{found:?}");
        let found = found.map(tidied).map_err(|error| error.exception);
        let mut whole = read.clone();
        if let (Ok(page), Some(asked)) = (&found, paged(&mut whole)) {
            let asked_for = asked.clone();
            (asked.offset, asked.page_size) = (0, 0);
            let found = real::read(&self.repository, &whole).map(tidied);
            let found = found.map_err(|error| format!("the whole of it: {error}"))?;
            let wanted = self.naive.read(&whole).map(tidied);
            let wanted = wanted.and_then(|wanted| {
                in_order(wanted, &asked_for).map_err(|_| Exception::RepositoryError)
            });
            let sorted = Ok(in_order(found.clone(), &asked_for)?);
            if wanted != sorted {
                return Err(rendered(&wanted, &sorted));
            }
            let wanted = part(&found, asked_for.offset, asked_for.page_size);
            if *page != wanted {
                return Err(format!(
                    "page: {}",
                    rendered(&Ok(wanted), &Ok(page.clone()))
                ));
            }
            return self.ask_next(whole, &found, &asked_for);
        }
        let wanted = self.naive.read(&read).map(tidied);
        if wanted != found {
            let words = if found.is_err() { words } else { String::new() };
            return Err(rendered(&wanted, &found) + "\n  " + &words);
        }
        Ok(())
    }

    /// Asks for the page after one that was asked for: it may go on where that one ended.
    fn ask_next(
        &self,
        mut read: Read,
        whole: &Answer,
        before: &PagedFindRequest,
    ) -> Result<(), String> {
        let (offset, size) = (before.offset + before.page_size, before.page_size);
        let Some(asked) = paged(&mut read).filter(|_| size > 0) else {
            return Ok(());
        };
        (asked.offset, asked.page_size) = (offset, size);
        let page = real::read(&self.repository, &read).map(tidied);
        let page = page.map_err(|error| format!("the next page: {error}"))?;
        let wanted = part(whole, offset, size);
        if page != wanted {
            return Err(format!("next page: {}", rendered(&Ok(wanted), &Ok(page))));
        }
        Ok(())
    }

    /// Asks for every instance in every way, at the given times too.
    pub(crate) fn ask_all(&mut self, times: &[Millis]) -> Result<(), String> {
        let mut reads = Vec::new();
        for kind in [InstanceKind::Entity, InstanceKind::Relationship] {
            for name in self.known.of(kind) {
                reads.push(Read::IsKnown(kind, name.clone()));
                reads.push(Read::Get(kind, name.clone(), None));
                reads.push(Read::History(kind, name.clone(), Default::default()));
                for at in times {
                    reads.push(Read::Get(kind, name.clone(), Some(*at)));
                }
                if kind == InstanceKind::Entity {
                    reads.push(Read::Summary(name.clone()));
                    reads.push(Read::HomeClassifications(name.clone(), None));
                    reads.push(Read::RelationshipsForEntity(
                        name.clone(),
                        Default::default(),
                    ));
                    let around = Default::default();
                    reads.push(Read::Neighborhood(name.clone(), -1, around));
                }
            }
        }
        for read in reads {
            self.ask(&read)
                .map_err(|wrong| format!("{read:?}: {wrong}"))?;
        }
        Ok(())
    }
}

/// Says how two answers differ.
fn rendered(wanted: &Result<Answer, Exception>, found: &Result<Answer, Exception>) -> String {
    difference(&format!("{wanted:?}"), &format!("{found:?}"))
}
