// The shortest paths between two vertices that are picked one after the other.

import { createEffect, createSignal, on, Show } from "solid-js";
import { call } from "../core/http";
import { graphPath } from "../core/server";
import { point, timesOf } from "../core/times";
import { t } from "../i18n";
import { Icon } from "../parts/icon";
import { idText, nameOfRef } from "./look";
import { refsOfAll } from "./refs";
import { announce, during, selected, setProblem, show, shown } from "./state";

export const [pathFrom, setPathFrom] = createSignal<string | null>(null);

const DEPTH = 10;

export async function findPaths(source: string, target: string): Promise<void> {
  const query = { source, target, max_depth: DEPTH, max_degree: 1000, capacity: 100_000, ...timesOf(point()) };
  const answer = await during(() =>
    call<{ paths: { objects: (string | number | bigint)[] }[] }>(`${graphPath()}/traversers/allshortestpaths`, { query }),
  );
  if (!answer) return;
  const ids = answer.paths.flatMap((path) => path.objects);
  if (ids.length === 0) {
    setProblem(t("noPath", { a: nameOfRef(source), b: nameOfRef(target), depth: DEPTH }));
    return;
  }
  const refs = await during(() => refsOfAll(ids, point()));
  if (!refs) return;
  show([...shown(), ...refs]);
  announce(`paths:${answer.paths.length}`);
}

export function PathHint() {
  createEffect(
    on(selected, (target) => {
      const source = pathFrom();
      if (source === null || target === null || target === source || !shown().includes(target)) return;
      setPathFrom(null);
      void findPaths(source, target);
    }, { defer: true }),
  );
  return (
    <Show when={pathFrom()}>
      {(source) => (
        <div class="float-hint" role="status">
          <Icon name="path" />
          {t("pathHint", { name: nameOfRef(source()) || idText(source()) })}
          <button class="text-button" onClick={() => setPathFrom(null)}>
            {t("cancel")}
          </button>
        </div>
      )}
    </Show>
  );
}
