// What the explore page offers while nothing is shown, and the tour of the sample.

import { createResource, createSignal, For, Show } from "solid-js";
import { number, t, tIfKnown } from "../i18n";
import { graph } from "../core/server";
import { ready } from "../core/resource";
import { go, hrefOf } from "../core/route";
import { dropped } from "../parts/drop";
import { Icon } from "../parts/icon";
import * as api from "./api";
import { SearchBox } from "./search";
import type { TourStep } from "./api";
import { Swatch } from "./element";
import { setTableOf } from "./labeltable";
import { createVertex, mayCreate } from "./menu";
import {
  compare, during, FIRST_LIMIT, restart, select, showSample, shown, SHOWN_MAX, summary, travel,
} from "./state";

/** The tour, and the graph that it is of. */
const [found, setFound] = createSignal<{ of: string; steps: TourStep[] }>({ of: "", steps: [] });
const tour = (): TourStep[] => (found().of === graph() ? found().steps : []);
const [stepIndex, setStepIndex] = createSignal(-1);
let sampleRefs: string[] = [];
/** Whether the tour can be taken and is not. */
export const tourWaits = (): boolean => tour().length > 0 && stepIndex() < 0;

export function showStep(index: number): void {
  const step = tour()[index];
  if (!step) return;
  setStepIndex(index);
  const pointOf = (times: { as_of?: string | null; as_of_tx?: string | null }) => ({
    trueAt: times.as_of ?? null,
    knownAt: times.as_of_tx ?? null,
  });
  const here = pointOf(step);
  compare(null);
  travel(here);
  if (sampleRefs.some((ref) => !shown().includes(ref))) restart(sampleRefs);
  select(step.select);
  if (step.diff_with) compare({ a: pointOf(step.diff_with), b: here });
}

export function Tour() {
  const step = () => tour()[stepIndex()];
  return (
    <Show when={step()}>
      {(current) => (
        <section class="tour" aria-label={t("tour")}>
          <p>
            <strong>{t("tourStep", { index: stepIndex() + 1, count: tour().length })}</strong>{" "}
            {tIfKnown(`tour_${current().key}`) ?? current().title}
          </p>
          <div class="tour-actions">
            <button class="text-button" disabled={stepIndex() === 0} onClick={() => showStep(stepIndex() - 1)}>
              {t("back")}
            </button>
            <Show
              when={stepIndex() < tour().length - 1}
              fallback={
                <button class="text-button" onClick={() => setStepIndex(-1)}>
                  {t("tourEnd")}
                </button>
              }
            >
              <button class="button small primary" onClick={() => showStep(stepIndex() + 1)}>
                {t("next")}
              </button>
            </Show>
            <button class="icon-button small" onClick={() => setStepIndex(-1)} aria-label={t("close")} title={t("close")}>
              <Icon name="close" />
            </button>
          </div>
        </section>
      )}
    </Show>
  );
}

async function loadTheSample(): Promise<void> {
  const loaded = await during(api.loadSample);
  if (!loaded) return;
  await openSample(loaded);
}

async function openSample(loaded: api.Sample): Promise<void> {
  setFound({ of: graph(), steps: loaded.tour ?? [] });
  sampleRefs = loaded.show ?? [];
  if (sampleRefs.length) restart(sampleRefs);
  else await showSample(undefined, FIRST_LIMIT);
}

export function startTour(): void {
  showStep(0);
}

/** A label that has more vertices than the canvas shows is a table. */
const isLarge = (entry: api.LabelCount): boolean => entry.at_least || entry.count > SHOWN_MAX;

function open(entry: api.LabelCount): void {
  if (isLarge(entry)) setTableOf({ label: entry.label, count: entry.count, atLeast: entry.at_least });
  else void showSample(entry.label, 50);
}

function LabelCards() {
  const labels = () => {
    const all = summary()?.vertices ?? [];
    return all.filter((entry) => entry.count > 0);
  };
  return (
    <Show when={labels().length}>
      <section>
        <h2>{t("inThisGraph")}</h2>
        <div class="start-search">
          <SearchBox />
        </div>
        <ul class="label-cards">
          <For each={labels()}>
            {(entry) => (
              <li>
                <button class="label-card" onClick={() => open(entry)}>
                  <Swatch label={entry.label} />
                  <strong>{entry.label}</strong>
                  <span class="count">
                    {number(entry.count)}
                    {entry.at_least ? "+" : ""}
                  </span>
                  <span class="quiet">{isLarge(entry) ? t("asTable") : t("showSome", { count: Math.min(50, entry.count) })}</span>
                </button>
              </li>
            )}
          </For>
        </ul>
        <button class="button" onClick={() => void showSample(undefined, FIRST_LIMIT)}>
          {t("showAll", { count: FIRST_LIMIT })}
        </button>
      </section>
    </Show>
  );
}

export function Start() {
  const [sample] = createResource(graph, async (name) => (name ? api.loadedSample() : null));
  const isLoaded = () => ready(sample)?.loaded === true;
  const open = async () => {
    const loaded = ready(sample);
    if (loaded?.loaded) await openSample(loaded);
    else await loadTheSample();
  };
  const over = dropped((files) => {
    go("load");
    void during(async () => (await import("../load/state")).take(files));
  });
  return (
    <div class="start" classList={{ over: over() }}>
      <h1>{t("startTitle")}</h1>
      <p class="quiet">{t("startText")}</p>
      <LabelCards />
      <section>
        <h2>{t("startHere")}</h2>
        <ul class="start-cards">
          <li>
            <button class="start-card primary" onClick={() => void open()} data-card="sample">
              <Icon name="explore" />
              <strong>{isLoaded() ? t("cardSampleOpen") : t("cardSample")}</strong>
              <span>{t("cardSampleText")}</span>
            </button>
          </li>
          <li>
            <a class="start-card" href={hrefOf("load")}>
              <Icon name="load" />
              <strong>{t("cardLoad")}</strong>
              <span>{t("cardLoadText")}</span>
            </a>
          </li>
          <li>
            <a class="start-card" href={hrefOf("query")}>
              <Icon name="query" />
              <strong>{t("cardQuery")}</strong>
              <span>{t("cardQueryText")}</span>
            </a>
          </li>
          <Show when={mayCreate()}>
            <li>
              <button class="start-card" onClick={createVertex} data-card="new-vertex">
                <Icon name="newVertex" />
                <strong>{t("newVertex")}</strong>
                <span>{t("cardNewText")}</span>
              </button>
            </li>
          </Show>
        </ul>
      </section>
    </div>
  );
}
