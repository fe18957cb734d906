//! The options of `varve-bench metadata`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::arguments::Common;

use super::profile::Profile;

/// The most instances of a type: the suite itself is limited by the volume `9999-…` of its names.
const INSTANCES_MAX: u32 = 9_999;
/// The longest page of a search.
const PAGE_MAX: u32 = 1_000;

/// `varve-bench metadata`
#[derive(Debug, Clone, Args)]
pub(crate) struct MetadataArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Name of the server on the platform
    #[arg(long, default_value = "varve", value_name = "NAME")]
    pub(crate) server_name: String,
    /// User of the calls
    #[arg(long, default_value = "bench", value_name = "NAME")]
    pub(crate) user: String,
    /// Instances of each type and page size of searches, named as the published columns; several
    /// volumes run one after another
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "0005-02",
        value_name = "INSTANCES-PAGE,…"
    )]
    pub(crate) volume: Vec<Volume>,
    /// Run only these profiles, by name or number. The instances that they use must exist;
    /// reference copies have another home in each run
    #[arg(long, value_delimiter = ',', value_name = "PROFILE,…", value_parser = profile)]
    pub(crate) profiles: Vec<Profile>,
    /// Use only the first N types of each category
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) types: Option<u32>,
    /// Write the time of every call into this folder, in the published form: a folder for each
    /// volume
    #[arg(long, value_name = "FOLDER")]
    pub(crate) evidence: Option<PathBuf>,
}

/// The size of a run: instances of each type, and the page of the timed searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Volume {
    pub(crate) instances: u32,
    pub(crate) page: u32,
}

impl FromStr for Volume {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || {
            format!(
                "expected <instances>-<page> as in 0005-02, up to {INSTANCES_MAX}-{PAGE_MAX} and from 1"
            )
        };
        let (instances, page) = text.split_once('-').ok_or_else(wanted)?;
        let number = |text: &str, max| {
            let number: Option<u32> = text.parse().ok();
            number
                .filter(|number| (1..=max).contains(number))
                .ok_or_else(wanted)
        };
        Ok(Self {
            instances: number(instances, INSTANCES_MAX)?,
            page: number(page, PAGE_MAX)?,
        })
    }
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.instances, self.page)
    }
}

fn profile(text: &str) -> Result<Profile, String> {
    let known = || {
        let names: Vec<&str> = Profile::ALL.iter().map(|it| it.name()).collect();
        format!("no such profile; there are {}", names.join(", "))
    };
    Profile::named(text).ok_or_else(known)
}

impl MetadataArguments {
    pub(crate) fn runs(&self, profile: Profile) -> bool {
        self.profiles.is_empty() || self.profiles.contains(&profile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_are_named_as_the_published_columns_are() {
        let volume: Volume = "1280-10".parse().expect("a volume");
        assert_eq!((volume.instances, volume.page), (1_280, 10));
        assert_eq!(Volume::to_string(&volume), "1280-10");
        let small: Volume = "5-2".parse().expect("a volume");
        assert_eq!(small.to_string(), "0005-02");
        for wrong in ["", "5", "0-2", "5-0", "10000-1", "5-x", "-5-2"] {
            assert!(wrong.parse::<Volume>().is_err(), "{wrong}");
        }
    }
}
