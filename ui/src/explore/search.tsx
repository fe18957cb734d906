// Finds elements by any of their texts.

import { createSignal, For, onCleanup, Show } from "solid-js";
import { t } from "../i18n";
import { isAbort, messageOf } from "../core/http";
import { point } from "../core/times";
import { Icon } from "../parts/icon";
import * as api from "./api";
import type { Element, SearchAnswer } from "./api";
import { Swatch } from "./element";
import { nameOf, nameOfRef, tellingOf } from "./look";
import { light, remember, select, show, shown } from "./state";

const SETTLE_MS = 200;

export function SearchBox() {
  let input!: HTMLInputElement;
  const [text, setText] = createSignal("");
  const [answer, setAnswer] = createSignal<SearchAnswer | null>(null);
  const [failure, setFailure] = createSignal("");
  const [active, setActive] = createSignal(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let request: AbortController | undefined;
  onCleanup(() => clearTimeout(timer));

  const ask = async (q: string) => {
    request?.abort();
    request = new AbortController();
    try {
      setAnswer(await api.search(point(), q, request.signal));
      setFailure("");
      setActive(0);
    } catch (error) {
      if (!isAbort(error)) setFailure(messageOf(error));
    }
  };
  const onInput = (value: string) => {
    setText(value);
    clearTimeout(timer);
    setAnswer(null);
    if (value.trim()) timer = setTimeout(() => void ask(value.trim()), SETTLE_MS);
  };
  const close = () => {
    setAnswer(null);
    setFailure("");
  };
  const take = (element: Element) => {
    remember([element]);
    const refs = element.type === "vertex" ? [element.ref] : [element.source, element.target];
    if (refs.some((ref) => !shown().includes(ref))) show([...shown(), ...refs]);
    select(element.ref);
    light(refs);
    close();
    setText("");
  };
  const takeAll = () => {
    const found = answer()?.found.map((entry) => entry.element) ?? [];
    remember(found);
    const refs = found.filter((element) => element.type === "vertex").map((element) => element.ref);
    show([...shown(), ...refs]);
    light(refs);
    close();
    setText("");
  };
  const onKey = (event: KeyboardEvent) => {
    const found = answer()?.found ?? [];
    if (event.isComposing) return;
    if (event.key === "Escape") {
      close();
      input.blur();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = active() + (event.key === "ArrowDown" ? 1 : -1);
      setActive(Math.max(0, Math.min(found.length - 1, next)));
    } else if (event.key === "Enter" && found[active()]) {
      take(found[active()]!.element);
    }
  };
  const isOpen = () => answer() !== null || failure() !== "";
  /** What tells a result from others of the same name. */
  const tellingOfFound = (element: Element): string | null => {
    const same = (answer()?.found ?? []).map((entry) => entry.element).filter((other) => other.label === element.label && textOf(other) === textOf(element));
    return same.length > 1 ? tellingOf(element, same) : null;
  };
  const textOf = (element: Element) =>
    element.type === "vertex" ? nameOf(element) : `${nameOfRef(element.source)} → ${nameOfRef(element.target)}`;
  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        ref={input}
        id="search"
        type="search"
        role="combobox"
        aria-expanded={isOpen()}
        aria-controls="search-results"
        aria-activedescendant={isOpen() ? `search-${active()}` : undefined}
        autocomplete="off"
        placeholder={t("searchPlaceholder")}
        aria-label={t("search")}
        value={text()}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={onKey}
        onBlur={() => setTimeout(close, 200)}
      />
      <Show when={isOpen()}>
        <div class="search-results">
          <Show when={failure()}>
            <p class="notice">{failure()}</p>
          </Show>
          <ul id="search-results" role="listbox" aria-label={t("searchResults")}>
            <For each={answer()?.found ?? []}>
              {(entry, index) => (
                <li
                  id={`search-${index()}`}
                  role="option"
                  aria-selected={active() === index()}
                  onPointerDown={(event) => {
                    event.preventDefault();
                    take(entry.element);
                  }}
                >
                  <Swatch label={entry.element.label} edge={entry.element.type === "edge"} />
                  <span>
                    {textOf(entry.element)}
                    <Show when={tellingOfFound(entry.element)}>{(text) => <span class="quiet telling"> · {text()}</span>}</Show>
                  </span>
                  <span class="quiet">{entry.element.label}</span>
                </li>
              )}
            </For>
          </ul>
          <Show when={answer()}>
            {(found) => (
              <footer>
                <Show when={found().found.length} fallback={<span>{t("nothingFound")}</span>}>
                  <button class="text-button" onPointerDown={(event) => { event.preventDefault(); takeAll(); }}>
                    {t("showAllFound", { count: found().found.length })}
                  </button>
                </Show>
                <Show when={found().not_searched.length}>
                  <span class="quiet">
                    {t("notSearched", { what: found().not_searched.map((entry) => `${entry.label}.${entry.property}`).join(", ") })}
                  </span>
                </Show>
              </footer>
            )}
          </Show>
        </div>
      </Show>
    </div>
  );
}
