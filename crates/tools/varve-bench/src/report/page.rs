//! The page around a report, and what all reports say of the machine and the servers.

use pulldown_cmark::{Event, Options, Parser, html};

use super::text::{bytes, three};
use super::{Part, Report};
use crate::environment::Environment;
use crate::result::{ResultFile, Server};

/// The style of a page. Charts have a background of their own.
const STYLE: &str = include_str!("page.css");

pub(super) fn html(report: &Report) -> String {
    let mut body = String::new();
    for part in &report.parts {
        match part {
            Part::Text(text) => {
                let events = Parser::new_ext(text, Options::ENABLE_TABLES);
                // Text of files is no markup.
                html::push_html(
                    &mut body,
                    events.map(|event| match event {
                        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
                        other => other,
                    }),
                );
            }
            Part::Chart(svg) => body += svg,
        }
    }
    let mut title = String::new();
    html::push_html(
        &mut title,
        [Event::Text(report.title.as_str().into())].into_iter(),
    );
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// The titles of the files, each once.
pub(super) fn title(files: &[ResultFile]) -> String {
    let mut titles: Vec<&str> = files.iter().map(|file| file.title.as_str()).collect();
    titles.dedup();
    titles.join(" · ")
}

/// Title, machine, servers and warnings.
pub(super) fn heading(report: &mut Report, files: &[ResultFile]) {
    report.text(format!("# {}", report.title));
    if let Some(file) = files.first() {
        report.text(machine(&file.environment));
    }
    let mut lines: Vec<String> = Vec::new();
    for file in files {
        let servers = file
            .servers
            .iter()
            .map(|it| format!("- Server {}", server(it)));
        let warnings = file.environment.warnings.iter();
        lines.extend(servers.chain(warnings.map(|it| format!("- **Warning:** {it}"))));
    }
    lines.sort();
    lines.dedup();
    report.text(lines.join("\n"));
}

fn server(of: &Server) -> String {
    let facts = [
        ("", &of.service),
        ("core ", &of.core_version),
        ("engine ", &of.engine),
        ("durability ", &of.durability),
    ];
    let facts = facts
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}{}", value.as_ref()?)));
    let mut words = vec![format!("{} at {}", of.name, of.url)];
    words.extend(facts.chain(of.notes.iter().cloned()));
    words.join(", ")
}

/// Machine, tool and command of each file.
pub(super) fn environment(report: &mut Report, files: &[ResultFile]) {
    report.text("## Environment");
    for file in files {
        let of = &file.environment;
        let commit = of.tool_commit.as_deref().unwrap_or("unknown commit");
        report.text(format!(
            "{}: {}. {} to {}, load average {} at the start, {} at the end; {} sending threads, seed {}, prefix \
             {:?}, {} open files, accept queue {}, tool {} ({commit}).",
            file.title,
            machine(of),
            of.started,
            of.ended,
            three(of.load_average_start),
            three(of.load_average_end),
            of.generator_threads,
            of.seed,
            of.run_prefix,
            of.open_files_max,
            of.somaxconn,
            of.tool_version,
        ));
        report.text(format!("```\n{}\n```", command(&of.command_line)));
    }
}

/// A command line, quoted for a shell.
fn command(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        let plain = |it: char| it.is_ascii_alphanumeric() || "-_./:=,+@%".contains(it);
        match !word.is_empty() && word.chars().all(plain) {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn machine(of: &Environment) -> String {
    let mut parts: Vec<String> = of.machine.iter().cloned().collect();
    parts.push(format!("{} × {}", of.cpu_count, of.cpu_model));
    parts.push(format!("{} memory", bytes(of.memory_bytes as f64)));
    parts.extend([&of.disk, &of.system, &of.kernel].map(String::clone));
    parts.join(", ")
}
