//! A simulated directory in memory that can lose unsynced bytes, fill up, fail, and stop in the
//! middle of a call.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use super::disk::{Disk, DiskFile};

/// The unit of atomic writes: smaller than a real sector, so that torn writes are more frequent.
const SECTOR: usize = 64;

/// Pseudo-random numbers from a seed.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(super) fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

/// A change of content not yet on stable storage.
#[derive(Debug, Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Length(usize),
}

#[derive(Debug, Clone, Default)]
struct Inode {
    /// The content as the process sees it.
    seen: Vec<u8>,
    /// The content that certainly survives a power loss.
    stored: Vec<u8>,
    /// Changes that may or may not survive as well.
    changes: Vec<Change>,
}

/// A change of names not yet on stable storage: for each name, its new file, or none.
type Naming = Vec<(String, Option<usize>)>;

#[derive(Debug, Default)]
struct DiskState {
    inodes: Vec<Inode>,
    names: BTreeMap<String, usize>,
    stored_names: BTreeMap<String, usize>,
    namings: Vec<Naming>,
    /// Calls until the machine or the process stops.
    calls_left: Option<u64>,
    stopped: bool,
    /// Bytes by which files may still grow.
    room: Option<usize>,
    failing_syncs: u32,
    /// The number of written bytes, including zeros.
    written: usize,
    /// The number of power losses.
    power_losses: u64,
}

/// The directory. Clones share its state.
#[derive(Debug, Clone, Default)]
pub(super) struct SimulatedDisk(Arc<Mutex<DiskState>>);

#[derive(Debug)]
struct SimulatedFile {
    disk: SimulatedDisk,
    inode: usize,
}

impl DiskState {
    /// Counts a call; returns `false` if it is the one that is interrupted.
    fn call(&mut self) -> io::Result<bool> {
        if self.stopped {
            return Err(io::Error::other("stopped"));
        }
        match &mut self.calls_left {
            Some(0) => {
                self.stopped = true;
                Ok(false)
            }
            Some(left) => {
                *left -= 1;
                Ok(true)
            }
            None => Ok(true),
        }
    }

    fn whole_call(&mut self) -> io::Result<()> {
        self.call()?
            .then_some(())
            .ok_or_else(|| io::Error::other("stopped"))
    }

    fn name(&mut self, naming: Naming) {
        for (name, inode) in &naming {
            match inode {
                Some(inode) => self.names.insert(name.clone(), *inode),
                None => self.names.remove(name),
            };
        }
        self.namings.push(naming);
    }

    fn file(&self, name: &str) -> io::Result<usize> {
        let inode = self.names.get(name).copied();
        inode.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn apply(content: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write(at, bytes) => {
            if content.len() < at + bytes.len() {
                content.resize(at + bytes.len(), 0);
            }
            content[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        Change::Length(length) => content.resize(*length, 0),
    }
}

impl SimulatedDisk {
    /// Stops everything after this number of calls. The next call is interrupted: a write may be
    /// half done.
    pub(super) fn stop_after(&self, calls: u64) {
        self.0.lock().calls_left = Some(calls);
    }

    pub(super) fn stopped(&self) -> bool {
        self.0.lock().stopped
    }

    pub(super) fn limit(&self, room: Option<usize>) {
        self.0.lock().room = room;
    }

    pub(super) fn fail_syncs(&self, count: u32) {
        self.0.lock().failing_syncs = count;
    }

    /// The number of bytes written to its files.
    pub(super) fn written(&self) -> usize {
        self.0.lock().written
    }

    /// The disk as the next process finds it after this one was killed.
    pub(super) fn after_kill(&self) -> Self {
        let state = self.0.lock();
        let next = DiskState {
            inodes: state.inodes.clone(),
            names: state.names.clone(),
            stored_names: state.stored_names.clone(),
            namings: state.namings.clone(),
            power_losses: state.power_losses,
            ..DiskState::default()
        };
        Self(Arc::new(Mutex::new(next)))
    }

    /// The disk after a power loss. Any subset of the unsynced changes may survive: a later change
    /// may survive without an earlier one.
    pub(super) fn after_power_loss(&self, random: &mut Random) -> Self {
        let state = self.0.lock();
        let mut next = DiskState {
            power_losses: state.power_losses + 1,
            ..DiskState::default()
        };
        let keep_of = random.below(4);
        let kept = |random: &mut Random| match keep_of {
            0 => false,
            1 => true,
            _ => random.one_in(2),
        };
        for inode in &state.inodes {
            let mut content = inode.stored.clone();
            for change in &inode.changes {
                match change {
                    Change::Write(at, bytes) => {
                        for (index, part) in bytes.chunks(SECTOR).enumerate() {
                            if kept(random) {
                                let part = Change::Write(at + index * SECTOR, part.to_vec());
                                apply(&mut content, &part);
                            }
                        }
                    }
                    Change::Length(_) if kept(random) => apply(&mut content, change),
                    Change::Length(_) => {}
                }
            }
            next.inodes.push(Inode {
                seen: content.clone(),
                stored: content,
                changes: Vec::new(),
            });
        }
        next.names = state.stored_names.clone();
        for naming in &state.namings {
            if kept(random) {
                for (name, inode) in naming {
                    match inode {
                        Some(inode) => next.names.insert(name.clone(), *inode),
                        None => next.names.remove(name),
                    };
                }
            }
        }
        next.stored_names = next.names.clone();
        Self(Arc::new(Mutex::new(next)))
    }

    /// The files' contents by name, as the process sees them.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.0.lock();
        let content =
            |(name, inode): (&String, &usize)| (name.clone(), state.inodes[*inode].seen.clone());
        state.names.iter().map(content).collect()
    }

    /// A disk with these files, all on stable storage.
    pub(super) fn with(files: &BTreeMap<String, Vec<u8>>) -> Self {
        let mut state = DiskState::default();
        for (name, content) in files {
            state.names.insert(name.clone(), state.inodes.len());
            state.inodes.push(Inode {
                seen: content.clone(),
                stored: content.clone(),
                changes: Vec::new(),
            });
        }
        state.stored_names = state.names.clone();
        Self(Arc::new(Mutex::new(state)))
    }
}

impl Disk for SimulatedDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut state = self.0.lock();
        state.whole_call()?;
        Ok(state.names.keys().cloned().collect())
    }

    fn open(&self, name: &str, _writable: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.0.lock();
        state.whole_call()?;
        let inode = state.file(name)?;
        Ok(Arc::new(SimulatedFile {
            disk: self.clone(),
            inode,
        }))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.0.lock();
        state.whole_call()?;
        if state.room == Some(0) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let inode = state.inodes.len();
        state.inodes.push(Inode::default());
        state.name(vec![(name.to_owned(), Some(inode))]);
        Ok(Arc::new(SimulatedFile {
            disk: self.clone(),
            inode,
        }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.0.lock();
        state.whole_call()?;
        let inode = state.file(from)?;
        state.name(vec![(from.to_owned(), None), (to.to_owned(), Some(inode))]);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.0.lock();
        state.whole_call()?;
        state.file(name)?;
        state.name(vec![(name.to_owned(), None)]);
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut state = self.0.lock();
        state.whole_call()?;
        state.namings.clear();
        state.stored_names = state.names.clone();
        Ok(())
    }

    fn session(&self) -> u64 {
        self.0.lock().power_losses + 1
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(name)
    }
}

impl DiskFile for SimulatedFile {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.disk.0.lock().inodes[self.inode].seen.len() as u64)
    }

    fn read(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.disk.0.lock();
        state.whole_call()?;
        let content = &state.inodes[self.inode].seen;
        let from = content.len().min(offset as usize);
        let count = into.len().min(content.len() - from);
        into[..count].copy_from_slice(&content[from..from + count]);
        Ok(count)
    }

    fn write(&self, parts: [&[u8]; 2], offset: u64) -> Result<(), (u64, io::Error)> {
        let mut state = self.disk.0.lock();
        let whole = state.call().map_err(|error| (0, error))?;
        let bytes = parts.concat();
        let seen = state.inodes[self.inode].seen.len();
        // The system copies a small write at a file's start in one step, so it is atomic.
        let is_one = offset == 0 && bytes.len() <= SECTOR;
        let mut count = match (whole, is_one) {
            (true, _) => bytes.len(),
            (false, true) => 0,
            (false, false) => bytes.len() / 2,
        };
        if let Some(room) = &mut state.room {
            let growth = (offset as usize + count).saturating_sub(seen);
            let refused = growth.saturating_sub(*room);
            *room -= growth - refused;
            count -= refused.min(count);
        }
        let change = Change::Write(offset as usize, bytes[..count].to_vec());
        state.written += count;
        let inode = &mut state.inodes[self.inode];
        if count > 0 {
            apply(&mut inode.seen, &change);
            inode.changes.push(change);
        }
        match () {
            () if !whole => Err((count as u64, io::Error::other("stopped"))),
            () if count < bytes.len() => Err((count as u64, io::ErrorKind::StorageFull.into())),
            () => Ok(()),
        }
    }

    fn allocate(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        state.whole_call()?;
        let end = (offset + bytes) as usize;
        let growth = end.saturating_sub(state.inodes[self.inode].seen.len());
        if state.room.is_some_and(|room| room < growth) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.room = state.room.map(|room| room - growth);
        let inode = &mut state.inodes[self.inode];
        let length = inode.seen.len().max(end);
        apply(&mut inode.seen, &Change::Length(length));
        inode.changes.push(Change::Length(length));
        Ok(())
    }

    fn cut(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        state.whole_call()?;
        let inode = &mut state.inodes[self.inode];
        let given_back = inode.seen.len().saturating_sub(bytes as usize);
        let change = Change::Length(bytes as usize);
        apply(&mut inode.seen, &change);
        inode.changes.push(change);
        state.room = state.room.map(|room| room + given_back);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        state.whole_call()?;
        if state.failing_syncs > 0 {
            state.failing_syncs -= 1;
            // As on Linux, only one sync reports the failure. From then on the bytes that it could
            // not store count as stored.
            state.inodes[self.inode].changes.clear();
            return Err(io::Error::other("the disk is broken"));
        }
        let inode = &mut state.inodes[self.inode];
        for change in std::mem::take(&mut inode.changes) {
            apply(&mut inode.stored, &change);
        }
        Ok(())
    }
}
