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
    /// The label that a candidate must have; `None` for any label, or if the source ensures it.
    pub(super) label: Option<ElementLabel>,
    /// The property keys that a condition searches for words and that hold collections: each
    /// member is searched.
    pub(super) searched: Vec<PropertyKeyId>,
}

/// A vertex label, or an edge's own label: for a SUB label the SUB label, not its PARENT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementLabel {
    Vertex(VertexLabelId),
    Edge(EdgeLabelId),
}

/// The source of a leg's candidates.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// Vertices by id.
    Vertices(Vec<VertexId>),
    /// Entries of an index.
    Entries(Entries),
    /// The edges whose own label this is, source vertex by source vertex.
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

/// The entries of an index in `range` of any of `partitions`, merged.
#[derive(Debug, Clone)]
pub(super) struct Entries {
    pub(super) partitions: Vec<Vec<u8>>,
    pub(super) range: ClusteringRange,
    /// How many ordered values precede the element key.
    pub(super) values: usize,
    /// Whether the greatest entry comes first.
    pub(super) reverse: bool,
    /// The index label, if each entry must be compared with the element's content. Without the
    /// comparison, a stale entry of another value would return an element twice. `None` if the
    /// merge returns each element once.
    pub(super) check: Option<Arc<IndexLabel>>,
}

/// One way to serve a query on one label.
#[derive(Debug, Clone)]
pub(super) struct Alternative {
    pub(super) legs: Vec<Leg>,
    /// How many conditions the index covers.
    pub(super) covered: usize,
}

/// The legs to walk, in order.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) legs: Vec<Leg>,
    pub(super) choices: Vec<u8>,
    /// Identifies this plan in page tokens; zero without paging.
    pub(super) fingerprint: u64,
}

/// The page of a plan's results that a query returns.
#[derive(Debug, Clone, Copy)]
pub(super) enum Page<'a> {
    /// All results, without paging.
    None,
    /// The first page.
    First,
    /// The page that begins at this bookmark.
    From(&'a Bookmark),
}

/// The parts of a plan. One alternative of each part is executed.
pub(super) type Parts = Vec<Vec<Alternative>>;

/// The most entries that are counted to compare alternatives.
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
    /// Chooses one alternative for each part: the bookmark's, or the one with the fewest entries.
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

/// Returns the position of the alternative with the fewest entries; among equals, of the one that
/// covers the most conditions.
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

/// Returns a hash of what is walked, which conditions are checked, and the point of both times.
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
