//! Random histories: appends, syncs, rotations and removals on one disk, interrupted at any call by
//! the end of the process or a power loss, repeatedly.

use super::*;

/// What is known about the log from outside.
#[derive(Debug, Default)]
struct Story {
    /// Every payload in the order of appending, with its segment. The end of a process loses none.
    appended: Records,
    /// The number of synced payloads.
    synced: usize,
    /// The last segment whose removal was begun, and the last one whose removal was completed.
    removal_begun: u64,
    removed: u64,
}

impl Story {
    /// Forgets the records that the crash has lost.
    fn cut(&mut self, found: &Records, after_power_loss: bool) {
        let end = match found.last() {
            Some(last) => self.appended.iter().position(|record| record == last),
            None => None,
        };
        match end {
            Some(end) => self.appended.truncate(end + 1),
            None => self.appended.retain(|(id, _)| id.0 <= self.removal_begun),
        }
        self.synced = if after_power_loss {
            self.appended.len()
        } else {
            self.synced.min(self.appended.len())
        };
    }

    /// Checks the records of a log that was opened after a crash.
    fn check(&self, found: &Records, after_power_loss: bool, seed: u64) {
        let known = &self.appended;
        let kept = if after_power_loss {
            self.synced
        } else {
            known.len()
        };
        let Some((segment, first)) = found.first() else {
            let may_be_gone = |record: &(SegmentId, Vec<u8>)| record.0.0 <= self.removal_begun;
            assert!(
                known[..kept].iter().all(may_be_gone),
                "seed {seed}: all gone"
            );
            return;
        };
        let start = known.iter().position(|(_, payload)| payload == first);
        let start = start.unwrap_or_else(|| panic!("seed {seed}: {segment:?} was never appended"));
        let end = start + found.len();
        assert!(end <= known.len(), "seed {seed}: too much");
        assert_eq!(*found, known[start..end], "seed {seed}");
        assert!(end >= kept, "seed {seed}: {end} of {kept}");
        let before = &known[..start];
        assert!(
            before.iter().all(|(id, _)| id.0 <= self.removal_begun),
            "seed {seed}: lost"
        );
        assert!(
            found.iter().all(|(id, _)| id.0 > self.removed),
            "seed {seed}: came back"
        );
    }
}

/// Works on the log until the disk stops or `steps` are done. A failed append counts as the last
/// record.
fn work(
    log: &mut Log,
    disk: &SimulatedDisk,
    story: &mut Story,
    random: &mut Random,
    steps: u64,
) -> Option<Vec<u8>> {
    for _ in 0..steps {
        if random.one_in(40) {
            let room = random.below(300) as usize;
            disk.limit(random.one_in(2).then_some(room));
        }
        match random.below(10) {
            0..=4 => {
                let next = payload(random.next());
                match log.append(&next) {
                    Ok(()) => {
                        story.appended.push((log.active(), next));
                        if random.one_in(2) {
                            log.acknowledge();
                            log.syncer().note();
                        }
                    }
                    Err(KvError::DiskFull { .. }) => {}
                    Err(_) => return Some(next),
                }
            }
            5..=7 => {
                let all = story.appended.len();
                match log.syncer().sync() {
                    Ok(()) => story.synced = all,
                    Err(_) => return None,
                }
            }
            8 => match log.rotate() {
                Ok(_) | Err(KvError::DiskFull { .. }) => {}
                Err(_) => return None,
            },
            _ => {
                let active = log.active().0;
                let last = active.saturating_sub(1 + random.below(3));
                if last > story.removed {
                    // Only segments whose content the caller has stored elsewhere are removed.
                    story.removal_begun = story.removal_begun.max(last);
                    match log.remove_through(SegmentId(last)) {
                        Ok(()) => story.removed = last,
                        Err(KvError::DiskFull { .. }) => {}
                        Err(_) if disk.stopped() => return None,
                        Err(_) => {}
                    }
                }
            }
        }
    }
    None
}

fn history(seed: u64) {
    let mut random = Random::new(seed);
    let sync_on_rotate = !random.one_in(3);
    let ahead = [0, 64, 1024][random.below(3) as usize];
    let mut disk = SimulatedDisk::default();
    let mut story = Story::default();
    for _ in 0..1 + random.below(6) {
        disk.limit(None);
        if random.one_in(4) {
            disk.stop_after(random.below(30));
        }
        let mut made_durable = false;
        let opened = if random.one_in(2) {
            let after = random.below(20);
            open_durably(
                &disk,
                options(ahead, sync_on_rotate),
                after,
                &mut made_durable,
            )
        } else {
            open(&disk, options(ahead, sync_on_rotate))
        };
        if made_durable {
            story.synced = story.appended.len();
        }
        let mut half_written = None;
        match opened {
            Ok((mut log, found)) => {
                settle(&mut story, &found);
                disk.stop_after(random.below(120));
                if random.one_in(8) {
                    disk.fail_syncs(1);
                }
                half_written = work(&mut log, &disk, &mut story, &mut random, 40);
            }
            Err(error) => assert!(disk.stopped(), "seed {seed}: {error}"),
        }
        let power_loss = random.one_in(2);
        disk = if power_loss {
            disk.after_power_loss(&mut random)
        } else {
            disk.after_kill()
        };
        disk.fail_syncs(0);
        // Checked on a copy, so that the next opening can be interrupted.
        let copy = disk.after_kill();
        let opened = open(&copy, options(ahead, sync_on_rotate));
        let (_, found) = opened.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        if let Some(half) = half_written
            && let Some((id, last)) = found.last()
            && *last == half
        {
            story.appended.push((*id, half));
        }
        story.check(&found, power_loss, seed);
        story.cut(&found, power_loss);
    }
}

/// Takes the records found on opening for the whole content of the log, all of it on stable
/// storage.
fn settle(story: &mut Story, found: &Records) {
    story.appended.clone_from(found);
    story.synced = found.len();
}

#[test]
fn no_crash_loses_what_was_synced_or_makes_the_log_unreadable() {
    let rounds = std::env::var("VARVE_FUZZ_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse::<u64>().ok())
        .map_or(3_000, |rounds| rounds / 10);
    for seed in 0..rounds {
        history(seed);
    }
}
