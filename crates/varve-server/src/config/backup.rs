//! The options of backups to a store.

use std::time::Duration;

use varve_backup::{Keep, Location, PlaceOptions};
use varve_graph::schema::parse_retention;
use varve_model::schema::Retention;

use super::ConfigError;
use crate::section;

section! {
    /// The options of backups to a store: a folder or a bucket of S3. Each backup stores only the
    /// files that the store does not have.
    pub struct BackupConfig {
        /// The store: a folder, as in `/srv/backups`, or a bucket, as in `s3://bucket/prefix`.
        /// At most one server may write to it; on a Cassandra cluster each server uses the folder
        /// in it that is named after its address. Empty: there is none, and nothing is sent.
        to: String = String::new(),
        /// The time from one backup to the next, as in `1d`, `12h`, `15m` or `90s`; `off` for
        /// backups on demand only. The first one begins at once if the store has none.
        every: String = "off".to_owned(),
        /// So many of the newest backups are kept; 0 for no such rule. Older ones are removed after
        /// each backup.
        keep: usize = 0,
        /// Backups that are no older than this are kept, as in `30d`; `all` for no such rule. With
        /// both rules a backup is kept if either says so; without any, all are. The newest always
        /// is.
        keep_for: String = "all".to_owned(),
        /// The address of the S3 service, as in `https://minio.example:9000`; empty for AWS. The
        /// credentials are not options: they come from the variables `AWS_ACCESS_KEY_ID`,
        /// `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or from the role of the machine or pod.
        endpoint: String = String::new(),
        /// The region of the bucket; empty for that of the variable `AWS_REGION`, or `us-east-1`.
        region: String = String::new(),
    }
}

impl BackupConfig {
    /// The store.
    #[must_use]
    pub fn place(&self) -> PlaceOptions {
        PlaceOptions {
            to: self.to.clone(),
            endpoint: self.endpoint.clone(),
            region: self.region.clone(),
        }
    }

    /// The time from one backup to the next; `None` if there is no schedule.
    ///
    /// # Errors
    /// When the option is no time.
    pub fn interval(&self) -> Result<Option<Duration>, ConfigError> {
        match self.every.as_str() {
            "off" => Ok(None),
            text => time("backup.every", text).map(Some),
        }
    }

    /// Which backups are kept.
    ///
    /// # Errors
    /// When the option is no time.
    pub fn kept(&self) -> Result<Keep, ConfigError> {
        let younger_than = match self.keep_for.as_str() {
            "all" => None,
            text => Some(time("backup.keep_for", text)?),
        };
        Ok(Keep {
            newest: self.keep,
            younger_than,
        })
    }

    /// Refuses a place or times that cannot be.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let refused = |option, reason| Err(ConfigError { option, reason });
        if !self.to.is_empty()
            && let Err(reason) = Location::parse(&self.to)
        {
            return refused("backup.to", reason);
        }
        let is_address = |text: &str| {
            let rest = ["http://", "https://"].map(|scheme| text.strip_prefix(scheme));
            let rest = rest.into_iter().flatten().next();
            // A name or a password there would be shown.
            rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['@', '?', '#']))
        };
        if !self.endpoint.is_empty() && !is_address(&self.endpoint) {
            let reason = "must be http://host:port or https://host:port".to_owned();
            return refused("backup.endpoint", reason);
        }
        let every = self.interval()?;
        if every.is_some() && self.to.is_empty() {
            let reason = "needs backup.to, the place of the backups".to_owned();
            return refused("backup.every", reason);
        }
        self.kept().map(drop)
    }
}

fn time(option: &'static str, text: &str) -> Result<Duration, ConfigError> {
    match parse_retention(text) {
        Ok(Retention::For(micros)) => Ok(Duration::from_micros(micros.unsigned_abs())),
        _ => Err(ConfigError {
            option,
            reason: format!("must be a time such as 30d, 12h, 15m or 90s, but is '{text}'"),
        }),
    }
}
