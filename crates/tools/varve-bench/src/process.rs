//! Processes of this machine, from `/proc`: the listener of a port, CPU time and memory.

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// State of a listening socket in `/proc/net/tcp`.
const LISTENING: &str = "0A";

/// User and system time of all threads of process `pid`; `None` if it has ended.
pub(crate) fn cpu_time(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command's name in parentheses may contain spaces; fields 14 and 15 come after it.
    let (_, after) = stat.rsplit_once(')')?;
    let mut fields = after.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let total = ticks()? + ticks()?;
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_micros(total * 1_000_000 / per_second))
}

/// User and system time that this process has used.
pub(crate) fn own_cpu_time() -> Duration {
    clock(ClockId::ProcessCPUTime)
}

/// User and system time that this thread has used.
pub(crate) fn thread_cpu_time() -> Duration {
    clock(ClockId::ThreadCPUTime)
}

fn clock(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Resident memory of process `pid` in bytes.
pub(crate) fn resident(pid: u32) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// The command line of process `pid`, joined with spaces.
pub(crate) fn command_line(pid: u32) -> Option<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<_> = bytes
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(String::from_utf8_lossy)
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The process of this machine that listens on `address`, if that is a loopback address and the
/// process is visible.
pub(crate) fn listener(address: SocketAddr) -> Option<u32> {
    if !address.ip().is_loopback() {
        return None;
    }
    let inodes: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .flat_map(|text| listening_inodes(&text, address.port()))
        .collect();
    let links: Vec<String> = inodes
        .iter()
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let descriptors = fs::read_dir(entry.path().join("fd")).ok()?;
        let holds = descriptors.flatten().any(|descriptor| {
            let link = fs::read_link(descriptor.path()).unwrap_or_default();
            links
                .iter()
                .any(|wanted| link.as_os_str() == wanted.as_str())
        });
        holds.then_some(pid)
    })
}

/// The inodes of the sockets that listen on `port`, in the text of `/proc/net/tcp`.
fn listening_inodes(text: &str, port: u16) -> Vec<String> {
    let wanted = format!(":{port:04X}");
    text.lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let listens = fields.get(1)?.ends_with(&wanted) && *fields.get(3)? == LISTENING;
            listens.then(|| fields.get(9).map(ToString::to_string))?
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_listener_of_this_process_is_found() {
        let listener_socket = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener_socket.local_addr().expect("an address");
        assert_eq!(listener(address), Some(std::process::id()));
        // A child process that another test starts has inherited the socket until its `exec`.
        let gone = socket2::SockRef::from(&listener_socket).shutdown(std::net::Shutdown::Both);
        gone.expect("it listened");
        drop(listener_socket);
        assert_eq!(listener(address), None);
    }

    #[test]
    fn cpu_time_and_memory_are_there() {
        let own = std::process::id();
        assert!(cpu_time(own).is_some());
        assert!(own_cpu_time() > Duration::ZERO);
        assert!(resident(own).is_some_and(|bytes| bytes > 100_000));
        assert!(command_line(own).is_some());
        assert_eq!(cpu_time(u32::MAX), None);
    }
}
