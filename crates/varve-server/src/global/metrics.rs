//! `/metrics` and the resources below it, in the JSON forms that HugeGraph's clients read.

use std::sync::atomic::Ordering;

use crate::admin::Backups;
use crate::errors::ApiError;
use crate::explore::Followers;
use crate::global::{prometheus, system};
use crate::json::JsonWriter;
use crate::metrics::{Gauge, RouteTotals};
use crate::request::RequestContext;
use crate::respond::{ContentType, HandlerResult, Response};
use crate::state::AppState;

/// Writes one kind of metric as a JSON object.
type Section = fn(&AppState, &mut JsonWriter);

/// Whether `type=json` was asked for; 400 for any other type but `prometheus`.
fn wants_json(context: &RequestContext) -> Result<bool, ApiError> {
    match context.query()?.get("type") {
        None | Some("" | "prometheus") => Ok(false),
        Some("json") => Ok(true),
        Some(other) => Err(ApiError::illegal_argument(format!(
            "The type parameter must be json or prometheus, but got '{other}'"
        ))),
    }
}

/// `/metrics`: Prometheus text, or all sections as JSON.
pub(super) fn all(context: &RequestContext) -> HandlerResult {
    let state = context.state();
    if !wants_json(context)? {
        let text = prometheus::text(state);
        return Ok(Response::ok(text).content_type(ContentType::TextUtf8));
    }
    let sections: [(&str, Section); 5] = [
        ("gauges", write_gauges),
        ("counters", write_counters),
        ("histograms", write_histograms),
        ("meters", write_meters),
        ("timers", write_timers),
    ];
    let mut json = JsonWriter::with_capacity(8 * 1024);
    json.begin_object();
    for (name, write) in sections {
        json.key(name);
        write(state, &mut json);
    }
    json.end_object();
    Ok(Response::ok(json.finish()).content_type(ContentType::TextUtf8))
}

fn section(context: &RequestContext, write: Section) -> HandlerResult {
    let mut json = JsonWriter::with_capacity(4 * 1024);
    write(context.state(), &mut json);
    Ok(Response::ok(json.finish()))
}

pub(super) fn gauges(context: &RequestContext) -> HandlerResult {
    section(context, write_gauges)
}

pub(super) fn counters(context: &RequestContext) -> HandlerResult {
    section(context, write_counters)
}

pub(super) fn histograms(context: &RequestContext) -> HandlerResult {
    section(context, write_histograms)
}

pub(super) fn meters(context: &RequestContext) -> HandlerResult {
    section(context, write_meters)
}

pub(super) fn timers(context: &RequestContext) -> HandlerResult {
    section(context, write_timers)
}

/// `/metrics/system`: memory, load and threads of this process, under the names of a Java
/// process's.
pub(super) fn system(context: &RequestContext) -> HandlerResult {
    section(context, |state, json| system::write(state.started(), json))
}

/// `/metrics/backend`: the storage engine's figures for each graph.
pub(super) fn backend(context: &RequestContext) -> HandlerResult {
    section(context, |state, json| {
        json.begin_object();
        for (graph, figures) in state.graphs().statistics() {
            json.key(&graph).begin_object();
            json.key("backend").string(state.graphs().engine_name());
            json.key("nodes").integer(1);
            json.key("cluster_id").string("local");
            json.key("servers")
                .begin_object()
                .key("local")
                .begin_object();
            for figure in figures {
                json.key(figure.name).double(figure.value);
            }
            json.end_object().end_object().end_object();
        }
        json.end_object();
    })
}

/// `/metrics/statistics`: calls and response times in milliseconds of each resource that was
/// called.
pub(super) fn statistics(context: &RequestContext) -> HandlerResult {
    let state = context.state();
    if !wants_json(context)? {
        let text = prometheus::statistics(state);
        return Ok(Response::ok(text).content_type(ContentType::TextUtf8));
    }
    let mut json = JsonWriter::with_capacity(4 * 1024);
    json.begin_object();
    for (name, totals) in called(state) {
        json.key(&name).begin_object();
        json.key("FAILED_REQUEST").unsigned(totals.failed);
        json.key("MEAN_RESPONSE_TIME").double(totals.mean_ms());
        json.key("MAX_RESPONSE_TIME")
            .unsigned(totals.max_nanos / 1_000_000);
        json.key("SUCCESS_REQUEST").unsigned(totals.succeeded);
        json.key("TOTAL_REQUEST").unsigned(totals.total());
        json.end_object();
    }
    json.end_object();
    Ok(Response::ok(json.finish()).content_type(ContentType::TextUtf8))
}

/// The resources that were called, named as HugeGraph does: `graphs/graph/graph/edges/id/GET`.
pub(super) fn called(state: &AppState) -> impl Iterator<Item = (String, RouteTotals)> {
    state
        .router()
        .routes()
        .iter()
        .enumerate()
        .filter_map(|(index, route)| {
            let totals = state.metrics().totals(index);
            let plain: String = route
                .pattern
                .chars()
                .filter(|char| !"{}".contains(*char))
                .collect();
            (totals.total() > 0).then(|| (format!("{plain}/{}", route.verb.as_str()), totals))
        })
}

/// All gauges with their current values.
pub(super) fn gauge_list(state: &AppState) -> Vec<Gauge> {
    let counted = admission_gauges(state)
        .into_iter()
        .chain(work_gauges(state));
    let mut list: Vec<Gauge> = counted
        .map(|(name, help, value)| Gauge {
            name,
            help,
            value: value as f64,
        })
        .collect();
    list.push(Gauge {
        name: "varve_uptime_seconds",
        help: "Seconds since the start.",
        value: state.started().elapsed().as_secs_f64(),
    });
    list.extend(backup_gauges(state));
    list
}

/// The gauges of the store of backups.
fn backup_gauges(state: &AppState) -> [Gauge; 5] {
    let figures = state.feature::<Backups>().figures(state);
    let gauge = |name, help, value| Gauge { name, help, value };
    [
        gauge(
            "varve_backup_every_seconds",
            "Seconds from one scheduled backup to the next; 0 without a schedule.",
            figures.every_seconds,
        ),
        gauge(
            "varve_backup_last_success_timestamp_seconds",
            "When the newest complete backup in the store began, in seconds since 1970; 0 if there is none.",
            figures.last_success,
        ),
        gauge(
            "varve_backup_last_duration_seconds",
            "Seconds that the newest backup in the store took.",
            figures.last_seconds,
        ),
        gauge(
            "varve_backup_last_bytes",
            "Bytes of the files of the newest backup in the store.",
            figures.last_bytes as f64,
        ),
        gauge(
            "varve_backups_kept",
            "Backups in the store.",
            figures.kept as f64,
        ),
    ]
}

/// Name, help and value of a gauge that counts.
type Counted = (&'static str, &'static str, usize);

fn admission_gauges(state: &AppState) -> [Counted; 6] {
    let (reads, writes) = (state.admission().reads(), state.admission().writes());
    [
        (
            "varve_reads_in_flight",
            "Reads in progress, without those that run in place.",
            reads.in_flight(),
        ),
        (
            "varve_writes_in_flight",
            "Writes in progress.",
            writes.in_flight(),
        ),
        (
            "varve_reads_waiting",
            "Reads waiting for admission.",
            reads.waiting(),
        ),
        (
            "varve_writes_waiting",
            "Writes waiting for admission.",
            writes.waiting(),
        ),
        (
            "varve_read_body_bytes",
            "Bytes of the bodies of read requests in memory.",
            reads.bytes_held(),
        ),
        (
            "varve_write_body_bytes",
            "Bytes of the bodies of write requests in memory.",
            writes.bytes_held(),
        ),
    ]
}

fn work_gauges(state: &AppState) -> [Counted; 5] {
    [
        (
            "varve_open_connections",
            "Connections open now.",
            state.open_connections(),
        ),
        (
            "varve_pool_work",
            "Long reads and writes queued or running on the pool.",
            state.database().pool.in_work(),
        ),
        (
            "varve_changes_followers",
            "Followers of changes: streams of events, and calls that wait.",
            state.feature::<Followers>().count(),
        ),
        (
            "varve_gremlin_sessions",
            "Open Gremlin sessions.",
            state.database().transactions.sessions(),
        ),
        (
            "varve_gremlin_held_bytes",
            "Bytes in memory of open Gremlin transactions and of the variables of sessions.",
            state.database().transactions.held().held(),
        ),
    ]
}

/// Name, help and value of each counter.
pub(super) fn counter_list(state: &AppState) -> Vec<(&'static str, &'static str, u64)> {
    let metrics = state.metrics();
    let (reads, writes) = (state.admission().reads(), state.admission().writes());
    let value = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    vec![
        (
            "varve_panics_total",
            "Panics caught in handlers.",
            value(&state.database().panics),
        ),
        (
            "varve_requests_forwarded_total",
            "Requests forwarded to the servers that lead their graphs.",
            value(&metrics.forwarded),
        ),
        (
            "varve_requests_followed_total",
            "Reads answered here as of a position of their graph's leader, which may be another server.",
            value(&metrics.followed),
        ),
        (
            "varve_connections_accepted_total",
            "Connections accepted.",
            value(&metrics.connections_accepted),
        ),
        (
            "varve_connections_refused_total",
            "Connections refused because too many were open.",
            value(&metrics.connections_refused),
        ),
        (
            "varve_tls_handshakes_failed_total",
            "Connections closed before their TLS handshake was complete.",
            value(&metrics.tls_handshakes_failed),
        ),
        (
            "varve_connections_cut_total",
            "Connections closed because they were slow or idle, or because their client was gone.",
            value(&metrics.connections_cut),
        ),
        (
            "varve_reads_abandoned_total",
            "Reads whose client was gone before the answer was ready.",
            state.database().running.abandoned(),
        ),
        (
            "varve_accept_errors_total",
            "Failed attempts to accept a connection.",
            value(&metrics.accept_errors),
        ),
        (
            "varve_reads_waited_total",
            "Reads that had to wait for admission.",
            reads.waited(),
        ),
        (
            "varve_writes_waited_total",
            "Writes that had to wait for admission.",
            writes.waited(),
        ),
        (
            "varve_reads_refused_total",
            "Reads refused because too many were waiting, or because they waited too long.",
            reads.refused(),
        ),
        (
            "varve_writes_refused_total",
            "Writes refused because too many were waiting, or because they waited too long.",
            writes.refused(),
        ),
    ]
}

fn write_gauges(state: &AppState, json: &mut JsonWriter) {
    json.begin_object();
    let durability = state.graphs().options().durability.to_string();
    for (name, value) in [
        ("varve_engine", state.graphs().engine_name()),
        ("varve_durability", durability.as_str()),
    ] {
        json.key(name)
            .begin_object()
            .key("value")
            .string(value)
            .end_object();
    }
    for gauge in gauge_list(state) {
        json.key(gauge.name)
            .begin_object()
            .key("value")
            .double(gauge.value)
            .end_object();
    }
    json.end_object();
}

fn write_counters(state: &AppState, json: &mut JsonWriter) {
    json.begin_object();
    let mut counter = |name: &str, count: u64| {
        json.key(name)
            .begin_object()
            .key("count")
            .unsigned(count)
            .end_object();
    };
    for (name, totals) in called(state) {
        counter(&format!("{name}/TOTAL_COUNTER"), totals.total());
        counter(&format!("{name}/SUCCESS_COUNTER"), totals.succeeded);
        counter(&format!("{name}/FAILED_COUNTER"), totals.failed);
    }
    for (name, _, count) in counter_list(state) {
        counter(name, count);
    }
    json.end_object();
}

/// Response times in milliseconds; the quantiles are exact to a factor of two.
fn write_histograms(state: &AppState, json: &mut JsonWriter) {
    json.begin_object();
    for (name, totals) in called(state) {
        json.key(&format!("{name}/RESPONSE_TIME_HISTOGRAM"))
            .begin_object();
        json.key("count").unsigned(totals.total());
        json.key("min")
            .double(totals.quantile_ms(0.0).min(totals.mean_ms()));
        json.key("mean").double(totals.mean_ms());
        json.key("max").double(totals.max_nanos as f64 / 1e6);
        for (key, quantile) in [
            ("p50", 0.5),
            ("p75", 0.75),
            ("p95", 0.95),
            ("p98", 0.98),
            ("p99", 0.99),
            ("p999", 0.999),
        ] {
            json.key(key).double(totals.quantile_ms(quantile));
        }
        json.end_object();
    }
    json.end_object();
}

/// Rates over the whole time since the start: there is no decaying average here.
fn write_meters(state: &AppState, json: &mut JsonWriter) {
    let seconds = state.started().elapsed().as_secs_f64().max(1e-3);
    let (mut succeeded, mut failed) = (0, 0);
    for (_, totals) in called(state) {
        succeeded += totals.succeeded;
        failed += totals.failed;
    }
    json.begin_object();
    for (name, count) in [
        ("org.apache.hugegraph.api.API.commit-succeed", succeeded),
        ("org.apache.hugegraph.api.API.expected-error", failed),
        (
            "org.apache.hugegraph.api.API.unknown-error",
            state.database().panics.load(Ordering::Relaxed),
        ),
    ] {
        json.key(name).begin_object().key("count").unsigned(count);
        for rate in ["mean_rate", "m15_rate", "m5_rate", "m1_rate"] {
            json.key(rate).double(count as f64 / seconds);
        }
        json.key("rate_unit").string("events/second").end_object();
    }
    json.end_object();
}

fn write_timers(_: &AppState, json: &mut JsonWriter) {
    json.begin_object().end_object();
}
