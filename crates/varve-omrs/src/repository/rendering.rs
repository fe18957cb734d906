//! Renders relationships with the proxies of their ends.

use std::collections::{BTreeMap, HashMap};

use super::answer::AnswerBytes;
use crate::error::{Message, OmrsError};
use crate::graph_store::{GraphReader, GraphStore};
use crate::instances::{EntityProxy, Relationship};
use crate::json::{Millis, Shared};
use crate::search::{Limits, Meter, guid_bytes, rendered_proxy_bytes};
use crate::store::{Cost, RenderedEntity, RenderedRelationship, StoredRelationship, Version};

/// The number of relationships whose ends are read at once.
const AT_ONCE: usize = 32;

/// The proxies of the entities at the ends of relationships, at one reader's point of time. Each is
/// read and rendered once, since in one answer the same entity is at an end of many relationships.
/// No other part of an entity is held.
pub(crate) struct Ends<'a> {
    read: &'a GraphReader,
    meter: Meter,
    known: HashMap<String, Shared<EntityProxy>>,
}

impl<'a> Ends<'a> {
    /// An empty set. The proxies count against the bytes that `limits` allow to be held.
    pub(crate) fn new(read: &'a GraphReader, limits: &Limits) -> Self {
        Self {
            read,
            meter: Meter::new(limits),
            known: HashMap::default(),
        }
    }

    /// Adds the proxy of an entity that has been read, by the same reader.
    pub(crate) fn take(&mut self, entity: &RenderedEntity) {
        let proxy = entity.proxy().clone();
        self.known.insert(entity.guid().to_owned(), proxy);
    }

    /// Adds the ends to a relationship.
    ///
    /// # Errors
    /// When the store fails, or has lost an end; when the ends take more memory than allowed.
    pub(crate) fn rendered(
        &mut self,
        relationship: RenderedRelationship,
    ) -> Result<Shared<Relationship>, OmrsError> {
        let link = &relationship.link;
        let [one, two] = &link.ends;
        let (one, two) = (self.end(&link.guid, one)?, self.end(&link.guid, two)?);
        Ok(relationship.between([&one, &two]))
    }

    /// Renders the relationships of an answer with their ends, and reads many ends at once.
    ///
    /// # Errors
    /// As [`Ends::rendered`]. When the answer is longer than `limits` allow; this stops the
    /// rendering.
    pub(crate) fn all_rendered(
        &mut self,
        mut relationships: impl Iterator<Item = Result<RenderedRelationship, OmrsError>>,
        limits: &Limits,
    ) -> Result<Vec<Shared<Relationship>>, OmrsError> {
        let mut rendered = Vec::new();
        let mut bytes = AnswerBytes::new(limits);
        loop {
            let some = relationships.by_ref().take(AT_ONCE);
            let some: Vec<RenderedRelationship> = some.collect::<Result<_, _>>()?;
            if some.is_empty() {
                return Ok(rendered);
            }
            self.read_ahead(&some)?;
            for relationship in some {
                let one = self.rendered(relationship)?;
                bytes.add(&one)?;
                rendered.push(one);
            }
        }
    }

    fn read_ahead(&mut self, relationships: &[RenderedRelationship]) -> Result<(), OmrsError> {
        let ends = relationships.iter().flat_map(|of| &of.link.ends);
        let ends = ends.map(|guid| guid.as_str());
        let mut unknown: Vec<&str> = ends.filter(|it| !self.known.contains_key(*it)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        let (known, meter) = (&mut self.known, &self.meter);
        let mut held = Ok(());
        self.read.rendered_proxies(&unknown, &mut |at, proxy| {
            let guid = unknown[at];
            if held.is_ok() {
                held = meter.hold(guid_bytes(guid) + rendered_proxy_bytes(&proxy));
                known.insert(guid.to_owned(), proxy);
            }
        })?;
        held
    }

    fn end(&mut self, of: &str, guid: &str) -> Result<Shared<EntityProxy>, OmrsError> {
        if let Some(known) = self.known.get(guid) {
            return Ok(known.clone());
        }
        let proxy = self.read.rendered_proxy(guid)?;
        let proxy = proxy.ok_or_else(|| lost(of, guid))?;
        self.meter
            .hold(guid_bytes(guid) + rendered_proxy_bytes(&proxy))?;
        self.known.insert(guid.to_owned(), proxy.clone());
        Ok(proxy)
    }
}

/// Adds to a relationship the proxies of its ends, which `proxy` reads by GUID.
///
/// # Errors
/// When the store fails, or has lost an end; when the ends take more memory than allowed.
pub(super) fn with_ends(
    stored: StoredRelationship,
    proxy: impl Fn(&str) -> Result<Option<Shared<EntityProxy>>, OmrsError>,
) -> Result<Relationship, OmrsError> {
    let meter = Meter::new(&Limits::default());
    let end = |guid: &str| {
        let proxy = proxy(guid)?.ok_or_else(|| lost(stored.header.guid(), guid))?;
        meter.hold(guid_bytes(guid) + rendered_proxy_bytes(&proxy))?;
        Ok::<_, OmrsError>(proxy)
    };
    let [one, two] = &stored.ends;
    let entity_one = end(one)?;
    let entity_two = if one == two {
        entity_one.clone()
    } else {
        end(two)?
    };
    Ok(Relationship {
        header: stored.header,
        properties: stored.properties,
        entity_one: Some(entity_one),
        entity_two: Some(entity_two),
    })
}

/// Renders states of a relationship, each with the proxies of its ends at the start of the state.
///
/// # Errors
/// When the store fails, or has lost an end; what `cost` returns.
pub(super) fn rendered_states(
    store: &GraphStore,
    states: Vec<Version<StoredRelationship>>,
    cost: &mut dyn Cost,
) -> Result<Vec<Relationship>, OmrsError> {
    let mut times: BTreeMap<String, Vec<Millis>> = BTreeMap::new();
    for version in &states {
        for end in &version.state.ends {
            times.entry(end.clone()).or_default().push(version.from);
        }
    }
    let mut known: HashMap<(&str, Millis), Shared<EntityProxy>> = HashMap::default();
    let asked: Vec<(&str, &[Millis])> = times
        .iter()
        .map(|(guid, times)| (guid.as_str(), times.as_slice()))
        .collect();
    for ((guid, times), proxies) in asked.iter().zip(store.proxies_at(&asked, cost)?) {
        for (at, proxy) in times.iter().zip(proxies) {
            if let Some(proxy) = proxy {
                known.insert((guid, *at), proxy);
            }
        }
    }
    let rendered = |version: Version<StoredRelationship>| {
        let stored = version.state;
        let end = |guid: &String| {
            let proxy = known.get(&(guid, version.from)).cloned();
            proxy
                .ok_or_else(|| lost(stored.header.guid(), guid))
                .map(Some)
        };
        let (entity_one, entity_two) = (end(&stored.ends[0])?, end(&stored.ends[1])?);
        Ok(Relationship {
            header: stored.header,
            properties: stored.properties,
            entity_one,
            entity_two,
        })
    };
    states.into_iter().map(rendered).collect()
}

fn lost(of: &str, end: &str) -> OmrsError {
    let words = format!("relationship {of} lost its end {end}");
    OmrsError::new(Message::LogicError, &[&words])
}
