// Where the content of an entity comes from and where it goes, one step after the other.

import { createEffect, createSignal, For, on, Show } from "solid-js";
import { t } from "../i18n";
import { messageOf } from "../core/http";
import { Icon } from "../parts/icon";
import * as api from "./api";
import type { Entity, Relationship } from "./api";

/** The relationships that lineage follows; each runs from its first end to its second. */
const FLOWS = new Set(["LineageMapping", "DataFlow", "ControlFlow", "ProcessCall"]);
/** Entities of a step whose own relationships are read for the next one. */
const FOLLOWED_MAX = 20;

type Side = "from" | "to";

interface Station {
  entity: Entity;
  by: string;
}

/** The entities that lie one step away on a side. */
function stationsOf(guid: string, list: Relationship[], side: Side): Station[] {
  return list.flatMap((each) => {
    const [near, far] = side === "to" ? [each.entityOneProxy, each.entityTwoProxy] : [each.entityTwoProxy, each.entityOneProxy];
    return FLOWS.has(each.type.typeDefName) && near.guid === guid ? [{ entity: far, by: each.type.typeDefName }] : [];
  });
}

function fresh(found: Station[], known: ReadonlySet<string>): Station[] {
  const seen = new Set(known);
  return found.filter(({ entity }) => !seen.has(entity.guid) && seen.add(entity.guid));
}

export function Lineage(props: { entity: Entity; list: Relationship[]; asOfTime: number | null; step: (guid: string) => void }) {
  const [steps, setSteps] = createSignal<Record<Side, Station[][]>>({ from: [], to: [] });
  const [problem, setProblem] = createSignal("");
  const [isCut, setCut] = createSignal(false);
  createEffect(
    on(() => [props.entity.guid, props.list] as const, ([guid, list]) => {
      const first = (side: Side) => fresh(stationsOf(guid, list, side), new Set([guid]));
      const shown = (found: Station[]) => (found.length ? [found] : []);
      setSteps({ from: shown(first("from")), to: shown(first("to")) });
      setCut(false);
      setProblem("");
    }),
  );
  const known = () => new Set([props.entity.guid, ...Object.values(steps()).flat(2).map(({ entity }) => entity.guid)]);
  const further = async (side: Side) => {
    const first = steps()[side].at(-1);
    const last = first ?? [];
    const [guid, at] = [props.entity.guid, props.asOfTime];
    try {
      const followed = last.slice(0, FOLLOWED_MAX).map(({ entity }) => entity.guid);
      const lists = await Promise.all(followed.map((each) => api.relationships(each, at)));
      if (guid !== props.entity.guid || at !== props.asOfTime || steps()[side].at(-1) !== first) return;
      const found = followed.flatMap((each, index) => stationsOf(each, lists[index] ?? [], side));
      setCut(isCut() || last.length > followed.length);
      // An empty step says that this is the end.
      setSteps({ ...steps(), [side]: [...steps()[side], fresh(found, known())] });
      setProblem("");
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const Further = (of: { side: Side; name: string; icon: "left" | "right" }) => (
    <Show when={steps()[of.side].at(-1)?.length}>
      <button class="icon-button" data-lineage={of.side} onClick={() => void further(of.side)} title={of.name} aria-label={of.name}>
        <Icon name={of.icon} />
      </button>
    </Show>
  );
  const Column = (of: { stations: Station[]; arrow: string }) => (
    <ul class="lineage-step">
      <For each={of.stations} fallback={<li class="quiet">{t("lineageEnd")}</li>}>
        {({ entity, by }) => (
          <li>
            <button class="row-button" onClick={() => props.step(entity.guid)} title={`${by} · ${entity.type.typeDefName}`}>
              <span>{api.titleOf(entity)}</span>
              <span class="count">{of.arrow}</span>
            </button>
          </li>
        )}
      </For>
    </ul>
  );
  return (
    <Show when={steps().from.length || steps().to.length}>
      <h3>{t("lineage")}</h3>
      <div class="lineage drawing" role="region" tabindex="0" aria-label={t("lineage")}>
        <Further side="from" name={t("lineageBefore")} icon="left" />
        <For each={[...steps().from].reverse()}>{(stations) => <Column stations={stations} arrow="→" />}</For>
        <p class="lineage-here">{api.titleOf(props.entity)}</p>
        <For each={steps().to}>{(stations) => <Column stations={stations} arrow="" />}</For>
        <Further side="to" name={t("lineageAfter")} icon="right" />
      </div>
      <Show when={isCut()}>
        <p class="notice">{t("truncated")}</p>
      </Show>
      <Show when={problem()}>
        <p class="failure" role="alert">{problem()}</p>
      </Show>
    </Show>
  );
}
