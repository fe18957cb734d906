//! The Prometheus text form. Its first line is one that HugeGraph's client suites look for.

use std::collections::BTreeMap;
use std::fmt::Write;

use varve_graph::CommitLatency;
use varve_kv::Statistic;

use crate::admin::Backups;
use crate::global::metrics::{called, counter_list, gauge_list};
use crate::global::{API_VERSION, system};
use crate::health::Trouble;
use crate::metrics::{BUCKETS, RouteTotals, STATUSES, bucket_limit_seconds};
use crate::route::Route;
use crate::state::AppState;
use crate::version;

/// Adds a line; writing to a `String` cannot fail.
macro_rules! line {
    ($out:expr, $($format:tt)*) => {
        let _ = writeln!($out, $($format)*);
    };
}

fn info(out: &mut String) {
    line!(
        out,
        "# HELP hugegraph_info The API version that this server implements."
    );
    line!(out, "# TYPE hugegraph_info untyped");
    line!(out, "hugegraph_info{{version=\"{API_VERSION}\",}} 1.0");
}

/// All metrics as text.
pub(super) fn text(state: &AppState) -> String {
    let mut out = String::with_capacity(16 * 1024);
    info(&mut out);
    line!(
        out,
        "# HELP varve_storage_info The storage engine, and the durability at which a write is acknowledged."
    );
    line!(out, "# TYPE varve_storage_info gauge");
    line!(
        out,
        "varve_storage_info{{engine=\"{}\",durability=\"{}\"}} 1",
        state.graphs().engine_name(),
        durability(state)
    );
    line!(
        out,
        "# HELP varve_build_info The version and the commit that this server was built from."
    );
    line!(out, "# TYPE varve_build_info gauge");
    line!(
        out,
        "varve_build_info{{version=\"{}\",commit=\"{}\"}} 1",
        version::VERSION,
        version::commit()
    );
    troubles(state, &mut out);
    process(&mut out);
    for gauge in gauge_list(state) {
        line!(
            out,
            "# HELP {} {}\n# TYPE {0} gauge\n{0} {}",
            gauge.name,
            gauge.help,
            gauge.value
        );
    }
    for (name, help, count) in counter_list(state) {
        line!(
            out,
            "# HELP {name} {help}\n# TYPE {name} counter\n{name} {count}"
        );
    }
    backups(state, &mut out);
    routes(state, &mut out);
    graphs(state, &mut out);
    commits(state, &mut out);
    engine(state, &mut out);
    out
}

/// How the backups to the store ended.
fn backups(state: &AppState, out: &mut String) {
    line!(
        out,
        "# HELP varve_backups_total Backups to the store that ended, by outcome."
    );
    line!(out, "# TYPE varve_backups_total counter");
    let figures = state.feature::<Backups>().figures(state);
    for (outcome, count) in [("done", figures.done), ("failed", figures.failed)] {
        line!(out, "varve_backups_total{{outcome=\"{outcome}\"}} {count}");
    }
}

/// Why the server is degraded.
fn troubles(state: &AppState, out: &mut String) {
    line!(
        out,
        "# HELP varve_degraded 1 if /health reports this reason, by its code; otherwise 0."
    );
    line!(out, "# TYPE varve_degraded gauge");
    let writes = state.writes_done();
    for trouble in Trouble::ALL {
        let is_present = u8::from(state.health().has(trouble, writes));
        line!(
            out,
            "varve_degraded{{reason=\"{}\"}} {is_present}",
            trouble.code()
        );
    }
}

/// The metrics of the process, under Prometheus's common names.
fn process(out: &mut String) {
    for figure in system::process() {
        let kind = kind_of(figure.name);
        line!(
            out,
            "# HELP {} {}\n# TYPE {0} {kind}\n{0} {}",
            figure.name,
            figure.help,
            figure.value
        );
    }
}

/// A figure that only grows ends in `_total`.
fn kind_of(name: &str) -> &'static str {
    match name.ends_with("_total") {
        true => "counter",
        false => "gauge",
    }
}

/// Which graphs are served here, and which cannot be.
fn graphs(state: &AppState, out: &mut String) {
    line!(
        out,
        "# HELP varve_graph_open 1 if the graph is open on this server, 0 if it cannot be opened.\n# TYPE varve_graph_open gauge"
    );
    let open = state.graphs().open_names().into_iter();
    let unopened = state.graphs().unopened().into_iter();
    let all = open
        .map(|name| (name, 1))
        .chain(unopened.map(|(name, _)| (name, 0)));
    for (graph, value) in all {
        line!(out, "varve_graph_open{{graph=\"{graph}\"}} {value}");
    }
}

/// When a write is acknowledged. On a cluster the nodes decide, whatever the option says.
fn durability(state: &AppState) -> String {
    match state.graphs().is_shared() {
        true => "cluster".to_owned(),
        false => state.graphs().options().durability.to_string(),
    }
}

/// The help of a metric and its value for each graph.
type Family = (&'static str, Vec<(String, f64)>);

/// The storage engine's figures, one metric for each; those of a graph are labelled by it.
fn engine(state: &AppState, out: &mut String) {
    for figure in state.graphs().engine_statistics() {
        let Statistic { name, help, value } = figure;
        let kind = kind_of(name);
        line!(
            out,
            "# HELP varve_engine_{name} {help}\n# TYPE varve_engine_{name} {kind}\nvarve_engine_{name} {value}"
        );
    }
    let mut by_name: BTreeMap<&str, Family> = BTreeMap::new();
    for (graph, figures) in state.graphs().statistics() {
        for figure in figures {
            let (_, values) = by_name
                .entry(figure.name)
                .or_insert((figure.help, Vec::new()));
            values.push((graph.clone(), figure.value));
        }
    }
    for (name, (help, values)) in by_name {
        let kind = kind_of(name);
        line!(
            out,
            "# HELP varve_engine_{name} {help}\n# TYPE varve_engine_{name} {kind}"
        );
        for (graph, value) in values {
            line!(out, "varve_engine_{name}{{graph=\"{graph}\"}} {value}");
        }
    }
}

fn routes(state: &AppState, out: &mut String) {
    let unmatched = state.router().routes().len();
    line!(
        out,
        "# HELP varve_requests_total Requests answered, by route and status code."
    );
    line!(out, "# TYPE varve_requests_total counter");
    let mut called: Vec<(&Route, RouteTotals)> = Vec::new();
    for (index, route) in state.router().routes().iter().enumerate() {
        let totals = state.metrics().totals(index);
        if totals.total() > 0 {
            called.push((route, totals));
        }
    }
    for (route, totals) in &called {
        by_status(&labels(route), totals, out);
    }
    let unmatched = state.metrics().totals(unmatched);
    by_status("method=\"\",route=\"\"", &unmatched, out);
    line!(
        out,
        "# HELP varve_request_seconds Time from a request's head to its answer, by route."
    );
    line!(out, "# TYPE varve_request_seconds histogram");
    for (route, totals) in &called {
        let times = (&totals.buckets, totals.nanos);
        histogram("varve_request_seconds", &labels(route), times, out);
    }
}

fn by_status(labels: &str, totals: &RouteTotals, out: &mut String) {
    let counted = STATUSES.iter().zip(totals.statuses);
    for (status, count) in counted.filter(|(_, count)| *count > 0) {
        let code = match status {
            0 => "other".to_owned(),
            status => status.to_string(),
        };
        line!(
            out,
            "varve_requests_total{{{labels},code=\"{code}\"}} {count}"
        );
    }
}

fn labels(route: &Route) -> String {
    format!(
        "method=\"{}\",route=\"/{}\"",
        route.verb.as_str(),
        route.pattern
    )
}

/// How long commits took, for each graph that this server leads.
fn commits(state: &AppState, out: &mut String) {
    line!(
        out,
        "# HELP varve_commit_seconds Time of commits, from when they are prepared until they are stored."
    );
    line!(out, "# TYPE varve_commit_seconds histogram");
    for name in state.graphs().open_names() {
        let graph = state.graphs().get(&name).ok();
        let latency = graph.and_then(|graph| graph.commit_latency());
        if let Some(CommitLatency { buckets, nanos }) = latency {
            let labels = format!("graph=\"{name}\"");
            histogram("varve_commit_seconds", &labels, (&buckets, nanos), out);
        }
    }
}

/// The lines of a histogram: the buckets and the sum in nanoseconds.
fn histogram(name: &str, labels: &str, times: (&[u64; BUCKETS], u64), out: &mut String) {
    let (buckets, nanos) = times;
    let mut count = 0;
    for (index, in_bucket) in buckets.iter().enumerate() {
        count += in_bucket;
        let limit =
            bucket_limit_seconds(index).map_or("+Inf".to_owned(), |limit| limit.to_string());
        line!(out, "{name}_bucket{{{labels},le=\"{limit}\"}} {count}");
    }
    line!(out, "{name}_sum{{{labels}}} {}", nanos as f64 / 1e9);
    line!(out, "{name}_count{{{labels}}} {count}");
}

/// The statistics in HugeGraph's form: one metric for each resource.
pub(super) fn statistics(state: &AppState) -> String {
    let mut out = String::with_capacity(4 * 1024);
    info(&mut out);
    for (name, totals) in called(state) {
        let name = name.replace(|char: char| !char.is_ascii_alphanumeric(), "_");
        line!(
            out,
            "# HELP {name} Requests and response times in milliseconds."
        );
        line!(out, "# TYPE {name} gauge");
        line!(out, "{name}{{name=\"FAILED_REQUEST\",}} {}", totals.failed);
        line!(
            out,
            "{name}{{name=\"MEAN_RESPONSE_TIME\",}} {}",
            totals.mean_ms()
        );
        line!(
            out,
            "{name}{{name=\"MAX_RESPONSE_TIME\",}} {}",
            totals.max_nanos / 1_000_000
        );
        line!(
            out,
            "{name}{{name=\"SUCCESS_REQUEST\",}} {}",
            totals.succeeded
        );
        line!(out, "{name}{{name=\"TOTAL_REQUEST\",}} {}", totals.total());
    }
    out
}
