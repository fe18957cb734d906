//! The parts of the page around the tables: heading, explanations, environment.

use std::fmt::Write as _;

use crate::api::result::{ResultFile, Server};
use crate::report::page;
use crate::report::text::escape;

/// The explanation of the figures.
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

/// Title, machine, servers and warnings.
pub(super) fn heading(files: &[ResultFile]) -> String {
    let mut out = String::new();
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
    let first = files.first().map(|file| &file.environment);
    page::heading(&title(files), first, &out)
}

/// Title and machine in Markdown.
pub(super) fn markdown_heading(file: &ResultFile) -> String {
    let environment = &file.environment;
    let mut out = format!(
        "### {}\n\n{}. {} to {}.\n\n",
        title(std::slice::from_ref(file)),
        page::machine(environment),
        environment.started,
        environment.ended
    );
    if !environment.command_line.is_empty() {
        let _ = write!(out, "`{}`\n\n", page::command(&environment.command_line));
    }
    out
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

/// The known facts about machine, servers and commands, a block for each file.
pub(super) fn environment(files: &[ResultFile]) -> String {
    let mut out = String::new();
    for file in files {
        let _ = write!(
            out,
            "<h3>{}</h3>",
            escape(&title(std::slice::from_ref(file)))
        );
        let servers = file.servers.iter();
        let servers = servers.map(|it| (format!("Server {}", it.name), server_facts(it)));
        out.push_str(&page::environment(servers.collect(), &file.environment));
    }
    page::section("environment", "Environment", &out)
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
