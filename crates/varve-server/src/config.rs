//! Every option of the HTTP server: name, unit, default, and what happens at the limit.
//!
//! A plain struct. Files, environment and flags are layered over it by the binary; unknown keys are refused here.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::Deserialize;

/// One mebibyte.
const MIB: usize = 1024 * 1024;

/// The options of the HTTP server. Durations are in milliseconds, sizes in bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// Address to listen on. Default `127.0.0.1`.
    pub host: IpAddr,
    /// Port to listen on; 0 takes a free one. Default 8080, as HugeGraph's.
    pub port: u16,
    /// Serving threads, each with its own listener and runtime; 0 means one for each core. Default 0.
    pub threads: usize,
    /// Connections that may wait to be accepted, per thread. The kernel caps it at `net.core.somaxconn`. Default 4096.
    pub backlog: i32,
    /// Connections open at once. One more is answered 503 and closed. Default 18000.
    pub max_connections: usize,
    /// Bytes of a request's head (request line and headers). Over it: 431. At least 8192. Default 65536.
    pub max_header_bytes: usize,
    /// Number of headers of one request. Over it: 431. Default 100.
    pub max_headers: usize,
    /// Bytes of a request body, as sent and after decompression. Over it: 413. Default 10 MiB.
    pub max_body_bytes: usize,
    /// The same for the batch resources, whose bodies may be larger. Default 64 MiB.
    pub max_batch_body_bytes: usize,
    /// Requests that one HTTP/2 connection may have open at once. Default 256.
    pub max_http2_streams: u32,
    /// Time from the first byte of a request to the end of its head. Over it the connection is cut. Default 10000.
    pub header_read_timeout_ms: u64,
    /// Grace for a body's arrival; `min_body_bytes_per_second` extends it. Over it: 408 and the connection is cut.
    /// Default 10000.
    pub body_read_timeout_ms: u64,
    /// A body that arrives at least at this rate is never cut. Default 4096.
    pub min_body_bytes_per_second: u64,
    /// Time that an answer may wait for the client to take any byte of it. Over it the connection is cut. Default 30000.
    pub write_timeout_ms: u64,
    /// Time that a connection may stay open without a request. Default 60000.
    pub idle_timeout_ms: u64,
    /// Time that a handler may take. Over it: 503; work in the pool sees its deadline pass. Default 30000.
    pub request_timeout_ms: u64,
    /// Time for requests in work to end after a stop was asked for. Default 8000.
    pub shutdown_timeout_ms: u64,
    /// Waiting reads (those that do not run in place) that may be in work at once. Default 512.
    pub max_reads_in_flight: usize,
    /// Writes that may be in work at once. Default 4096: writes mostly wait for the group commit.
    pub max_writes_in_flight: usize,
    /// Bytes of read requests' bodies held at once. Default 64 MiB.
    pub max_read_request_bytes: usize,
    /// Bytes of write requests' bodies held at once. Default 256 MiB.
    pub max_write_request_bytes: usize,
    /// Requests of each kind that may wait for their turn; one more is answered 503 at once. Default 16384.
    pub max_waiting_requests: usize,
    /// Time that a request waits for its turn before it is answered 503. Default 5000.
    pub admission_wait_ms: u64,
    /// Seconds that a 503 names in `Retry-After`. Default 1.
    pub retry_after_seconds: u32,
    /// Threads for long work (scans, large batches); 0 means twice the cores, at least 4. Default 0.
    pub blocking_threads: usize,
    /// Pieces of long work that may wait for a thread. Default 1024.
    pub blocking_queue: usize,
    /// Answers smaller than this are never compressed. Default 1024.
    pub gzip_min_bytes: usize,
    /// Compression level of gzip answers, 1 (fast) to 9 (small). Default 1.
    pub gzip_level: u32,
    /// Requests slower than this are logged with their path; 0 logs none. Default 1000.
    pub slow_request_ms: u64,
    /// Whether errors carry a trace at start; `PUT /exception/trace` changes it at run time. Default false.
    pub allow_trace: bool,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 8080,
            threads: 0,
            backlog: 4096,
            max_connections: 18_000,
            max_header_bytes: 64 * 1024,
            max_headers: 100,
            max_body_bytes: 10 * MIB,
            max_batch_body_bytes: 64 * MIB,
            max_http2_streams: 256,
            header_read_timeout_ms: 10_000,
            body_read_timeout_ms: 10_000,
            min_body_bytes_per_second: 4096,
            write_timeout_ms: 30_000,
            idle_timeout_ms: 60_000,
            request_timeout_ms: 30_000,
            shutdown_timeout_ms: 8_000,
            max_reads_in_flight: 512,
            max_writes_in_flight: 4096,
            max_read_request_bytes: 64 * MIB,
            max_write_request_bytes: 256 * MIB,
            max_waiting_requests: 16_384,
            admission_wait_ms: 5_000,
            retry_after_seconds: 1,
            blocking_threads: 0,
            blocking_queue: 1024,
            gzip_min_bytes: 1024,
            gzip_level: 1,
            slow_request_ms: 1000,
            allow_trace: false,
        }
    }
}

/// Why a configuration was refused.
#[derive(Debug, thiserror::Error)]
#[error("server option '{option}': {reason}")]
pub struct ConfigError {
    /// The option's name.
    pub option: &'static str,
    /// What is wrong with its value.
    pub reason: String,
}

impl ServerConfig {
    /// Refuses values with which the server could not work.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let at_least = |option, value: u64, least: u64| {
            if value < least {
                let reason = format!("must be at least {least}, but is {value}");
                return Err(ConfigError { option, reason });
            }
            Ok(())
        };
        at_least("max_connections", self.max_connections as u64, 1)?;
        at_least("max_header_bytes", self.max_header_bytes as u64, 8192)?;
        at_least("max_headers", self.max_headers as u64, 16)?;
        at_least("max_body_bytes", self.max_body_bytes as u64, 1)?;
        at_least("max_batch_body_bytes", self.max_batch_body_bytes as u64, 1)?;
        at_least(
            "min_body_bytes_per_second",
            self.min_body_bytes_per_second,
            1,
        )?;
        at_least("max_reads_in_flight", self.max_reads_in_flight as u64, 1)?;
        at_least("max_writes_in_flight", self.max_writes_in_flight as u64, 1)?;
        let largest = self.max_body_bytes.max(self.max_batch_body_bytes) as u64;
        at_least(
            "max_read_request_bytes",
            self.max_read_request_bytes as u64,
            largest,
        )?;
        at_least(
            "max_write_request_bytes",
            self.max_write_request_bytes as u64,
            largest,
        )?;
        for (option, value) in [
            ("max_read_request_bytes", self.max_read_request_bytes),
            ("max_write_request_bytes", self.max_write_request_bytes),
        ] {
            if u32::try_from(value).is_err() {
                return Err(ConfigError {
                    option,
                    reason: "must be below 4 GiB".to_owned(),
                });
            }
        }
        if !(1..=9).contains(&self.gzip_level) {
            let reason = format!("must be in 1..=9, but is {}", self.gzip_level);
            return Err(ConfigError {
                option: "gzip_level",
                reason,
            });
        }
        Ok(())
    }

    /// The address to bind.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::new(self.host, self.port)
    }

    /// The number of serving threads, with 0 resolved to the number of cores.
    pub fn thread_count(&self) -> usize {
        if self.threads > 0 {
            self.threads
        } else {
            cores()
        }
    }

    /// The number of threads for long work, with 0 resolved.
    pub fn blocking_thread_count(&self) -> usize {
        if self.blocking_threads > 0 {
            self.blocking_threads
        } else {
            (2 * cores()).max(4)
        }
    }

    /// `request_timeout_ms` as a duration.
    pub fn request_timeout(&self) -> Duration {
        Duration::from_millis(self.request_timeout_ms)
    }

    /// `admission_wait_ms` as a duration.
    pub fn admission_wait(&self) -> Duration {
        Duration::from_millis(self.admission_wait_ms)
    }
}

/// The number of cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid() {
        ServerConfig::default()
            .validate()
            .expect("the defaults are valid");
    }

    #[test]
    fn unknown_options_are_refused() {
        let bad = serde_json::from_str::<ServerConfig>(r#"{"prot": 1}"#);
        assert!(
            bad.unwrap_err()
                .to_string()
                .contains("unknown field `prot`")
        );
        let good = serde_json::from_str::<ServerConfig>(r#"{"port": 1, "host": "::1"}"#).unwrap();
        assert_eq!(good.address().to_string(), "[::1]:1");
    }

    #[test]
    fn impossible_values_are_refused_by_name() {
        let config = ServerConfig {
            max_header_bytes: 100,
            ..ServerConfig::default()
        };
        assert_eq!(config.validate().unwrap_err().option, "max_header_bytes");
        let config = ServerConfig {
            gzip_level: 0,
            ..ServerConfig::default()
        };
        assert_eq!(config.validate().unwrap_err().option, "gzip_level");
    }
}
