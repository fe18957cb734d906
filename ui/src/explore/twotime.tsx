// The versions of one element in both times: valid time across, recorded time up. A later version
// lies over an earlier one.

import { createMemo, For, Show } from "solid-js";
import { language, t } from "../i18n";
import { millisOf, point, shortTime } from "../core/times";
import type { Version } from "./api";
import { propertyText } from "./look";
import { travel } from "./state";

const WIDTH = 288;
const HEIGHT = 150;
const LEFT = 6;
const BOTTOM = 18;
const SHADES = ["#0072b2", "#d55e00", "#009e73", "#b0659a", "#b58900", "#3a9bd6", "#6f5bd0"];

interface Box {
  version: Version;
  x: number;
  y: number;
  width: number;
  height: number;
  color: string | null;
  text: string;
}

export function contentText(version: Version): string {
  if (!version.element) return "";
  return Object.entries(version.element.properties)
    .map(([key, value]) => `${key}: ${propertyText(key, value)}`)
    .join("\n");
}

export function TwoTimeChart(props: { versions: Version[] }) {
  const commits = createMemo(() => [...new Set(props.versions.map((version) => version.version))].sort(byNumber));
  const bounds = createMemo(() => {
    const ends = props.versions.flatMap((version) => [version.valid_from, version.valid_to]);
    const millis = ends.filter((end) => end !== null).map((end) => millisOf(end!));
    const from = Math.min(...millis, Date.now());
    const to = Math.max(...millis, Date.now());
    const margin = Math.max(1, (to - from) * 0.08);
    return { from: from - margin, width: to - from + 2 * margin };
  });
  const rowHeight = () => (HEIGHT - BOTTOM) / (commits().length + 1);
  const xOf = (time: string | null, open: number) =>
    time === null ? open : LEFT + ((millisOf(time) - bounds().from) / bounds().width) * (WIDTH - LEFT);
  const yOf = (version: string) => HEIGHT - BOTTOM - (commits().indexOf(version) + 0.5) * rowHeight();
  const colors = createMemo(() => {
    const found = new Map<string, string>();
    for (const version of [...props.versions].reverse()) {
      const text = contentText(version);
      if (version.element && !found.has(text)) found.set(text, SHADES[found.size % SHADES.length]!);
    }
    return found;
  });
  /** The properties in which the versions differ; where none does, all. */
  const telling = createMemo(() => {
    const all = props.versions.flatMap(({ element }) => element ?? []);
    const keys = [...new Set(all.flatMap(({ properties }) => Object.keys(properties)))];
    const differing = keys.filter((key) => new Set(all.map(({ properties }) => propertyText(key, properties[key]))).size > 1);
    return new Set(differing.length ? differing : keys);
  });
  /** The lines of a version's text that tell it from the others. */
  const keyText = (text: string) => {
    const of = props.versions.find((version) => contentText(version) === text)?.element;
    return Object.entries(of?.properties ?? {}).filter(([key]) => telling().has(key)).map(([key, value]) => `${key}: ${propertyText(key, value)}`).join(" · ");
  };
  const boxes = createMemo<Box[]>(() =>
    [...props.versions].reverse().map((version) => {
      const x = xOf(version.valid_from, LEFT);
      const y = yOf(version.version);
      return {
        version,
        x,
        y: 0,
        width: Math.max(1, xOf(version.valid_to, WIDTH) - x),
        height: Math.max(1, y),
        color: version.element ? (colors().get(contentText(version)) ?? null) : null,
        text: contentText(version),
      };
    }),
  );
  const cross = () => {
    const { trueAt, knownAt } = point();
    const x = trueAt === null ? xOf(new Date().toISOString(), WIDTH) : xOf(trueAt, WIDTH);
    if (knownAt === null) return { x, y: rowHeight() / 4 };
    const known = commits().filter((version) => millisOf(version) <= millisOf(knownAt)).length;
    return { x, y: HEIGHT - BOTTOM - known * rowHeight() + (known > 0 ? rowHeight() * 0.25 : -2) };
  };
  const click = (event: MouseEvent & { currentTarget: SVGSVGElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH;
    const y = ((event.clientY - box.top) / box.height) * HEIGHT;
    const millis = bounds().from + ((x - LEFT) / (WIDTH - LEFT)) * bounds().width;
    const row = Math.floor((HEIGHT - BOTTOM - y) / rowHeight() - 0.5);
    const last = commits().length - 1;
    const knownAt = row >= last ? null : (commits()[Math.max(0, row)] ?? null);
    travel({ trueAt: new Date(Math.round(millis)).toISOString().slice(0, 10), knownAt });
  };
  const label = (at: number) => new Date(at).toISOString().slice(0, 7);
  return (
    <figure class="twotime">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} onClick={click} role="img" aria-label={t("twoTimesLabel", { count: props.versions.length })}>
        <defs>
          <pattern id="gone" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="6" height="6" class="gone-ground" />
            <line x1="0" y1="0" x2="0" y2="6" class="gone-line" />
          </pattern>
        </defs>
        <rect x={LEFT} y="0" width={WIDTH - LEFT} height={HEIGHT - BOTTOM} class="chart-ground" />
        <For each={boxes()}>
          {(box) => (
            <rect
              class="version-box"
              x={box.x}
              y={box.y}
              width={box.width}
              height={box.height}
              fill={box.color ?? "url(#gone)"}
            >
              <title>
                {`${shortTime(box.version.recorded_at, language())}\n${box.text || t("badge_deleted")}`}
              </title>
            </rect>
          )}
        </For>
        <line class="cross" x1={cross().x} x2={cross().x} y1="0" y2={HEIGHT - BOTTOM} />
        <line class="cross" x1={LEFT} x2={WIDTH} y1={cross().y} y2={cross().y} />
        <text class="axis" x={LEFT} y={HEIGHT - 5}>
          {label(bounds().from)}
        </text>
        <text class="axis" x={WIDTH} y={HEIGHT - 5} text-anchor="end">
          {label(bounds().from + bounds().width)}
        </text>
        <text class="axis" x={WIDTH / 2} y={HEIGHT - 5} text-anchor="middle">
          {t("validAxis")}
        </text>
      </svg>
      <figcaption>
        <Show when={colors().size <= 8}>
          <For each={[...colors()]}>
            {([text, color]) => (
              <span class="chart-key">
                <svg viewBox="0 0 10 10" aria-hidden="true">
                  <rect width="10" height="10" rx="2" fill={color} />
                </svg>
                {keyText(text) || t("noProperties")}
              </span>
            )}
          </For>
        </Show>
      </figcaption>
    </figure>
  );
}

function byNumber(a: string, b: string): number {
  const [x, y] = [BigInt(a), BigInt(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}
