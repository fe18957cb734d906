// A path in a cell: vertices as discs with their names, edges as arrows between them.

import { For, type JSX } from "solid-js";
import { colorOf } from "../explore/look";
import { Chain, type Link } from "./chain";

function Part(props: { link: Link; isAlone: boolean }) {
  const { kind, label, name, isForth } = props.link;
  if (kind === "edge") {
    return (
      <span class="chain-edge">
        {isForth === false ? "← " : "– "}
        {name}
        {isForth === true ? " →" : " –"}
      </span>
    );
  }
  return (
    <>
      {props.isAlone ? "" : <span class="chain-edge">–</span>}
      <span class="chain-node" title={label}>
        {kind === "vertex" ? (
          <svg class="swatch" viewBox="0 0 12 12" aria-hidden="true">
            <circle cx="6" cy="6" r="5" fill={colorOf(label)} />
          </svg>
        ) : null}
        {name}
      </span>
    </>
  );
}

/** The view of a chain; undefined for all other values. */
export function chainCell(value: unknown): JSX.Element | undefined {
  if (!(value instanceof Chain)) return undefined;
  return (
    <span class="chain">
      <For each={value.links}>
        {(link, at) => <Part link={link} isAlone={at() === 0 || value.links[at() - 1]?.kind === "edge"} />}
      </For>
    </span>
  );
}
