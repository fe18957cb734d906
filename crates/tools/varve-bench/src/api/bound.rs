//! Whether the generator limited a row, rather than the server.
//!
//! Both often run on one machine and share its processors. Then either may be the cause of late
//! sends or of threads that waited for a processor, and their CPU use decides.

use crate::result::Model;

/// The generator limits a paced row with a larger share of late sends, if its threads were
/// busy or the server used less than [`SERVER_SHARE`].
const LATE_SHARE: f64 = 0.05;
/// Threads with a larger share of busy time had no time left.
const BUSY_SHARE: f64 = 0.95;
/// A server with a larger share of all processors may have kept the generator from sending.
const SERVER_SHARE: f64 = 0.5;
/// With a larger share of all processors in use, none was free.
const FULL_SHARE: f64 = 0.95;
/// Shorter rows are not judged: CPU time of a process is counted in hundredths of a second.
const SHORTEST_S: f64 = 1.0;

/// The CPU use of server and generator in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use {
    pub(crate) elapsed_s: f64,
    /// Processors that the tool may use.
    pub(crate) processors: u32,
    /// Threads that sent.
    pub(crate) threads: u32,
    /// The share of sends that were late.
    pub(crate) late_share: f64,
    /// CPU time of the threads that sent.
    pub(crate) generator_s: f64,
    /// CPU time of the server; absent when it is not on this machine.
    pub(crate) server_s: Option<f64>,
}

impl Use {
    /// Why the generator limited the row, if it did.
    pub(crate) fn bound_reason(&self, model: Model) -> Option<String> {
        if self.elapsed_s < SHORTEST_S {
            return None;
        }
        let processors = f64::from(self.processors) * self.elapsed_s;
        let busy = self.generator_s / (self.elapsed_s * f64::from(self.threads));
        let server = self.server_s.unwrap_or_default();
        let is_busy = busy > BUSY_SHARE;
        let threads = self.threads;
        let busy = format!(
            "its {threads} thread(s) were busy {:.0} % of the time",
            busy * 100.0
        );
        if model != Model::Closed {
            let is_late = self.late_share > LATE_SHARE;
            let spare = server / processors < SERVER_SHARE;
            let late = format!("{:.0} % of the sends were late", self.late_share * 100.0);
            return match is_late {
                true if is_busy => Some(format!("{late}, {busy}")),
                true if spare => Some(late),
                _ => None,
            };
        }
        let full = (server + self.generator_s) / processors > FULL_SHARE;
        match self.server_s {
            _ if is_busy => Some(busy),
            Some(server) if full && self.generator_s > server => Some(format!(
                "no processor was free, and it used {:.1} s of them where the server used {server:.1} s",
                self.generator_s
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten seconds on two processors, one thread that sends.
    fn used(late_share: f64, generator_s: f64, server_s: Option<f64>) -> Use {
        Use {
            elapsed_s: 10.0,
            processors: 2,
            threads: 1,
            late_share,
            generator_s,
            server_s,
        }
    }

    fn is_bound(model: Model, used: Use) -> bool {
        used.bound_reason(model).is_some()
    }

    #[test]
    fn late_sends_are_the_generators_unless_the_server_had_the_processors() {
        let model = Model::Paced;
        assert!(!is_bound(model, used(0.04, 5.0, Some(1.0))), "in time");
        assert!(is_bound(model, used(0.06, 5.0, Some(9.0))));
        assert!(is_bound(model, used(0.06, 5.0, None)), "elsewhere");
        assert!(!is_bound(model, used(0.5, 5.0, Some(14.0))));
        assert!(is_bound(model, used(0.5, 9.6, Some(10.4))), "no time left");
    }

    #[test]
    fn a_closed_row_is_the_generators_when_its_threads_had_no_time_left() {
        assert!(is_bound(Model::Closed, used(0.0, 9.6, Some(10.0))));
        assert!(!is_bound(Model::Closed, used(0.0, 9.0, Some(9.0))));
        let two = Use {
            threads: 2,
            ..used(0.0, 9.6, Some(1.0))
        };
        assert!(!is_bound(Model::Closed, two), "half of their time");
    }

    #[test]
    fn on_full_processors_the_one_who_used_more_is_what_the_row_tells_of() {
        let two = |generator_s, server_s| Use {
            threads: 2,
            ..used(0.0, generator_s, server_s)
        };
        assert!(is_bound(Model::Closed, two(11.0, Some(8.5))));
        assert!(!is_bound(Model::Closed, two(8.5, Some(11.0))));
        assert!(!is_bound(Model::Closed, two(11.0, Some(5.0))), "not full");
        assert!(!is_bound(Model::Closed, two(11.0, None)), "elsewhere");
    }

    #[test]
    fn a_row_of_less_than_a_second_is_not_judged() {
        let short = Use {
            elapsed_s: 0.5,
            ..used(0.0, 0.5, None)
        };
        assert!(!is_bound(Model::Closed, short));
    }
}
