// What is done with all vertices that are picked together.

import { createEffect, on, Show } from "solid-js";
import { number, t, type Key } from "../i18n";
import { Icon, type IconName } from "../parts/icon";
import { findPaths } from "./path";
import {
  announce, expand, hide, hideOthers, invertPicked, picked, pickNeighbours, togglePinned, unpick,
} from "./state";

function Action(props: { icon: IconName; name: Key; act: () => void }) {
  return (
    <button class="icon-button" data-picked={props.name} onClick={() => props.act()} title={t(props.name)} aria-label={t(props.name)}>
      <Icon name={props.icon} />
    </button>
  );
}

export function PickedBar() {
  const refs = () => [...picked()];
  createEffect(on(picked, (found) => announce(`picked:${found.size}`), { defer: true }));
  const paths = () => {
    const [source, target] = refs();
    if (source !== undefined && target !== undefined) void findPaths(source, target);
  };
  return (
    <Show when={picked().size}>
      <div class="float-hint picked" role="toolbar" aria-label={t("pickedTools")}>
        <strong>{t("pickedCount", { count: number(picked().size) })}</strong>
        <Action icon="expand" name="expand" act={() => void expand(refs())} />
        <Action icon="neighbours" name="pickNeighbours" act={pickNeighbours} />
        <Action icon="invert" name="invertPicked" act={invertPicked} />
        <Show when={picked().size === 2}>
          <Action icon="path" name="pathsBetween" act={paths} />
        </Show>
        <Action icon="pin" name="pin" act={() => togglePinned(refs())} />
        <Action icon="hide" name="hide" act={() => hide(refs())} />
        <Action icon="keep" name="hideOthers" act={hideOthers} />
        <Action icon="close" name="deselect" act={() => unpick()} />
      </div>
    </Show>
  );
}
