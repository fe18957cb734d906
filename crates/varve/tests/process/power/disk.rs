//! A disk that loses its power: a file system in a file. The file lies on a second file system,
//! whose page cache is the disk's write cache: it keeps what was flushed, and of the rest what it
//! happened to write. Needs root, loop devices, ext4 and perl.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::acknowledged::Random;

/// MiB of the disk, and of the file system below it.
const DISK_MIB: u64 = 192;
const CACHE_MIB: u64 = 288;
/// MiB of a piece that the write cache stores of its own accord.
const PIECE_MIB: u64 = 1;
/// Stops the file system of a folder at once: nothing more is written, not even its journal.
const SHUTDOWN: &str = r#"open(D, "<", $ARGV[0]) or die $!; $mode = pack("L", 2);
    ioctl(D, 0x8004587d, $mode) or die $!;"#;

/// What is missing for such disks on this machine, if anything is.
pub(super) fn missing() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("not root".to_owned());
    }
    if !Path::new("/dev/loop-control").exists() {
        return Some("no loop devices".to_owned());
    }
    let absent = |tool: &&&str| Command::new(tool).arg("--version").output().is_err();
    let tools = ["unshare", "mount", "umount", "mkfs.ext4", "perl", "dd"];
    tools.iter().find(absent).map(|tool| format!("no {tool}"))
}

/// Where files are quickest: in memory, if there is room.
fn folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(memory).map_or(0, |room| room.f_bavail * room.f_frsize);
    if room > (CACHE_MIB + DISK_MIB) << 20 {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    }
}

fn run<S: AsRef<OsStr>>(tool: &str, arguments: &[S]) {
    let output = Command::new(tool).args(arguments).output();
    let output = output.expect("the tool is there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool}: {said}");
}

/// The disk, mounted.
pub(super) struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir_in(folder()).expect("a temporary folder");
        let disk = Self { folder };
        fs::create_dir(disk.cache()).expect("a folder");
        fs::create_dir(disk.path()).expect("a folder");
        let below = fs::File::create(disk.at("below")).expect("a file");
        below.set_len(CACHE_MIB << 20).expect("room");
        run(
            "mkfs.ext4",
            &[OsStr::new("-q"), disk.at("below").as_os_str()],
        );
        disk.mount(&disk.at("below"), &disk.cache(), "loop");
        // Written in full, so that a block that is lost later shows what it had before.
        let output = format!("of={}", disk.image().display());
        let (size, count) = ("bs=1M".to_owned(), format!("count={DISK_MIB}"));
        let input = "if=/dev/zero".to_owned();
        run("dd", &[input, output, size, count, "conv=fsync".to_owned()]);
        run("mkfs.ext4", &[OsStr::new("-q"), disk.image().as_os_str()]);
        disk.mount(&disk.image(), &disk.path(), "loop");
        disk
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn cache(&self) -> PathBuf {
        self.at("cache")
    }

    fn image(&self) -> PathBuf {
        self.at("cache/disk")
    }

    /// The folder of the disk's files.
    pub(super) fn path(&self) -> PathBuf {
        self.at("disk")
    }

    /// A folder beside the disk, for a copy of its files: the disk has no room for both.
    pub(super) fn beside(&self) -> PathBuf {
        self.at("copy")
    }

    fn mount(&self, image: &Path, to: &Path, options: &str) {
        let options = OsStr::new(options);
        run(
            "mount",
            &[OsStr::new("-o"), options, image.as_os_str(), to.as_os_str()],
        );
    }

    /// The power is cut while files are written. The cache has stored some of what it was not asked
    /// to store, in no order.
    pub(super) fn cut(&self, random: &mut Random) {
        for _ in 0..random.below(8) {
            let first = random.below(DISK_MIB / PIECE_MIB) * PIECE_MIB;
            let arguments = [
                format!("if={}", self.image().display()),
                "of=/dev/null".to_owned(),
                "iflag=nocache".to_owned(),
                "bs=1M".to_owned(),
                format!("skip={first}"),
                format!("count={PIECE_MIB}"),
            ];
            run("dd", &arguments);
        }
        let cache = self.cache();
        run(
            "perl",
            &[OsStr::new("-e"), OsStr::new(SHUTDOWN), cache.as_os_str()],
        );
    }

    /// The power is back; nobody has a file open. The file system of the data keeps more or less of
    /// what was not synced.
    pub(super) fn restart(&self, random: &mut Random) {
        run("umount", &[self.path()]);
        run("umount", &[self.cache()]);
        self.mount(&self.at("below"), &self.cache(), "loop");
        let modes = ["loop", "loop,data=writeback,commit=1"];
        let mode = modes[random.below(2) as usize];
        self.mount(&self.image(), &self.path(), mode);
    }
}

impl Drop for Disk {
    /// So that the folder can be removed.
    fn drop(&mut self) {
        for folder in [self.path(), self.cache()] {
            let _ = Command::new("umount").arg(folder).status();
        }
    }
}
