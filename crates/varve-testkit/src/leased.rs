//! An in-memory engine that several servers share. One server at a time has a space open; it holds
//! the lease of the space, and tests end leases.
//!
//! It simulates a cluster: [`SharedMemory`] is the common store, [`SharedMemory::server`] the
//! engine of one server. Leases do not end by time: [`SharedMemory::suspend`] simulates a server
//! that cannot renew its lease, [`SharedMemory::expire`] a lease that has expired.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use varve_kv::{
    Batch, Capabilities, Durability, Engine, KvError, Leader, Leadership, Lease, MemoryEngine,
    Reader, ReaderLayer, Space, SpaceId, SpaceLayer, TableSpec, check_space_name,
};

/// The store that the servers share.
pub struct SharedMemory {
    memory: Box<dyn Engine>,
    spaces: Mutex<BTreeMap<String, Stored>>,
    /// Names of spaces whose creation has begun and not ended.
    begun: Mutex<BTreeSet<String>>,
    /// Spaces that this version cannot open.
    unknown: Mutex<BTreeSet<String>>,
    /// Spaces whose owner cannot be read, and the error that is returned instead.
    withheld: Mutex<BTreeMap<String, Refusal>>,
    /// Names of spaces that another process is creating or removing.
    occupied: Mutex<BTreeSet<String>>,
    /// The number of spaces created.
    made: AtomicU64,
    /// The servers whose removals of spaces fail.
    refused: Mutex<BTreeSet<String>>,
    /// Calls to run before a server opens a space, by the server's address and the space's name.
    before_open: Mutex<BTreeMap<(String, String), Interlude>>,
}

/// What other servers do between two steps of one server.
type Interlude = Box<dyn FnOnce() + Send>;

/// Makes the error for the space of this name.
type Refusal = fn(String) -> KvError;

struct Stored {
    space: Arc<dyn Space>,
    incarnation: String,
    /// The owner's address; `None` once the space was released or the lease has expired.
    owner: Option<String>,
    term: u64,
    suspended: bool,
}

impl SharedMemory {
    /// A store without spaces.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Self::of(Box::new(MemoryEngine::new()))
    }

    /// A store with its spaces in `memory`, an engine of this process.
    #[must_use]
    pub fn of(memory: Box<dyn Engine>) -> Arc<Self> {
        Arc::new(Self {
            memory,
            spaces: Mutex::default(),
            begun: Mutex::default(),
            unknown: Mutex::default(),
            withheld: Mutex::default(),
            occupied: Mutex::default(),
            made: AtomicU64::new(0),
            refused: Mutex::default(),
            before_open: Mutex::default(),
        })
    }

    /// The engine of the server at `address`.
    #[must_use]
    pub fn server(self: &Arc<Self>, address: &str) -> Arc<dyn Engine> {
        Arc::new(LeasedEngine {
            shared: Arc::clone(self),
            address: address.to_owned(),
        })
    }

    /// Sets whether the space is suspended: its owner cannot rely on its lease, as if it could not
    /// renew it.
    pub fn suspend(&self, space: &str, suspended: bool) {
        if let Some(stored) = self.spaces.lock().get_mut(space) {
            stored.suspended = suspended;
        }
    }

    /// Ends the lease of that space: the next server that opens the space becomes its owner.
    pub fn expire(&self, space: &str) {
        if let Some(stored) = self.spaces.lock().get_mut(space) {
            stored.owner = None;
            stored.suspended = true;
        }
    }

    /// Sets whether removals by the server at `address` fail, as if another server were always
    /// faster.
    pub fn refuse_removals(&self, address: &str, refuse: bool) {
        let mut refused = self.refused.lock();
        match refuse {
            true => refused.insert(address.to_owned()),
            false => refused.remove(address),
        };
    }

    /// Begins to create a space of that name, and stops half way.
    pub fn begin(&self, space: &str) {
        self.begun.lock().insert(space.to_owned());
    }

    /// Completes the creation that [`SharedMemory::begin`] began; the space has no owner. Returns
    /// `false` if the unfinished creation has been cleared.
    pub fn finish(&self, space: &str, tables: &'static [TableSpec]) -> bool {
        let begun = self.begun.lock().remove(space);
        if begun {
            let mut spaces = self.spaces.lock();
            let stored = self.make(tables);
            spaces.insert(space.to_owned(), stored.expect("it has a name of its own"));
        }
        begun
    }

    /// Sets whether opening that space fails, as if a newer version had written it.
    pub fn refuse_opening(&self, space: &str, refuse: bool) {
        let mut unknown = self.unknown.lock();
        match refuse {
            true => unknown.insert(space.to_owned()),
            false => unknown.remove(space),
        };
    }

    /// Sets whether another process is creating or removing a space of that name, so that no server
    /// can open it.
    pub fn occupy(&self, space: &str, occupied: bool) {
        let mut names = self.occupied.lock();
        match occupied {
            true => names.insert(space.to_owned()),
            false => names.remove(space),
        };
    }

    /// Sets the error that servers get instead of the owner of that space; `None` for no error.
    pub fn refuse_asking(&self, space: &str, refusal: Option<fn(String) -> KvError>) {
        let mut withheld = self.withheld.lock();
        match refusal {
            Some(refusal) => withheld.insert(space.to_owned(), refusal),
            None => withheld.remove(space),
        };
    }

    fn make(&self, tables: &'static [TableSpec]) -> Result<Stored, KvError> {
        let incarnation = self.made.fetch_add(1, Ordering::Relaxed).to_string();
        let below = name_below(&incarnation);
        Ok(Stored {
            space: self.memory.open(&below, tables, true)?,
            incarnation,
            owner: None,
            term: 0,
            suspended: false,
        })
    }

    /// Runs `interlude` right before the server at `address` opens that space the next time.
    pub fn before_open(
        &self,
        address: &str,
        space: &str,
        interlude: impl FnOnce() + Send + 'static,
    ) {
        let key = (address.to_owned(), space.to_owned());
        self.before_open.lock().insert(key, Box::new(interlude));
    }
}

/// The name of a space in the underlying engine. It is unique, even if the space's own name is
/// reused.
fn name_below(incarnation: &str) -> String {
    format!("_{incarnation}")
}

struct LeasedEngine {
    shared: Arc<SharedMemory>,
    address: String,
}

impl Engine for LeasedEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            reads_may_wait: true,
            shared: true,
            ..Capabilities::local("memory")
        }
    }

    fn leader(&self, space: &str) -> Result<Option<Leader>, KvError> {
        let refusal = self.shared.withheld.lock().get(space).copied();
        if let Some(refusal) = refusal {
            return Err(refusal(space.to_owned()));
        }
        let spaces = self.shared.spaces.lock();
        let stored = spaces.get(space);
        Ok(stored.and_then(|stored| {
            let address = stored.owner.clone()?;
            Some(Leader {
                is_self: address == self.address,
                address,
                term: stored.term,
            })
        }))
    }

    fn spaces(&self) -> Result<Vec<SpaceId>, KvError> {
        let spaces = self.shared.spaces.lock();
        let id = |(name, stored): (&String, &Stored)| SpaceId {
            name: name.clone(),
            incarnation: stored.incarnation.clone(),
        };
        Ok(spaces.iter().map(id).collect())
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        check_space_name(name)?;
        let key = (self.address.clone(), name.to_owned());
        let interlude = self.shared.before_open.lock().remove(&key);
        if let Some(interlude) = interlude {
            interlude();
        }
        let unavailable = |detail: &str| KvError::Unavailable {
            space: name.to_owned(),
            detail: detail.to_owned(),
        };
        if self.shared.unknown.lock().contains(name) {
            return Err(unavailable(
                "it has a table that this version does not know",
            ));
        }
        if self.shared.occupied.lock().contains(name) {
            return Err(KvError::InUse {
                space: name.to_owned(),
                detail: "another process is making or removing it".to_owned(),
            });
        }
        let mut spaces = self.shared.spaces.lock();
        if !spaces.contains_key(name) {
            if !create {
                return Err(unavailable("it does not exist"));
            }
            spaces.insert(name.to_owned(), self.shared.make(tables)?);
        }
        let stored = spaces.get_mut(name).expect("it is there by now");
        if let Some(address) = &stored.owner {
            return Err(KvError::Led {
                space: name.to_owned(),
                address: address.clone(),
                term: stored.term,
            });
        }
        stored.owner = Some(self.address.clone());
        stored.term += 1;
        stored.suspended = false;
        Ok(Arc::new(LeasedSpace {
            name: name.to_owned(),
            shared: Arc::clone(&self.shared),
            inner: Arc::clone(&stored.space),
            incarnation: stored.incarnation.clone(),
            term: stored.term,
        }))
    }

    fn follow(
        &self,
        space: &SpaceId,
        _tables: &'static [TableSpec],
    ) -> Result<Arc<dyn Space>, KvError> {
        let spaces = self.shared.spaces.lock();
        let stored = spaces.get(&space.name);
        let stored = stored.filter(|stored| stored.incarnation == space.incarnation);
        let stored = stored.ok_or_else(|| KvError::Unavailable {
            space: space.name.clone(),
            detail: "it does not exist".to_owned(),
        })?;
        Ok(Arc::new(FollowedSpace {
            name: space.name.clone(),
            inner: Arc::clone(&stored.space),
            incarnation: stored.incarnation.clone(),
        }))
    }

    fn clear_begun(&self, is_meant: &dyn Fn(&str) -> bool) -> Result<(), KvError> {
        self.shared.begun.lock().retain(|space| !is_meant(space));
        Ok(())
    }

    fn drop_space(&self, name: &str, incarnation: Option<&str>) -> Result<(), KvError> {
        check_space_name(name)?;
        let in_use = |detail: &str| KvError::InUse {
            space: name.to_owned(),
            detail: detail.to_owned(),
        };
        if self.shared.refused.lock().contains(&self.address) {
            return Err(in_use("another process is making or removing it"));
        }
        let mut spaces = self.shared.spaces.lock();
        let Some(stored) = spaces.get(name) else {
            return Ok(());
        };
        if incarnation.is_some_and(|incarnation| incarnation != stored.incarnation) {
            return Ok(());
        }
        if stored.owner.is_some() {
            return Err(in_use("it is open"));
        }
        let below = name_below(&stored.incarnation);
        spaces.remove(name);
        // If a former owner still reads the space, this fails. The space then stays in memory, but
        // no server can open it.
        let _ = self.shared.memory.drop_space(&below, None);
        Ok(())
    }
}

struct LeasedSpace {
    name: String,
    shared: Arc<SharedMemory>,
    inner: Arc<dyn Space>,
    incarnation: String,
    term: u64,
}

impl LeasedSpace {
    /// Whether `stored` is still this space: since it was opened here, no server has opened it or
    /// created another one with its name.
    fn has(&self, stored: &Stored) -> bool {
        stored.term == self.term && stored.incarnation == self.incarnation
    }

    fn leadership(&self, spaces: &BTreeMap<String, Stored>) -> Leadership {
        match spaces.get(&self.name) {
            Some(stored) if self.has(stored) => match stored.suspended {
                false => Leadership::Held,
                true => Leadership::Suspended,
            },
            _ => Leadership::Lost,
        }
    }
}

impl Drop for LeasedSpace {
    fn drop(&mut self) {
        if let Some(stored) = self.shared.spaces.lock().get_mut(&self.name)
            && self.has(stored)
        {
            stored.owner = None;
        }
    }
}

impl ReaderLayer for LeasedSpace {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.inner)
    }
}

impl SpaceLayer for LeasedSpace {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        // Locked during the write, so that no server takes the space meanwhile.
        let spaces = self.shared.spaces.lock();
        let space = self.name.clone();
        match self.leadership(&spaces) {
            Leadership::Held => self.inner.write(batch, durability),
            Leadership::Suspended => Err(KvError::Away {
                space,
                detail: "the lease is not renewed".to_owned(),
            }),
            Leadership::Lost => Err(KvError::Io {
                space,
                detail: "another server has it".to_owned(),
            }),
        }
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        Arc::clone(&self.inner).snapshot()
    }

    fn lease(&self) -> Lease<'_> {
        Lease {
            leadership: self.leadership(&self.shared.spaces.lock()),
            term: self.term,
            incarnation: &self.incarnation,
        }
    }
}

/// A space that another server leads, for reading.
struct FollowedSpace {
    name: String,
    inner: Arc<dyn Space>,
    incarnation: String,
}

impl ReaderLayer for FollowedSpace {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.inner)
    }
}

impl SpaceLayer for FollowedSpace {
    fn space(&self) -> &dyn Space {
        &*self.inner
    }

    fn write(&self, _batch: &Batch, _durability: Durability) -> Result<(), KvError> {
        Err(KvError::Led {
            space: self.name.clone(),
            address: String::new(),
            term: 0,
        })
    }

    /// A follower reads what is stored, as on a cluster.
    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        None
    }

    fn lease(&self) -> Lease<'_> {
        Lease {
            leadership: Leadership::Lost,
            term: 0,
            incarnation: &self.incarnation,
        }
    }
}
