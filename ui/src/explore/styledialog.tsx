// How the elements of a label look: chosen here, shown at once.

import { For, Show } from "solid-js";
import { t } from "../i18n";
import { Dialog } from "../parts/dialog";
import { colorOf, edgeColorOf, shade } from "./look";
import { PALETTE } from "./palette";
import { ScaleKey } from "./scalekey";
import { scaleOf } from "./scales";
import { view } from "./state";
import { setStyle, SIZES, styleOf, unshared, type Kind, type Style } from "./style";

/** Captions that are no properties. */
const OWN = ["~id", "~label"] as const;

export interface Styled {
  kind: Kind;
  label: string;
}

export function StyleDialog(props: { of: Styled; close: () => void }) {
  const style = () => styleOf(props.of.kind, props.of.label);
  const change = (part: Partial<Style>) => {
    const next = Object.entries({ ...style(), ...part }).filter(([, value]) => value !== undefined);
    setStyle(props.of.kind, props.of.label, Object.fromEntries(next));
  };
  const shown = () => [...(props.of.kind === "vertex" ? view().vertices : view().edges).values()];
  const properties = () => {
    const keys = new Set(shown().filter(({ label }) => label === props.of.label).flatMap((element) => Object.keys(element.properties)));
    const { by, caption } = style();
    for (const key of [by, caption]) if (key !== undefined && !key.startsWith("~")) keys.add(key);
    return [...keys].sort();
  };
  const custom = () => (style().color?.startsWith("#") ? style().color! : "");
  const current = () =>
    props.of.kind === "vertex" ? colorOf(props.of.label) : edgeColorOf(props.of.label);
  return (
    <Dialog title={t("styleOf", { label: props.of.label })} close={props.close}>
      <p class="quiet" role="status">
        {unshared() === null ? t("styleHint") : t("styleUnshared", { why: unshared() ?? "" })}
      </p>
      <h3>{t("color")}</h3>
      <div class="shades" role="radiogroup" aria-label={t("color")}>
        <For each={PALETTE.map((_, index) => String(index))}>
          {(index) => (
            <button
              class="shade"
              role="radio"
              aria-checked={style().color === index}
              aria-label={t("colorNumber", { number: Number(index) + 1 })}
              title={t("colorNumber", { number: Number(index) + 1 })}
              onClick={() => change({ color: index })}
            >
              <svg viewBox="0 0 20 20" aria-hidden="true">
                <circle cx="10" cy="10" r="9" fill={shade(index)} />
              </svg>
            </button>
          )}
        </For>
      </div>
      <label class="field">
        <span>{t("ownColor")}</span>
        <input type="color" value={custom() || current()} onChange={(event) => change({ color: event.currentTarget.value })} />
      </label>
      <label class="field">
        <span>{t("colorBy")}</span>
        <select name="by" onChange={(event) => change({ by: event.currentTarget.value || undefined })}>
          <option value="" selected={style().by === undefined}>{t("colorByLabel")}</option>
          <For each={properties()}>
            {(name) => (
              <option value={name} selected={style().by === name}>
                {name}
              </option>
            )}
          </For>
        </select>
      </label>
      <Show when={scaleOf(props.of.kind, props.of.label)}>{(scale) => <ScaleKey scale={scale()} />}</Show>
      <div class="two-columns">
        <label class="field">
          <span>{t("size")}</span>
          <select name="size" onChange={(event) => change({ size: SIZES.find((size) => size === event.currentTarget.value) })}>
            <For each={SIZES}>
              {(size) => (
                <option value={size} selected={(style().size ?? "normal") === size}>
                  {t(`size_${size}`)}
                </option>
              )}
            </For>
          </select>
        </label>
        <label class="field">
          <span>{t("caption")}</span>
          <select name="caption" onChange={(event) => change({ caption: event.currentTarget.value || undefined })}>
            <option value="" selected={style().caption === undefined}>{t("captionAuto")}</option>
            <For each={OWN}>
              {(name) => (
                <option value={name} selected={style().caption === name}>
                  {t(name === "~id" ? "captionId" : "captionLabel")}
                </option>
              )}
            </For>
            <For each={properties()}>
              {(name) => (
                <option value={name} selected={style().caption === name}>
                  {name}
                </option>
              )}
            </For>
          </select>
        </label>
      </div>
      <div class="dialog-actions">
        <Show when={Object.keys(style()).length > 0}>
          <button class="button" onClick={() => setStyle(props.of.kind, props.of.label, null)}>{t("styleReset")}</button>
        </Show>
        <button class="button primary" onClick={() => props.close()}>{t("close")}</button>
      </div>
    </Dialog>
  );
}
