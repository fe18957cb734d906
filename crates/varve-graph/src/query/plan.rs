//! Plans: the legs that a query walks one after the other.

use std::sync::Arc;

use varve_encoding::tables::INDEX;
use varve_kv::{ClusteringRange, Reader};
use varve_model::{
    Condition, EdgeLabelId, IndexLabel, PropertyKeyId, TemporalScope, VertexId, VertexLabelId,
};

use super::merge;
use super::page::Bookmark;
use crate::GraphError;

/// One walk over candidates.
#[derive(Debug, Clone)]
pub(super) struct Leg {
    pub(super) source: Source,
    /// The label that a candidate must have; `None` when any or when the source sees to it.
    pub(super) label: Option<ElementLabel>,
    /// Property keys of collections whose members are searched for words.
    pub(super) searched: Vec<PropertyKeyId>,
}

/// A vertex label or an edge's own label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementLabel {
    Vertex(VertexLabelId),
    Edge(EdgeLabelId),
}

/// Where the candidates of a leg come from.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// Vertices by id.
    Vertices(Vec<VertexId>),
    /// Entries of an index.
    Entries(Entries),
    /// The edges of an own label, source vertex by source vertex.
    EdgesOfLabel {
        parent: EdgeLabelId,
        label: EdgeLabelId,
    },
    /// Edges of one vertex.
    Adjacent {
        owner: VertexId,
        range: ClusteringRange,
    },
    /// Every vertex, or every edge from its source's side.
    All,
}

/// Entries of an index: those in `range` of any of `partitions`, merged.
#[derive(Debug, Clone)]
pub(super) struct Entries {
    pub(super) partitions: Vec<Vec<u8>>,
    pub(super) range: ClusteringRange,
    /// How many ordered values stand before the element key.
    pub(super) values: usize,
    /// Whether the greatest entry comes first.
    pub(super) reverse: bool,
    /// The index label, where an entry must be one that the element has: left-over entries of other
    /// values would show an element twice. `None` where the merge gives each element once.
    pub(super) check: Option<Arc<IndexLabel>>,
}

/// One way to serve a query on one label.
#[derive(Debug, Clone)]
pub(super) struct Alternative {
    pub(super) legs: Vec<Leg>,
    /// How many conditions the index narrows by.
    pub(super) covered: usize,
}

/// What to walk, in order.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) legs: Vec<Leg>,
    pub(super) choices: Vec<u8>,
    /// Identifies this plan; zero when no page is asked for.
    pub(super) fingerprint: u64,
}

/// Which page of a plan's results is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Page<'a> {
    /// All of them, without pages.
    None,
    /// The first.
    First,
    /// The one that begins there.
    From(&'a Bookmark),
}

/// The parts of a plan: each is served by one of its alternatives.
pub(super) type Parts = Vec<Vec<Alternative>>;

/// Up to how many entries are counted to compare alternatives.
const ESTIMATE_MAX: usize = 128;

impl Leg {
    pub(super) fn of(source: Source) -> Self {
        Self {
            source,
            label: None,
            searched: Vec::new(),
        }
    }
}

impl Alternative {
    pub(super) fn only(legs: Vec<Leg>) -> Vec<Self> {
        vec![Self { legs, covered: 0 }]
    }
}

impl Plan {
    /// Settles on one alternative for each part: the bookmark's, or the one with the fewest
    /// entries.
    ///
    /// # Errors
    /// [`crate::ErrorKind::BadPage`] when the bookmark does not fit this query, and failures of the
    /// engine.
    pub(super) fn choose(
        parts: Parts,
        conditions: &[Condition],
        scope: TemporalScope,
        reader: &dyn Reader,
        page: Page<'_>,
    ) -> Result<Self, GraphError> {
        let bookmark = match page {
            Page::From(bookmark) => Some(bookmark),
            Page::None | Page::First => None,
        };
        let choices = match bookmark {
            Some(bookmark) => {
                let fits = bookmark.choices.len() == parts.len()
                    && parts
                        .iter()
                        .zip(&bookmark.choices)
                        .all(|(part, at)| usize::from(*at) < part.len());
                if !fits {
                    return Err(bookmark.refused());
                }
                bookmark.choices.clone()
            }
            None => parts
                .iter()
                .map(|part| cheapest(part, reader))
                .collect::<Result<_, _>>()?,
        };
        let legs: Vec<Leg> = parts
            .into_iter()
            .zip(&choices)
            .flat_map(|(mut part, at)| part.swap_remove(usize::from(*at)).legs)
            .collect();
        let fingerprint = match page {
            Page::None => 0,
            Page::First | Page::From(_) => fingerprint(&legs, conditions, scope),
        };
        if let Some(bookmark) = bookmark
            && (bookmark.plan != fingerprint || bookmark.leg as usize >= legs.len().max(1))
        {
            return Err(bookmark.refused());
        }
        Ok(Self {
            legs,
            choices,
            fingerprint,
        })
    }
}

/// The position of the alternative with the fewest entries; of equals the one that narrows by the
/// most conditions.
fn cheapest(part: &[Alternative], reader: &dyn Reader) -> Result<u8, GraphError> {
    let mut best = (usize::MAX, 0, 0);
    if part.len() > 1 {
        for (at, alternative) in part.iter().enumerate().take(usize::from(u8::MAX)) {
            let entries = entries_of(alternative, reader)?;
            if (entries, best.1) < (best.0, alternative.covered) {
                best = (entries, alternative.covered, at);
            }
        }
    }
    Ok(u8::try_from(best.2).unwrap_or_default())
}

fn entries_of(alternative: &Alternative, reader: &dyn Reader) -> Result<usize, GraphError> {
    let mut counted = 0;
    for leg in &alternative.legs {
        if let Source::Entries(entries) = &leg.source {
            for partition in &entries.partitions {
                let most = ESTIMATE_MAX - counted;
                counted += merge::count(reader, INDEX, partition, &entries.range, most)?;
                if counted >= ESTIMATE_MAX {
                    return Ok(counted);
                }
            }
        }
    }
    Ok(counted)
}

/// Identifies plans: what is walked, what is checked and when.
pub(super) fn fingerprint(legs: &[Leg], conditions: &[Condition], scope: TemporalScope) -> u64 {
    use std::fmt::Write;
    let mut text = format!("{conditions:?}{scope:?}");
    for leg in legs {
        let _ = match &leg.source {
            Source::Entries(entries) => {
                let order = if entries.reverse { "descending" } else { "" };
                write!(text, "{:?}{:?}{order}", entries.partitions, entries.range)
            }
            other => write!(text, "{other:?}"),
        };
        let _ = write!(text, "{:?}", leg.label);
    }
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}
