// The vertices of an answer and the edges among them, drawn beside its table.

import { createEffect, on, onCleanup, onMount } from "solid-js";
import { t } from "../i18n";
import { isDark } from "../core/prefs";
import { sceneOfElements } from "../explore/draw";
import { force } from "../explore/layout";
import { colors } from "../explore/look";
import type { Found } from "../explore/refs";
import { Stage } from "../explore/stage";
import { styles } from "../explore/style";

interface Props {
  found: Found;
  /** The vertices that stand out. */
  marked: ReadonlySet<string>;
  pick: (ref: string | null) => void;
}

export function Picture(props: Props) {
  let container!: HTMLDivElement;
  onMount(() => {
    const stage = new Stage(
      container,
      {
        click: ({ kind, key }) => props.pick(kind === "vertex" ? key : null),
        double: () => stage.fit(),
        menu: () => undefined,
        moved: () => undefined,
        failed: (message) => void (container.dataset.failed = message),
      },
      () => [],
    );
    let isGone = false;
    const places = new Map<string, { x: number; y: number }>();
    const draw = () => {
      const { scene, bundled } = sceneOfElements(props.found.vertices, props.found.edges);
      stage.setScene(scene, bundled, colors());
      if (places.size) stage.move(places);
      container.dataset.drawn = String(scene.keys.length);
      container.dataset.edges = String(scene.edgeKeys.length);
      return scene;
    };
    const arrange = async () => {
      const { sizes, keys } = draw();
      const at = new Map(keys.map((key, index) => [key, index]));
      const plan = { refs: keys, edges: props.found.edges, sizeOf: (key: string) => sizes[at.get(key)!] ?? 1, known: new Map(), fixed: () => false, aspect: stage.aspect };
      for (const [key, place] of await force(plan)) places.set(key, place);
      if (isGone) return;
      stage.move(places);
      stage.fit(false);
      container.dataset.arranged = "yes";
    };
    void arrange().catch((error: unknown) => void (container.dataset.failed = String(error)));
    createEffect(on([isDark, styles], draw, { defer: true }));
    createEffect(on(() => props.marked, (marked) => stage.mark(null, marked)));
    const sized = new ResizeObserver(() => {
      stage.resize();
      if (places.size) stage.fit(false);
    });
    sized.observe(container);
    onCleanup(() => {
      isGone = true;
      sized.disconnect();
      stage.kill();
    });
  });
  return (
    <div class="result-picture">
      <div class="canvas" ref={container} role="img" aria-label={t("resultPicture", { vertices: props.found.vertices.length, edges: props.found.edges.length })} />
    </div>
  );
}
