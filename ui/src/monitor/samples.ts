// The server's metrics, read every few seconds while this page of the browser is open; 15 minutes
// are kept.

import { createSignal } from "solid-js";
import { callText } from "../core/http";

const EVERY_MS = 5000;
const KEPT = 180;

export interface RouteFigures {
  route: string;
  count: number;
  failed: number;
  buckets: Map<number, number>;
}

export interface Sample {
  at: number;
  gauges: Map<string, number>;
  routes: Map<string, RouteFigures>;
}

const [samples, setSamples] = createSignal<Sample[]>([]);
export { samples };

const LINE = /^([a-z_]+)(?:\{([^}]*)\})? (\S+)$/;

/** Reads the text form of Prometheus, as far as this page shows it. */
export function parseMetrics(text: string, at: number): Sample {
  const gauges = new Map<string, number>();
  const routes = new Map<string, RouteFigures>();
  for (const line of text.split("\n")) {
    const match = line.startsWith("#") ? null : LINE.exec(line);
    if (!match) continue;
    const [, name = "", labels, value = ""] = match;
    const figure = Number(value);
    if (labels === undefined) {
      gauges.set(name, figure);
      continue;
    }
    const of = Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map((pair) => [pair[1], pair[2]])) as Record<string, string>;
    if (!of.route) {
      gauges.set(name, (gauges.get(name) ?? 0) + figure);
      continue;
    }
    const key = `${of.method} ${of.route}`;
    const found = routes.get(key) ?? { route: key, count: 0, failed: 0, buckets: new Map<number, number>() };
    routes.set(key, found);
    if (name === "varve_requests_total") {
      found.count += figure;
      if (of.code?.startsWith("5")) found.failed += figure;
    } else if (name === "varve_request_seconds_bucket" && of.le !== "+Inf") {
      found.buckets.set(Number(of.le), figure);
    }
  }
  return { at, gauges, routes };
}

/** The time in milliseconds within which a share of the requests was answered, between two samples. */
export function quantile(now: Iterable<RouteFigures>, before: Map<string, RouteFigures> | undefined, share: number): number | null {
  const sums = new Map<number, number>();
  for (const figures of now) {
    for (const [limit, count] of figures.buckets) {
      const earlier = before?.get(figures.route)?.buckets.get(limit) ?? 0;
      sums.set(limit, (sums.get(limit) ?? 0) + count - earlier);
    }
  }
  const limits = [...sums].sort(([a], [b]) => a - b);
  const all = limits[limits.length - 1]?.[1] ?? 0;
  if (all <= 0) return null;
  const found = limits.find(([, count]) => count >= all * share);
  return found ? found[0] * 1000 : null;
}

let timer: ReturnType<typeof setInterval> | undefined;

async function read(): Promise<void> {
  if (document.hidden) return;
  try {
    const text = await callText("/metrics", { accept: "text/plain" });
    setSamples((all) => [...all.slice(1 - KEPT), parseMetrics(text, Date.now())]);
  } catch {
    // The frame tells of a server that does not answer; a gap in the charts does too.
  }
}

export function startSampling(): void {
  if (timer !== undefined) return;
  void read();
  timer = setInterval(() => void read(), EVERY_MS);
}
