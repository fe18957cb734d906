// One chart over the last 15 minutes.

import { createEffect, onCleanup, onMount } from "solid-js";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { isDark } from "../core/prefs";
import { language, t } from "../i18n";

export interface Series {
  name: string;
  values: (number | null)[];
}

export function Chart(props: { title: string; times: number[]; series: Series[]; format: (value: number) => string }) {
  let frame!: HTMLDivElement;
  onMount(() => {
    let plot: uPlot | undefined;
    /** At least a minute: uPlot would show years around a single sample. */
    const range = (): [number, number] => {
      const last = props.times.at(-1) ?? Date.now() / 1000;
      return [Math.min(props.times[0] ?? last, last - 60), last];
    };
    const make = () => {
      plot?.destroy();
      const style = getComputedStyle(document.documentElement);
      const color = (name: string) => style.getPropertyValue(name).trim();
      const shades = [color("--accent"), color("--removed"), color("--changed"), color("--added")];
      const clock = new Intl.DateTimeFormat(language(), { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
      const timeText = (seconds: number) => clock.format(seconds * 1000);
      const axis = { stroke: color("--quiet"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false } };
      plot = new uPlot(
        {
          width: frame.clientWidth,
          height: 150,
          cursor: { y: false },
          scales: {
            x: { range },
            y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] },
          },
          axes: [
            { ...axis, space: 80, values: (_, values) => values.map(timeText) },
            { ...axis, size: 62, values: (_, values) => values.map((value) => props.format(value)) },
          ],
          series: [
            { label: t("at"), value: (_: uPlot, value: number | null) => (value === null ? "–" : timeText(value)) },
            ...props.series.map((series, index) => ({
              label: series.name,
              stroke: shades[index % shades.length]!,
              width: 1.5,
              value: (_: uPlot, value: number | null) => (value === null ? "–" : props.format(value)),
            })),
          ],
        },
        [props.times, ...props.series.map((series) => series.values)] as uPlot.AlignedData,
        frame,
      );
    };
    createEffect(() => {
      isDark();
      language();
      // The theme's colours are there after this turn.
      queueMicrotask(make);
    });
    createEffect(() => {
      const data = [props.times, ...props.series.map((series) => series.values)] as uPlot.AlignedData;
      plot?.setData(data);
    });
    const sized = new ResizeObserver(() => plot?.setSize({ width: frame.clientWidth, height: 150 }));
    sized.observe(frame);
    onCleanup(() => {
      sized.disconnect();
      plot?.destroy();
    });
  });
  return (
    <section class="chart">
      <h2>{props.title}</h2>
      <div ref={frame} />
    </section>
  );
}
