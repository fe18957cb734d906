// Which neighbours to add: direction, labels with their counts, and how many.

import { createResource, createSignal, For, Show } from "solid-js";
import { number, t } from "../i18n";
import { point } from "../core/times";
import { messageOf } from "../core/http";
import { ready } from "../core/resource";
import { Dialog } from "../parts/dialog";
import * as api from "./api";
import { nameOfRef } from "./look";
import { expand, EXPAND_LIMIT } from "./state";

export const [expandDialog, setExpandDialog] = createSignal<string | null>(null);

export function ExpandDialog(props: { of: string }) {
  const [direction, setDirection] = createSignal<"BOTH" | "OUT" | "IN">("BOTH");
  const [off, setOff] = createSignal<ReadonlySet<string>>(new Set<string>());
  const [limit, setLimit] = createSignal(EXPAND_LIMIT);
  const [groups] = createResource(
    () => props.of,
    async (ref) => (await api.expand(point(), { ids: [ref], limit: 0, counts: true })).counts?.[0]?.groups ?? [],
  );
  const visible = () => (ready(groups) ?? []).filter((group) => direction() === "BOTH" || group.direction === direction());
  const labels = () => [...new Set(visible().map((group) => group.label))].filter((label) => !off().has(label));
  const sum = () => visible().filter((group) => !off().has(group.label)).reduce((all, group) => all + group.count, 0);
  const toggle = (label: string, on: boolean) => {
    const next = new Set(off());
    if (on) next.delete(label);
    else next.add(label);
    setOff(next);
  };
  const apply = () => {
    setExpandDialog(null);
    void expand([props.of], { direction: direction(), labels: labels(), limit: limit() });
  };
  return (
    <Dialog title={t("expandTitle", { name: nameOfRef(props.of) })} close={() => setExpandDialog(null)}>
      <Show when={!groups.error} fallback={<p class="notice">{messageOf(groups.error)}</p>}>
        <div class="segmented" role="group" aria-label={t("direction")}>
          <For each={["BOTH", "OUT", "IN"] as const}>
            {(name) => (
              <button aria-pressed={direction() === name} onClick={() => setDirection(name)}>
                {t(name === "BOTH" ? "bothWays" : name === "OUT" ? "outgoing" : "incoming")}
              </button>
            )}
          </For>
        </div>
        <ul class="groups">
          <For each={visible()} fallback={<li class="quiet">{groups.loading ? t("loading") : t("noNeighbours")}</li>}>
            {(group) => (
              <li>
                <label class="check">
                  <input
                    type="checkbox"
                    checked={!off().has(group.label)}
                    onChange={(event) => toggle(group.label, event.currentTarget.checked)}
                  />
                  <span>{`${group.label} ${group.direction === "OUT" ? "→" : "←"} ${group.other_label}`}</span>
                  <span class="count">
                    {number(group.count)}
                    {group.at_least ? "+" : ""}
                  </span>
                </label>
              </li>
            )}
          </For>
        </ul>
        <label class="field">
          <span>{t("atMost")}</span>
          <input type="number" min="1" max="1000" value={limit()} onInput={(event) => setLimit(Number(event.currentTarget.value) || EXPAND_LIMIT)} />
        </label>
      </Show>
      <div class="dialog-actions">
        <button class="button" onClick={() => setExpandDialog(null)}>
          {t("cancel")}
        </button>
        <button class="button primary" disabled={labels().length === 0} onClick={apply}>
          {t("addNeighbours", { count: Math.min(sum(), limit()) })}
        </button>
      </div>
    </Dialog>
  );
}
