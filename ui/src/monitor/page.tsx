// What the server does: rates, times, memory, and its slow requests.

import { createResource, For, onMount, Show } from "solid-js";
import { language, number, t } from "../i18n";
import { call } from "../core/http";
import { Table, type Row } from "../parts/table";
import { BackupsPanel } from "./backups";
import { Chart } from "./chart";
import { quantile, samples, startSampling, type Sample } from "./samples";
import { bytes, duration } from "./units";

interface Slow {
  threshold_ms: number;
  requests: { at: string; method: string; path: string; graph: string | null; user: string | null; status: number; elapsed_ms: number }[];
}

function short(value: number): string {
  return new Intl.NumberFormat(language(), { notation: "compact", maximumSignificantDigits: 3 }).format(value);
}

function total(sample: Sample): number {
  return [...sample.routes.values()].reduce((sum, route) => sum + route.count, 0);
}

/** A figure of each sample and the one before it. */
function each(of: (now: Sample, before: Sample) => number | null): (number | null)[] {
  const all = samples();
  return all.map((now, index) => {
    const before = all[index - 1];
    return before ? of(now, before) : null;
  });
}

const rate = (now: Sample, before: Sample) => Math.max(0, total(now) - total(before)) / ((now.at - before.at) / 1000);

function gauge(name: string): (number | null)[] {
  return samples().map((sample) => sample.gauges.get(name) ?? null);
}

function Tiles() {
  const last = () => samples()[samples().length - 1];
  const figure = (name: string) => last()?.gauges.get(name);
  const tiles = () => [
    [t("uptime"), duration(figure("varve_uptime_seconds"))],
    [t("memory"), show(figure("process_resident_memory_bytes"), bytes)],
    [t("onDisk"), show(figure("varve_engine_sst_bytes"), bytes)],
    [t("runs"), show(figure("varve_engine_sorted_runs"), number)],
    [t("connections"), show(figure("varve_open_connections"), number)],
    [t("waiting"), show((figure("varve_reads_waiting") ?? 0) + (figure("varve_writes_waiting") ?? 0), number)],
  ];
  return (
    <dl class="tiles">
      <For each={tiles()}>
        {([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        )}
      </For>
    </dl>
  );
}

function show(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? "–" : format(value);
}

function Routes() {
  const rows = (): Row[] => {
    const now = samples()[samples().length - 1];
    if (!now) return [];
    return [...now.routes.values()]
      .sort((a, b) => b.count - a.count)
      .map((route) => ({
        cells: {
          [t("route")]: route.route,
          [t("requests")]: route.count,
          [t("failed")]: route.failed,
          "p50 ms": quantile([route], undefined, 0.5),
          "p99 ms": quantile([route], undefined, 0.99),
        },
      }));
  };
  return <Table label={t("routes")} columns={[t("route"), t("requests"), t("failed"), "p50 ms", "p99 ms"]} rows={rows()} />;
}

function SlowRequests() {
  const [slow] = createResource(() => call<Slow>("/admin/slow"));
  const rows = (): Row[] =>
    (slow.error ? [] : (slow()?.requests ?? [])).map((request) => ({
      cells: { [t("at")]: request.at, [t("route")]: `${request.method} ${request.path}`, [t("statusCode")]: request.status, ms: request.elapsed_ms },
    }));
  return (
    <Show when={!slow.error}>
      <section class="routes">
        <h2>{t("slowRequests", { ms: slow()?.threshold_ms ?? "…" })}</h2>
        <Show when={rows().length} fallback={<p class="quiet">{t("noneYet")}</p>}>
          <Table label={t("slowRequests", { ms: "" })} columns={[t("at"), t("route"), t("statusCode"), "ms"]} rows={rows()} />
        </Show>
      </section>
    </Show>
  );
}

export default function MonitorPage() {
  onMount(startSampling);
  const times = () => samples().map((sample) => sample.at / 1000);
  const at = (share: number) => each((now, before) => quantile(now.routes.values(), before.routes, share));
  const cpu = () =>
    each((now, before) => {
      const used = (sample: Sample) => sample.gauges.get("process_cpu_seconds_total") ?? 0;
      return (used(now) - used(before)) / ((now.at - before.at) / 1000);
    });
  return (
    <div class="page monitor">
      <div class="page-head">
        <h1>{t("page_monitor")}</h1>
        <span class="quiet">{t("monitorHint")}</span>
      </div>
      <Tiles />
      <div class="charts">
        <Chart title={t("requestRate")} times={times()} series={[{ name: t("perSecond"), values: each(rate) }]} format={short} />
        <Chart
          title={t("answerTime")}
          times={times()}
          series={[{ name: "p50", values: at(0.5) }, { name: "p99", values: at(0.99) }]}
          format={(value) => `${short(value)} ms`}
        />
        <Chart
          title={t("memory")}
          times={times()}
          series={[
            { name: t("resident"), values: gauge("process_resident_memory_bytes") },
            { name: t("blockCache"), values: gauge("varve_engine_block_cache_bytes") },
            { name: t("frontTables"), values: gauge("varve_engine_front_bytes") },
          ]}
          format={bytes}
        />
        <Chart title={t("processor")} times={times()} series={[{ name: t("cores"), values: cpu() }]} format={(value) => value.toFixed(2)} />
      </div>
      <BackupsPanel />
      <section class="routes">
        <h2>{t("routes")}</h2>
        <Routes />
      </section>
      <SlowRequests />
    </div>
  );
}
