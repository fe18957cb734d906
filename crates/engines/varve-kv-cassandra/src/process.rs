//! The process that has a lease, by a name from which another process on the same machine can tell
//! that it has ended.
//!
//! A dead server cannot be told from a slow one over the network, but its own machine knows. The
//! name has the machine's boot and the process's namespace, number and start. If boot and namespace
//! are those of the process that asks, and no process has that number and start, its owner has
//! ended for good: its lease need not run out.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// The place of a process: the boot of its machine, and its namespace of process numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    boot: String,
    namespace: u64,
}

impl Place {
    fn here() -> Option<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(Self {
            boot: boot.trim().to_owned(),
            namespace: fs::metadata("/proc/self/ns/pid").ok()?.ino(),
        })
    }
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Process {
    place: Place,
    number: i32,
    /// When it was started, in ticks since the boot.
    started: u64,
}

impl Process {
    fn here() -> Option<Self> {
        let number = i32::try_from(std::process::id()).ok()?;
        Some(Self {
            place: Place::here()?,
            number,
            started: start_of(number)?,
        })
    }

    /// Reads what [`named`] has written.
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.rsplit_once('@')?.1.split('/');
        let mut next = || parts.next();
        let (boot, namespace, number, started) = (next()?, next()?, next()?, next()?);
        Some(Self {
            place: Place {
                boot: boot.to_owned(),
                namespace: namespace.parse().ok()?,
            },
            number: number.parse().ok()?,
            started: started.parse().ok()?,
        })
    }

    /// Whether it is certain that it has ended.
    fn has_ended(&self) -> bool {
        if Place::here().as_ref() != Some(&self.place) {
            return false;
        }
        let Some(number) = Pid::from_raw(self.number).filter(|_| self.number > 0) else {
            return false;
        };
        // Asked of the kernel itself: `/proc` may hide the processes of other users.
        match test_kill_process(number) {
            Err(Errno::SRCH) => true,
            // Another process has the number by now.
            _ => start_of(self.number).is_some_and(|started| started != self.started),
        }
    }
}

/// The start of the process with this number, in ticks since the boot; `None` if there is none or
/// it is hidden.
fn start_of(number: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name of the program, in brackets, may have any characters.
    let fields = stat.rsplit_once(')')?.1;
    // The 22nd field of all; the two before the brackets are cut off.
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// A name of this process's: `name`, and by which process it was given.
pub(crate) fn named(name: &str) -> String {
    let Some(own) = Process::here() else {
        return name.to_owned();
    };
    let Place { boot, namespace } = own.place;
    format!("{name}@{boot}/{namespace}/{}/{}", own.number, own.started)
}

/// Whether it is certain that the process that gave this name has ended: it ran on this machine,
/// since the machine's last start.
pub(crate) fn has_ended(name: &str) -> bool {
    Process::read(name).is_some_and(|process| process.has_ended())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_has_ended_once_nobody_has_its_number_and_start() {
        let own = Process::here().expect("a process");
        assert!(!own.has_ended() && !has_ended(&named("a@b")));
        assert_eq!(Process::read(&named("a@b")).as_ref(), Some(&own));
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
        let number = i32::try_from(child.id()).expect("a number");
        let process = Process {
            number,
            started: start_of(number).expect("a start"),
            ..own.clone()
        };
        assert!(!process.has_ended());
        child.kill().expect("killed");
        assert!(!process.has_ended(), "until its parent knows");
        child.wait().expect("its end");
        assert!(process.has_ended());
        // Another process with the number.
        let earlier = Process {
            started: own.started - 1,
            ..own.clone()
        };
        assert!(earlier.has_ended());
    }

    #[test]
    fn nothing_is_certain_about_other_machines_and_other_names() {
        let own = Process::here().expect("a process");
        let gone = Process {
            number: i32::MAX,
            ..own
        };
        assert!(gone.has_ended());
        let mut elsewhere = gone.clone();
        elsewhere.place.boot.push('0');
        assert!(!elsewhere.has_ended());
        let mut contained = gone.clone();
        contained.place.namespace += 1;
        assert!(!contained.has_ended());
        for name in ["", "1-2-3", "x@", "x@a/b/c/d", "x@a/1/2", "x@a/1/-5/2"] {
            assert!(!has_ended(name), "{name}");
        }
    }
}
