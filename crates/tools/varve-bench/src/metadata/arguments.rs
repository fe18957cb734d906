//! The options of `varve-bench metadata`.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;

use crate::arguments::Common;

use super::profile::{Profile, ROWS};

/// The most instances of a type: the suite itself is limited by the volume `9999-…` of its names.
const INSTANCES_MAX: u32 = 9_999;
/// The longest page of a search.
const PAGE_MAX: u32 = 1_000;

/// The latest accepted deadline: a year.
const LONGEST_SECONDS: f64 = 366.0 * 86_400.0;

/// `varve-bench metadata`
#[derive(Debug, Clone, Args)]
pub struct MetadataArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Name of the server on the platform
    #[arg(long, default_value = "varve", value_name = "NAME")]
    pub(crate) server_name: String,
    /// User of the calls
    #[arg(long, default_value = "bench", value_name = "NAME")]
    pub(crate) user: String,
    /// With --serve: when a write is acknowledged. Otherwise: the repository's durability, for the
    /// results
    #[arg(
        long,
        value_name = "MODE",
        default_value_if("serve", clap::builder::ArgPredicate::IsPresent, "sync")
    )]
    pub(crate) durability: Option<String>,
    /// With --serve: keep the server's data in this folder, each volume in one of its own
    #[arg(long, value_name = "FOLDER", requires = "serve")]
    pub(crate) data_dir: Option<PathBuf>,

    /// Continue after the last completed profile in the file of --json, on the repository of that
    /// run
    #[arg(long = "continue", requires = "json")]
    pub(crate) go_on: bool,
    /// After this number of minutes, begin no further profile, and no further type in the walks
    /// through the graph
    #[arg(long, value_name = "N", value_parser = minutes)]
    pub(crate) minutes: Option<Duration>,
    /// During the walks through the graph, save the results at this interval, in seconds:
    /// --continue continues from there
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) keep_every: u64,

    /// Instances of each type and page size of searches, named as the published columns; several
    /// volumes run one after another
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "0005-02",
        value_name = "INSTANCES-PAGE,…"
    )]
    pub(crate) volume: Vec<Volume>,
    /// Run only these profiles, by name or number. The instances that they use must exist. Profiles
    /// of reference copies (20 to 22, 31, 32) need --continue: copies have another home in each new
    /// run
    #[arg(long, value_delimiter = ',', value_name = "PROFILE,…", value_parser = profile)]
    pub(crate) profiles: Vec<Profile>,
    /// Leave out profiles (by name or number) or methods; without getRelatedEntities there is no
    /// getLinkingEntities, and without the deletion of entities or relationships no purge of them
    #[arg(long, value_delimiter = ',', value_name = "PROFILE|METHOD,…", value_parser = skipped)]
    pub(crate) skip: Vec<Skipped>,
    /// Use only the first N types of each category
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) types: Option<u32>,
    /// Do not count searches that only find the instances of a test case; by default the rows of
    /// the searches include them
    #[arg(long)]
    pub(crate) no_booking: bool,

    /// Run nothing; report on these files of earlier runs
    #[arg(long, value_delimiter = ',', value_name = "FILE,…", conflicts_with_all = ["serve", "evidence", "json"])]
    pub(crate) from: Vec<PathBuf>,
    /// Write the time of every call into this folder, in the published form: a folder for each
    /// volume
    #[arg(long, value_name = "FOLDER")]
    pub(crate) evidence: Option<PathBuf>,
    /// Write the report: one self-contained HTML page
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write the tables as Markdown to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Name of the repository in the results [default: varve]
    #[arg(long, default_value = "varve", value_name = "NAME")]
    pub(crate) name: String,
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

/// A profile or method that is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Skipped {
    Profile(Profile),
    Method(&'static str),
}

/// A number of minutes, cut to a year, which any clock can represent.
fn minutes(text: &str) -> Result<Duration, String> {
    let minutes: Option<f64> = text.parse().ok();
    match minutes.filter(|minutes| *minutes >= 0.0) {
        Some(minutes) => Ok(Duration::from_secs_f64(
            (minutes * 60.0).min(LONGEST_SECONDS),
        )),
        None => Err("expected a number from 0".to_owned()),
    }
}

fn profile(text: &str) -> Result<Profile, String> {
    let known = || {
        let names: Vec<&str> = Profile::ALL.iter().map(|it| it.name()).collect();
        format!("no such profile; there are {}", names.join(", "))
    };
    Profile::named(text).ok_or_else(known)
}

fn skipped(text: &str) -> Result<Skipped, String> {
    let method = ROWS.iter().map(|info| info.row.method);
    match method.into_iter().find(|method| *method == text.trim()) {
        Some(method) => Ok(Skipped::Method(method)),
        None => profile(text)
            .map(Skipped::Profile)
            .map_err(|error| format!("no method of the table, and {error}")),
    }
}

/// The selected profiles and methods.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// Empty: all profiles.
    profiles: Vec<Profile>,
    skipped: Vec<Skipped>,
}

impl Selection {
    pub(crate) fn new(arguments: &MetadataArguments) -> Self {
        Self {
            profiles: arguments.profiles.clone(),
            skipped: arguments.skip.clone(),
        }
    }

    pub(crate) fn runs(&self, profile: Profile) -> bool {
        let is_named = self.profiles.is_empty() || self.profiles.contains(&profile);
        is_named && !self.skipped.contains(&Skipped::Profile(profile))
    }

    /// Whether the method is left out, itself or because it needs one that is: related entities are
    /// the input of walks between two entities, and only deleted instances can be purged.
    pub(crate) fn leaves_out(&self, method: &str) -> bool {
        let is_left_out = |name: &str| {
            let mut skipped = self.skipped.iter();
            skipped.any(|it| matches!(it, Skipped::Method(method) if *method == name))
        };
        let feeding = match method {
            "getLinkingEntities" => Some("getRelatedEntities"),
            "purgeEntity" => Some("deleteEntity"),
            "purgeRelationship" => Some("deleteRelationship"),
            _ => None,
        };
        is_left_out(method) || feeding.is_some_and(is_left_out)
    }

    /// The methods that are left out.
    pub(crate) fn left_out(&self) -> BTreeSet<String> {
        let methods = ROWS.iter().map(|info| info.row.method);
        let left_out = methods.filter(|method| self.leaves_out(method));
        left_out.map(str::to_owned).collect()
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

    #[test]
    fn minutes_may_be_many_and_parts_of_one() {
        assert_eq!(minutes("0"), Ok(Duration::ZERO));
        assert_eq!(minutes("0.5"), Ok(Duration::from_secs(30)));
        assert_eq!(minutes("1e300"), Ok(Duration::from_secs(366 * 86_400)));
        for wrong in ["-1", "NaN", "x", ""] {
            assert!(minutes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn profiles_and_methods_are_left_out_by_name() {
        let selection = Selection {
            profiles: Vec::new(),
            skipped: ["getRelatedEntities", "graph history queries", "31"]
                .map(|text| skipped(text).expect("known"))
                .to_vec(),
        };
        assert!(!selection.runs(Profile::GraphHistoryQueries));
        assert!(!selection.runs(Profile::RelationshipPurge));
        assert!(selection.runs(Profile::GraphQueries));
        assert!(selection.leaves_out("getRelatedEntities"));
        assert!(selection.leaves_out("getLinkingEntities"));
        assert!(!selection.leaves_out("getEntityNeighborhood"));
        let all = ["deleteEntity", "purgeEntity", "getRelatedEntities"];
        assert!(!all.iter().any(|it| Selection::default().leaves_out(it)));
        for (deletion, purge) in [
            ("deleteEntity", "purgeEntity"),
            ("deleteRelationship", "purgeRelationship"),
        ] {
            let selection = Selection {
                skipped: vec![skipped(deletion).expect("known")],
                ..Selection::default()
            };
            let left_out: Vec<String> = selection.left_out().into_iter().collect();
            assert_eq!(left_out, [deletion, purge]);
        }
        assert!(skipped("getEverything").is_err());
    }
}
