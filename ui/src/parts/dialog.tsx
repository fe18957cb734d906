// A window over the page: takes the focus, gives it back, ends with Escape.

import { onCleanup, onMount, type JSX } from "solid-js";
import { t } from "../i18n";
import { Icon } from "./icon";

export function Dialog(props: { title: string; close: () => void; wide?: boolean; children: JSX.Element }) {
  let element!: HTMLDialogElement;
  onMount(() => element.showModal());
  // An open dialog that is removed gives no focus back.
  onCleanup(() => element.close());
  return (
    <dialog
      ref={element}
      class="dialog"
      classList={{ wide: props.wide ?? false }}
      aria-label={props.title}
      onCancel={(event) => {
        event.preventDefault();
        props.close();
      }}
      onClick={(event) => {
        if (event.target === element) props.close();
      }}
    >
      <div class="dialog-body">
        <header>
          <h2>{props.title}</h2>
          <button class="icon-button" onClick={() => props.close()} aria-label={t("close")} title={t("close")}>
            <Icon name="close" />
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
