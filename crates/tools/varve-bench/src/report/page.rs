//! The page around a report: head, style, script, heading, sections, environment.

use std::fmt::Write as _;

use super::text::{bytes, escape, three};
use crate::environment::Environment;

/// The style, which adapts to light and dark surroundings.
const STYLE: &str = include_str!("page.css");
/// The script that shows the figures under the pointer.
const SCRIPT: &str = include_str!("page.js");

/// The HTML document around `body`.
pub(crate) fn document(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         <div id=\"tip\" hidden></div>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escape(title)
    )
}

/// The title and the machine; `more` is HTML below them.
pub(crate) fn heading(title: &str, environment: Option<&Environment>, more: &str) -> String {
    let machine = environment.map_or_else(String::new, |it| {
        format!("<p class=\"machine\">{}</p>", escape(&machine(it)))
    });
    format!(
        "<header><h1>{}</h1>{machine}{more}</header>\n",
        escape(title)
    )
}

/// A section of the page, which links can target.
pub(crate) fn section(id: &str, name: &str, content: &str) -> String {
    let name = escape(name);
    format!("<section id=\"{id}\"><h2>{name}</h2>\n{content}</section>\n")
}

/// Names and their values as an HTML list; names without a value are left out.
pub(crate) fn definitions(facts: &[(String, String)]) -> String {
    let mut out = String::from("<dl>");
    for (name, html) in facts.iter().filter(|(_, html)| !html.is_empty()) {
        let _ = write!(out, "<dt>{}</dt><dd>{html}</dd>", escape(name));
    }
    out + "</dl>\n"
}

/// The known facts about machine, tool and command, after other facts (HTML).
pub(crate) fn environment(mut facts: Vec<(String, String)>, of: &Environment) -> String {
    let tool = match &of.tool_commit {
        Some(commit) => format!("{} ({commit})", of.tool_version),
        None => of.tool_version.clone(),
    };
    let loads = [of.load_average_start, of.load_average_end].map(three);
    let known = [
        ("Machine", machine(of)),
        (
            "Load average",
            format!("{} at the start, {} at the end", loads[0], loads[1]),
        ),
        (
            "Limits",
            format!(
                "{} open files, accept queue {}",
                of.open_files_max, of.somaxconn
            ),
        ),
        ("Start to end", format!("{} to {}", of.started, of.ended)),
        ("Load tool", tool),
        ("Generator threads", of.generator_threads.to_string()),
        ("Seed", of.seed.to_string()),
        ("Prefix", of.run_prefix.clone()),
    ];
    // A suite with one connection has no limits.
    let known = known
        .into_iter()
        .filter(|(name, _)| *name != "Limits" || of.open_files_max > 0);
    facts.extend(known.map(|(name, text)| (name.to_owned(), escape(&text))));
    let mut out = definitions(&facts);
    if !of.command_line.is_empty() {
        let command = escape(&command(&of.command_line));
        let _ = writeln!(out, "<pre>{command}</pre>");
    }
    out
}

/// The machine in a line.
pub(crate) fn machine(environment: &Environment) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(environment.machine.clone());
    if environment.cpu_count > 0 {
        let model = match environment.cpu_model.as_str() {
            "" => "processors",
            model => model,
        };
        parts.push(format!("{} × {model}", environment.cpu_count));
    }
    if environment.memory_bytes > 0 {
        parts.push(format!("{} memory", bytes(environment.memory_bytes as f64)));
    }
    for text in [&environment.disk, &environment.system, &environment.kernel] {
        if !text.is_empty() {
            parts.push(text.clone());
        }
    }
    match parts.is_empty() {
        true => "Machine unknown".to_owned(),
        false => parts.join(", "),
    }
}

/// A command line, quoted for a shell.
pub(crate) fn command(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        let plain = |it: char| it.is_ascii_alphanumeric() || "-_./:=,+@%".contains(it);
        match !word.is_empty() && word.chars().all(plain) {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}
