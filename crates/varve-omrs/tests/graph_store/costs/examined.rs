//! A repository, and how many instances its searches look at.

use std::cell::RefCell;
use std::sync::Arc;

use varve_omrs::OmrsError;
use varve_omrs::error::Message;
use varve_omrs::repository::{Options, Repository};
use varve_omrs::search::Limits;

use super::suite::HOMES;
use crate::world::*;

/// A repository whose searches are limited to find out what they cost.
pub(super) struct Examined(RefCell<Option<Repository>>);

/// A repository on the store of a world.
pub(crate) fn repository(world: World) -> Repository {
    assert!(world.store.read_texts());
    let options = Options {
        metadata_collection_id: Some(HOMES[0].to_owned()),
        metadata_collection_name: "varve".to_owned(),
        base_url: "http://here.example".to_owned(),
    };
    Repository::open(Arc::new(world.store), options).expect("a repository")
}

impl Examined {
    pub(super) fn new(world: World) -> Self {
        Self(RefCell::new(Some(repository(world))))
    }

    /// What a search finds, and how many instances it looks at: the fewest that it may.
    pub(super) fn search<T>(
        &self,
        search: impl Fn(&Repository) -> Result<T, OmrsError>,
    ) -> (T, usize) {
        let found = self.limited(&Limits::default(), &search);
        let is_enough = |examined_max: usize| {
            let limits = Limits {
                examined_max,
                ..Limits::default()
            };
            match self.limited(&limits, &search) {
                Ok(_) => true,
                Err(error) if error.message == Message::TooManyExamined => false,
                Err(error) => panic!("{error}"),
            }
        };
        let (mut too_few, mut enough) = (0, 16);
        while !is_enough(enough) {
            (too_few, enough) = (enough, 2 * enough);
        }
        while enough - too_few > 1 {
            let middle = usize::midpoint(too_few, enough);
            match is_enough(middle) {
                true => enough = middle,
                false => too_few = middle,
            }
        }
        (found.expect("an answer"), enough)
    }

    /// What a search finds that remembers no page of another one.
    fn limited<T>(
        &self,
        limits: &Limits,
        search: impl Fn(&Repository) -> Result<T, OmrsError>,
    ) -> Result<T, OmrsError> {
        let repository = self.0.take().expect("it is put back");
        let repository = repository.with_limits(limits.clone());
        let found = search(&repository);
        self.0.replace(Some(repository));
        found
    }
}
