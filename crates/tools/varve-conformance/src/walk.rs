//! Compares two JSON values member by member and collects the differences.
//!
//! Members with a rule of their own, at any depth:
//! - ids that the server generates (`task_id`, a task's `id`, `task_dependencies`, `page`, a
//!   shard's `start` and `end`): paired through [`Identities`]; `0` ("no task") and `null` ("no
//!   more pages") must be equal;
//! - times and measures (`~create_time`, `task_create`, `task_update`, `task_progress`, `measure`):
//!   by shape;
//! - values that identify the server (`version`, `core`, `gremlin`, `doc`, `service`, `backend`,
//!   `task_server`, `task_callable`, …): a string; a version if a version was recorded; a list of
//!   names for `apis`;
//! - times of users, groups and the like, `user_password`, `token`: by shape; a token is inserted
//!   into later requests;
//! - `requestId`: a UUID; `cause`: a string; `trace`: anything;
//! - `links` of an edge label: a set.

use crate::identity::{IdKind, Identities};
use crate::json::Json;

/// The most differences that are collected for one answer.
const DIFFERENCES_MAX: usize = 8;

/// Which lists are sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// None.
    Exact,
    /// Those directly below the top.
    TopLists,
    /// All but paths and weights.
    Paths,
}

/// A running comparison.
#[derive(Debug)]
pub struct Walk<'a> {
    ids: &'a mut Identities,
    order: Order,
    /// The differences, one line each.
    pub differences: Vec<String>,
}

impl<'a> Walk<'a> {
    /// Starts a comparison that adds new ids to `ids`.
    pub fn new(ids: &'a mut Identities, order: Order) -> Self {
        Self {
            ids,
            order,
            differences: Vec::new(),
        }
    }

    fn differ(&mut self, at: &str, recorded: &Json, actual: &Json) {
        let at = if at.is_empty() { "the body" } else { at };
        self.note(format!(
            "{at} is {} instead of {}",
            brief(actual),
            brief(recorded)
        ));
    }

    fn note(&mut self, line: String) {
        if self.differences.len() < DIFFERENCES_MAX {
            self.differences.push(line);
        }
    }

    /// Compares two values; `at` is their path from the top, which is empty itself.
    pub fn value(&mut self, at: &str, recorded: &Json, actual: &Json) {
        match (recorded, actual) {
            (Json::Object(_), Json::Object(_)) => self.members(at, "", recorded, actual),
            (Json::Array(wanted), Json::Array(found)) => {
                if self.is_set(at) {
                    self.set(at, wanted, found);
                } else {
                    self.sequence(at, wanted, found);
                }
            }
            (Json::String(wanted), Json::String(found)) if self.ids.in_text(wanted) == *found => {}
            (Json::Number(wanted), Json::Number(found))
                if numbers_equal(&self.ids.in_text(wanted), found) => {}
            _ if recorded == actual => {}
            _ => self.differ(at, recorded, actual),
        }
    }

    /// Compares the members of two objects at the top, except one.
    pub fn members_but(&mut self, skipped: &str, recorded: &Json, actual: &Json) {
        self.members("", skipped, recorded, actual);
    }

    fn members(&mut self, at: &str, skipped: &str, recorded: &Json, actual: &Json) {
        let (Some(wanted), Some(found)) = (recorded.as_object(), actual.as_object()) else {
            return self.differ(at, recorded, actual);
        };
        for (key, value) in wanted.iter().filter(|(key, _)| key != skipped) {
            let at = join(at, key);
            match actual.get(key) {
                Some(other) => self.member(&at, key, recorded, value, other),
                None => self.note(format!("{at} is missing, was {}", brief(value))),
            }
        }
        for (key, value) in found.iter().filter(|(key, _)| key != skipped) {
            if recorded.get(key).is_none() {
                self.note(format!("{} = {} is too much", join(at, key), brief(value)));
            }
        }
        if is_element(recorded) {
            self.property_order(at, recorded, actual);
        }
    }

    fn property_order(&mut self, at: &str, recorded: &Json, actual: &Json) {
        let keys = |value: &Json| -> Option<Vec<String>> {
            let members = value.get("properties")?.as_object()?;
            Some(members.iter().map(|(key, _)| key.clone()).collect())
        };
        let (wanted, found) = (keys(recorded), keys(actual));
        let same_members = |a: &[String], b: &[String]| a.iter().all(|key| b.contains(key));
        if let (Some(wanted), Some(found)) = (wanted, found)
            && wanted != found
            && wanted.len() == found.len()
            && same_members(&wanted, &found)
        {
            self.note(format!(
                "{at} has its properties in the order {found:?}, not {wanted:?}"
            ));
        }
    }

    fn member(&mut self, at: &str, key: &str, parent: &Json, recorded: &Json, actual: &Json) {
        let is_task = parent.get("task_name").is_some();
        let is_shard = parent.get("start").is_some() && parent.get("length").is_some();
        match key {
            "task_id" => self.id(at, IdKind::Task, recorded, actual),
            "id" if is_task => self.id(at, IdKind::Task, recorded, actual),
            "page" => self.id(at, IdKind::Page, recorded, actual),
            "start" | "end" if is_shard => self.id(at, IdKind::Shard, recorded, actual),
            "task_dependencies" => match (recorded.as_array(), actual.as_array()) {
                (Some(wanted), Some(found)) if wanted.len() == found.len() => {
                    for (wanted, found) in wanted.iter().zip(found) {
                        self.id(at, IdKind::Task, wanted, found);
                    }
                }
                _ => self.differ(at, recorded, actual),
            },
            "measure" => self.measure(at, recorded, actual),
            "token" => match (recorded.as_str(), actual.as_str()) {
                (Some(wanted), Some(found)) => self.ids.renew(IdKind::Token, wanted, found),
                _ => self.differ(at, recorded, actual),
            },
            _ => match shape_of(key, recorded) {
                Some(fits) if fits(actual) => {}
                Some(_) => self.note(format!(
                    "{at} is {}, not of the form of {}",
                    brief(actual),
                    brief(recorded)
                )),
                None => self.value(at, recorded, actual),
            },
        }
    }

    fn id(&mut self, at: &str, kind: IdKind, recorded: &Json, actual: &Json) {
        let text = |value: &Json| match value {
            Json::Number(text) if text != "0" => Some(text.clone()),
            Json::String(text) => Some(text.clone()),
            _ => None,
        };
        match (text(recorded), text(actual)) {
            (Some(wanted), Some(found)) if recorded.kind() == actual.kind() => {
                if let Err(clash) = self.ids.pair(kind, &wanted, &found) {
                    self.note(format!("{at}: {clash}"));
                }
            }
            (None, None) if recorded == actual => {}
            _ => self.differ(at, recorded, actual),
        }
    }

    fn measure(&mut self, at: &str, recorded: &Json, actual: &Json) {
        for (key, _) in recorded.as_object().unwrap_or_default() {
            if !matches!(actual.get(key), Some(Json::Number(_))) {
                self.note(format!("{} is not a number", join(at, key)));
            }
        }
    }

    fn is_set(&self, at: &str) -> bool {
        let name = at.rsplit('.').next().unwrap_or_default();
        match self.order {
            _ if name == "links" => true,
            Order::Exact => false,
            Order::TopLists => !at.is_empty() && !at.contains(['.', '[']),
            Order::Paths => {
                let is_weighted_path = name == "vertices" && at.starts_with("path");
                !matches!(name, "objects" | "weights" | "path" | "ranks") && !is_weighted_path
            }
        }
    }

    fn sequence(&mut self, at: &str, wanted: &[Json], found: &[Json]) {
        if wanted.len() != found.len() {
            let (wanted, found) = (Json::Array(wanted.to_vec()), Json::Array(found.to_vec()));
            return self.differ(at, &wanted, &found);
        }
        for (i, (wanted, found)) in wanted.iter().zip(found).enumerate() {
            self.value(&format!("{at}[{i}]"), wanted, found);
        }
    }

    fn set(&mut self, at: &str, wanted: &[Json], found: &[Json]) {
        let mut left: Vec<&Json> = found.iter().collect();
        for value in wanted {
            let mut learnt = None;
            let place = left.iter().position(|candidate| {
                let mut trial = self.ids.clone();
                let mut walk = Walk::new(&mut trial, self.order);
                walk.value(&format!("{at}[]"), value, candidate);
                let fits = walk.differences.is_empty();
                if fits {
                    learnt = Some(trial);
                }
                fits
            });
            match (place, learnt) {
                (Some(place), Some(trial)) => {
                    *self.ids = trial;
                    left.remove(place);
                }
                _ => self.note(format!("{at} lacks {}", brief(value))),
            }
        }
        for value in left {
            self.note(format!("{at} has {} too much", brief(value)));
        }
    }
}

fn join(at: &str, key: &str) -> String {
    if at.is_empty() {
        key.to_owned()
    } else {
        format!("{at}.{key}")
    }
}

fn brief(value: &Json) -> String {
    const CHARS_MAX: usize = 240;
    let text = value.to_string();
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn is_element(value: &Json) -> bool {
    matches!(
        value.get("type").and_then(Json::as_str),
        Some("vertex" | "edge")
    )
}

/// Integers are equal as numbers, and so are fractions, but `1` never equals `1.0`.
fn numbers_equal(recorded: &str, actual: &str) -> bool {
    let is_fraction = |text: &str| text.contains(['.', 'e', 'E']);
    if recorded == actual {
        return true;
    }
    is_fraction(recorded)
        && is_fraction(actual)
        && recorded.parse::<f64>().ok() == actual.parse::<f64>().ok()
}

/// The shape test for a member whose value is specific to the server.
fn shape_of(key: &str, recorded: &Json) -> Option<fn(&Json) -> bool> {
    let is_string = recorded.as_str().is_some();
    match key {
        "~create_time" => Some(|v| v.as_str().is_some_and(is_date_text)),
        _ if is_record_time(key) && is_string => Some(|v| v.as_str().is_some_and(is_date_text)),
        // A hash in the original, which is secret.
        "user_password" if is_string => Some(|v| v.as_str().is_some()),
        "task_create" | "task_update" | "task_progress" => Some(is_integer),
        "version" | "core" | "gremlin" if recorded.as_str().is_some_and(is_version) => {
            Some(|v| v.as_str().is_some_and(is_version))
        }
        "doc" | "api_doc" | "swagger_ui" | "service" | "backend" | "task_server"
        | "task_callable" | "cause"
            if is_string =>
        {
            Some(|v| v.as_str().is_some())
        }
        // The groups of resources of the server.
        "apis" if recorded.as_array().is_some() => Some(|v| {
            v.as_array()
                .is_some_and(|names| names.iter().all(|name| name.as_str().is_some()))
        }),
        "requestId" => Some(|v| v.as_str().is_some_and(is_uuid)),
        "trace" => Some(|_| true),
        _ => None,
    }
}

/// Whether a member is the time at which a user, a group or the like was created or changed.
fn is_record_time(key: &str) -> bool {
    let kind = key.strip_suffix("_create").or(key.strip_suffix("_update"));
    kind.is_some_and(|kind| kind != "task" && !kind.contains('_'))
}

fn is_integer(value: &Json) -> bool {
    matches!(value, Json::Number(text) if text.parse::<i64>().is_ok())
}

/// `yyyy-MM-dd HH:mm:ss.SSS`
fn is_date_text(text: &str) -> bool {
    fits(text, "0000-00-00 00:00:00.000")
}

fn is_uuid(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts
            .iter()
            .all(|part| part.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_version(text: &str) -> bool {
    let parts: Vec<_> = text.split('.').collect();
    parts.len() >= 3 && parts.iter().all(|part| part.parse::<u32>().is_ok())
}

/// Whether `text` equals `form` with its zeros replaced by any digits.
fn fits(text: &str, form: &str) -> bool {
    text.len() == form.len()
        && text.bytes().zip(form.bytes()).all(|(t, f)| {
            if f == b'0' {
                t.is_ascii_digit()
            } else {
                t == f
            }
        })
}

#[cfg(test)]
mod tests;
