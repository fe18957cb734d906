// Views that are kept with the graph under a name, for all its users.

import { createResource, createSignal, For, Show } from "solid-js";
import { t } from "../i18n";
import { call, messageOf } from "../core/http";
import { pack, unpack } from "../core/link";
import { ready } from "../core/resource";
import { graphPath } from "../core/server";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { apply, shownState, type Shared } from "./share";
import { shown } from "./state";

/** Before the name of a scene, among the graph's variables. */
const SCENE = "~scene:";

const pathOf = (name: string) => `${graphPath()}/variables/${encodeURIComponent(SCENE + name)}`;

async function names(): Promise<string[]> {
  const found = await call<Record<string, unknown>>(`${graphPath()}/variables`);
  return Object.keys(found).filter((name) => name.startsWith(SCENE)).map((name) => name.slice(SCENE.length)).sort();
}

export function ScenesDialog(props: { close: () => void }) {
  const [found, { refetch }] = createResource(names);
  const [name, setName] = createSignal("");
  const [failure, setFailure] = createSignal("");
  const [sure, setSure] = createSignal("");
  /** The scene that the next save replaces. */
  const [replaced, setReplaced] = createSignal("");
  const during = async (work: () => Promise<void>) => {
    try {
      await work();
      setFailure("");
    } catch (error) {
      setFailure(messageOf(error));
    }
  };
  const save = () => during(async () => {
    const chosen = name().trim();
    // Another user may have saved it since the list was read.
    if (replaced() !== chosen && (await names()).includes(chosen)) return void setReplaced(chosen);
    await call(pathOf(chosen), { method: "PUT", body: { data: await pack(shownState()) } });
    setName("");
    setReplaced("");
    await refetch();
  });
  const open = (scene: string) => during(async () => {
    const kept = await call<Record<string, string>>(pathOf(scene));
    const state = (await unpack(kept[SCENE + scene] ?? "")) as Shared | null;
    if (!state || !Array.isArray(state.v)) return;
    apply(state);
    props.close();
  });
  const remove = (scene: string) => during(async () => {
    if (sure() !== scene) return void setSure(scene);
    await call(pathOf(scene), { method: "DELETE" });
    await refetch();
  });
  return (
    <Dialog title={t("scenes")} close={props.close}>
      <p class="quiet">{t("scenesText")}</p>
      <Show when={!found.error} fallback={<p class="failure">{messageOf(found.error)}</p>}>
        <ul class="scenes">
          <For each={ready(found)} fallback={<li class="quiet">{t(found.loading ? "loading" : "noScenes")}</li>}>
            {(scene) => (
              <li>
                <button class="row-button" data-scene={scene} onClick={() => void open(scene)}>
                  <Icon name="scenes" />
                  <span>{scene}</span>
                </button>
                <button class="text-button" onClick={() => void remove(scene)} aria-label={t("sceneDelete", { name: scene })} title={t("sceneDelete", { name: scene })}>
                  <Show when={sure() === scene} fallback={<Icon name="trash" />}>{t("sceneDeleteSure")}</Show>
                </button>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <form
        class="scene-new"
        onSubmit={(event) => {
          event.preventDefault();
          if (name().trim()) void save();
        }}
      >
        <label class="field">
          <span>{t("sceneName")}</span>
          <input name="scene" value={name()} maxlength="60" onInput={(event) => { setName(event.currentTarget.value); setReplaced(""); }} />
        </label>
        <button class="button primary" disabled={shown().length === 0}>{replaced() ? t("sceneReplaceSure", { name: replaced() }) : t("sceneSave")}</button>
      </form>
      <Show when={failure()}><p class="failure" role="alert">{failure()}</p></Show>
    </Dialog>
  );
}
