// The keys, and what this server is.

import { For, Show } from "solid-js";
import { t, type Key } from "../i18n";
import { setSingleKeys, singleKeys } from "../core/prefs";
import type { Versions } from "../core/server";
import { Dialog } from "./dialog";

const KEYS: [string, Key][] = [
  ["/", "search"], ["[  ]", "keyStep"], ["n", "backToNow"], ["d", "compare"], ["e", "expand"], ["Shift+E", "expandWith"],
  ["m", "keyMenu"], ["h", "hide"], ["p", "pin"], ["f", "fit"], ["Ctrl+Z", "undo"], ["Ctrl+Shift+Z", "redo"], ["Ctrl+Click", "keyPick"], ["Shift+Drag", "pickBox"], ["g …", "keyPage"], ["Wheel", "keyWheel"], ["?", "help"],
];

export function Help(props: { close: () => void; version: Versions | null }) {
  return (
    <Dialog title={t("help")} close={props.close}>
      <table class="keys">
        <tbody>
          <For each={KEYS}>
            {([key, text]) => (
              <tr>
                <th scope="row">
                  <kbd>{key}</kbd>
                </th>
                <td>{t(text)}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
      <p class="quiet">{t("keySliders")}</p>
      <label class="check">
        <input type="checkbox" checked={singleKeys()} onChange={(event) => setSingleKeys(event.currentTarget.checked)} />
        {t("singleKeys")}
      </label>
      <Show when={props.version}>
        {(version) => (
          <p class="quiet">
            Varve {version().varve} ({version().commit}) · <a href="/ui/licenses.txt" target="_blank" rel="noreferrer">{t("licences")}</a>
          </p>
        )}
      </Show>
    </Dialog>
  );
}
