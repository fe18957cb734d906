//! The page around the report: head, style, script, heading, environment.

use std::fmt::Write as _;

use super::text::{bytes, escape, three};
use crate::api::result::{Environment, ResultFile, Server};

/// The style, with colours for light and dark surroundings.
const STYLE: &str = include_str!("page.css");
/// Shows the figures under the pointer.
const SCRIPT: &str = include_str!("page.js");

/// How the figures are to be read.
pub(super) const READING: &str = r#"<section id="reading"><h2>How to read this</h2><dl>
<dt>Samples</dt><dd>Requests finished, failed ones included.</dd>
<dt>Average, Median, 90% Line, Min, Max</dt><dd>Service time in whole milliseconds, from the first byte sent to the last byte received, connecting included; as JMeter's Aggregate Report has them.</dd>
<dt>Error %</dt><dd>Another status than expected, a timeout, a connection refused or reset, or an answer without what was asked for.</dd>
<dt>Throughput</dt><dd>Requests a second: samples divided by the time from the first sample's start to the last one's end. Users start and stop inside that time.</dd>
<dt>KB/sec</dt><dd>Bytes received, heads and bodies, divided by 1024 and by the same time.</dd>
<dt>Corrected</dt><dd>Latency from the planned send: what users would have seen who do not wait for the last answer. In the closed model there is no plan, so none.</dd>
<dt>Paced</dt><dd>N users, each at most one request a period, as in the published tests: the throughput is what was offered until the server is full.</dd>
<dt>Closed</dt><dd>N users back to back: the highest throughput, but no latency that users would see.</dd>
<dt>Open</dt><dd>A rate, whatever the answers do.</dd>
<dt>CPU µs</dt><dd>User and system time of the process, divided by requests or by elements. On shared machines the steadiest figure.</dd>
<dt>Generator-bound</dt><dd>Requests were sent late although the server left processors idle, or the load tool had no time left: the row says more about the tool.</dd>
</dl></section>
"#;

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

/// The page's title.
pub(super) fn title(files: &[ResultFile]) -> String {
    let mut titles: Vec<&str> = Vec::new();
    for file in files {
        let title = match file.title.as_str() {
            "" => "Load test",
            title => title,
        };
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    match titles.is_empty() {
        true => "Load test".to_owned(),
        false => titles.join(" · "),
    }
}

/// Title, machine and contents.
pub(super) fn heading(files: &[ResultFile]) -> String {
    let mut out = format!("<header><h1>{}</h1>", escape(&title(files)));
    if let Some(file) = files.first() {
        let _ = write!(
            out,
            "<p class=\"machine\">{}</p>",
            escape(&machine(&file.environment))
        );
    }
    let servers: Vec<String> = distinct_servers(files)
        .iter()
        .map(|server| escape(&server_words(server)))
        .collect();
    if !servers.is_empty() {
        let _ = write!(out, "<p>Servers: {}</p>", servers.join("; "));
    }
    let mut warnings: Vec<&str> = Vec::new();
    for warning in files.iter().flat_map(|file| &file.environment.warnings) {
        if !warnings.contains(&warning.as_str()) {
            warnings.push(warning);
        }
    }
    for warning in warnings {
        let _ = write!(out, "<p class=\"warning\">{}</p>", escape(warning));
    }
    out + "</header>\n"
}

/// Title and machine in Markdown.
pub(super) fn markdown_heading(file: &ResultFile) -> String {
    let environment = &file.environment;
    let mut out = format!(
        "### {}\n\n{}. {} to {}.\n\n",
        title(std::slice::from_ref(file)),
        machine(environment),
        environment.started,
        environment.ended
    );
    if !environment.command_line.is_empty() {
        let _ = write!(out, "`{}`\n\n", command(&environment.command_line));
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

/// A command line as a shell takes it.
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

fn distinct_servers(files: &[ResultFile]) -> Vec<&Server> {
    let mut found: Vec<&Server> = Vec::new();
    for server in files.iter().flat_map(|file| &file.servers) {
        let known = found
            .iter()
            .any(|it| server_words(it) == server_words(server));
        if !known {
            found.push(server);
        }
    }
    found
}

fn server_words(server: &Server) -> String {
    let mut words = vec![server.name.clone()];
    match (&server.service, &server.core_version) {
        (Some(service), _) => words.push(format!("({service})")),
        (None, Some(core)) => words.push(format!("(core {core})")),
        (None, None) => {}
    }
    if let Some(durability) = &server.durability {
        words.push(format!("with durability {durability}"));
    }
    words.join(" ")
}

/// Everything known about machine, servers and commands, a block a file.
pub(super) fn environment(files: &[ResultFile]) -> String {
    let mut out = String::from("<section id=\"environment\"><h2>Environment</h2>\n");
    for file in files {
        let environment = &file.environment;
        let _ = write!(
            out,
            "<h3>{}</h3><dl>",
            escape(&title(std::slice::from_ref(file)))
        );
        for (name, value) in facts(environment) {
            if !value.is_empty() {
                let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
            }
        }
        for server in &file.servers {
            let _ = write!(
                out,
                "<dt>Server {}</dt><dd>{}</dd>",
                escape(&server.name),
                server_facts(server)
            );
        }
        out.push_str("</dl>\n");
        if !environment.command_line.is_empty() {
            let _ = writeln!(
                out,
                "<pre>{}</pre>",
                escape(&command(&environment.command_line))
            );
        }
    }
    out + "</section>\n"
}

fn facts(environment: &Environment) -> Vec<(&'static str, String)> {
    let tool = match &environment.tool_commit {
        Some(commit) => format!("{} ({commit})", environment.tool_version),
        None => environment.tool_version.clone(),
    };
    let loads = format!(
        "{} at the start, {} at the end",
        three(environment.load_average_start),
        three(environment.load_average_end)
    );
    let limits = format!(
        "{} open files, accept queue {}",
        environment.open_files_max, environment.somaxconn
    );
    vec![
        ("Machine", machine(environment)),
        ("Load average", loads),
        ("Limits", limits),
        (
            "Start to end",
            format!("{} to {}", environment.started, environment.ended),
        ),
        ("Load tool", tool),
        (
            "Generator threads",
            environment.generator_threads.to_string(),
        ),
        (
            "Seed and prefix",
            format!("{}, {}", environment.seed, environment.run_prefix),
        ),
    ]
}

fn server_facts(server: &Server) -> String {
    let mut parts = vec![format!("{} graph {}", server.url, server.graph)];
    if !server.paths.is_empty() {
        parts.push(format!("{} paths", server.paths));
    }
    let known = [
        ("", &server.service),
        ("core ", &server.core_version),
        ("API ", &server.api_version),
        ("durability ", &server.durability),
        ("engine ", &server.engine),
    ];
    for (name, value) in known {
        if let Some(value) = value {
            parts.push(format!("{name}{value}"));
        }
    }
    parts.extend(server.notes.iter().cloned());
    let mut out = escape(&parts.join(", "));
    if let Some(line) = &server.command_line {
        let _ = write!(out, "<br><code>{}</code>", escape(line));
    }
    out
}
