// The types: a tree by inheritance, and what one of them has.

import { createMemo, createSignal, For, onMount, Show } from "solid-js";
import { number, t } from "../i18n";
import type { Attribute, TypeDef } from "./api";

interface Node {
  type: TypeDef;
  children: Node[];
  /** Entities of it and its subtypes. */
  count: number;
}

function treeOf(types: TypeDef[], counts: ReadonlyMap<string, number>): Node[] {
  const nodes = new Map(types.filter((type) => type.class === "EntityDef").map((type): [string, Node] => [type.name, { type, children: [], count: 0 }]));
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const parent = node.type.superType ? nodes.get(node.type.superType.name) : undefined;
    (parent?.children ?? roots).push(node);
  }
  const sum = (node: Node): number => (node.count = (counts.get(node.type.name) ?? 0) + node.children.reduce((all, child) => all + sum(child), 0));
  for (const node of roots) sum(node);
  const sort = (list: Node[]) => {
    list.sort((a, b) => a.type.name.localeCompare(b.type.name));
    for (const node of list) sort(node.children);
  };
  sort(roots);
  return roots;
}

function Branch(props: { node: Node; level: number; chosen: string | null; choose: (name: string) => void; wanted: string; all: boolean }) {
  const [open, setOpen] = createSignal(props.level < 1);
  const isWanted = (node: Node): boolean =>
    ((props.all || node.count > 0) && node.type.name.toLowerCase().includes(props.wanted)) || node.children.some(isWanted);
  // A short tree is open as a whole.
  const isOpen = () => open() || props.wanted !== "" || !props.all;
  const hasChildren = () => props.node.children.some(isWanted);
  return (
    <Show when={isWanted(props.node)}>
      <li role="treeitem" aria-expanded={hasChildren() ? isOpen() : undefined} aria-selected={props.chosen === props.node.type.name}>
        <span class="type-row" classList={{ chosen: props.chosen === props.node.type.name }}>
          <button class="icon-button small" classList={{ leaf: !hasChildren() }} onClick={() => setOpen(!open())} aria-label={`${t("openBranch")} ${props.node.type.name}`} tabindex={hasChildren() ? 0 : -1} disabled={!hasChildren()}>
            {hasChildren() ? (isOpen() ? "▾" : "▸") : ""}
          </button>
          <button class="type-name" onClick={() => props.choose(props.node.type.name)}>
            {props.node.type.name}
          </button>
          <Show when={props.node.count > 0}>
            <span class="count">{number(props.node.count)}</span>
          </Show>
        </span>
        <Show when={isOpen() && hasChildren()}>
          <ul role="group">
            <For each={props.node.children}>
              {(child) => <Branch node={child} level={props.level + 1} chosen={props.chosen} choose={props.choose} wanted={props.wanted} all={props.all} />}
            </For>
          </ul>
        </Show>
      </li>
    </Show>
  );
}

/** Types without entities are hidden, unless there is no other or a person wants them. */
const [withEmpty, setWithEmpty] = createSignal(false);

export function TypeTree(props: { types: TypeDef[]; counts: ReadonlyMap<string, number> | undefined; chosen: string | null; choose: (name: string) => void }) {
  const roots = createMemo(() => treeOf(props.types, props.counts ?? new Map()));
  const isEmpty = () => roots().every(({ count }) => count === 0);
  const [wanted, setWanted] = createSignal("");
  return (
    <div class="type-tree">
      <input type="search" placeholder={t("filterTypes")} aria-label={t("filterTypes")} value={wanted()} onInput={(event) => setWanted(event.currentTarget.value)} />
      <ul role="tree" aria-label={t("types")}>
        <For each={roots()}>
          {(node) => <Branch node={node} level={0} chosen={props.chosen} choose={props.choose} wanted={wanted().toLowerCase()} all={withEmpty() || isEmpty()} />}
        </For>
      </ul>
      <label class="check">
        <input type="checkbox" name="all-types" checked={withEmpty() || isEmpty()} disabled={isEmpty()} onChange={(event) => setWithEmpty(event.currentTarget.checked)} />
        {t("typesWithout")}
      </label>
    </div>
  );
}

/** A type and what it inherits from, nearest first. */
export function lineageOf(types: TypeDef[], name: string): TypeDef[] {
  const byName = new Map(types.map((type) => [type.name, type]));
  const found: TypeDef[] = [];
  for (let type = byName.get(name); type && !found.includes(type); type = type.superType ? byName.get(type.superType.name) : undefined) {
    found.push(type);
  }
  return found;
}

/** Room for names on both sides. */
const WIDTH = 760;
const HEIGHT = 380;

/** The relationships of a type around it. */
function Radial(props: { name: string; relationships: { type: TypeDef; other: string }[]; choose: (name: string) => void }) {
  const shown = () => props.relationships.slice(0, 14);
  const place = (index: number) => {
    const angle = (2 * Math.PI * index) / shown().length - Math.PI / 2;
    return { x: WIDTH / 2 + Math.cos(angle) * 170, y: HEIGHT / 2 + Math.sin(angle) * 150, left: Math.cos(angle) < -0.2, right: Math.cos(angle) > 0.2 };
  };
  let frame!: HTMLDivElement;
  // Where the drawing is wider than the page its middle is what is seen first.
  onMount(() => { frame.scrollLeft = (frame.scrollWidth - frame.clientWidth) / 2; });
  return (
    <div ref={frame} class="drawing" tabindex="0" role="region" aria-label={t("radialLabel", { name: props.name, count: props.relationships.length })}>
      <svg class="radial" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t("radialLabel", { name: props.name, count: props.relationships.length })}>
        <For each={shown()}>
          {(entry, index) => {
            const at = () => place(index());
            return (
              <g>
                <line x1={WIDTH / 2} y1={HEIGHT / 2} x2={at().x} y2={at().y} class="arc" />
                <circle cx={at().x} cy={at().y} r="6" class="radial-end" onClick={() => props.choose(entry.other)} />
                <text x={at().x} y={at().y - 10} text-anchor={at().left ? "end" : at().right ? "start" : "middle"} class="radial-other">
                  {entry.other}
                </text>
                <text x={at().x * 0.68 + WIDTH * 0.16} y={at().y * 0.68 + HEIGHT * 0.16} text-anchor="middle" class="arc-name radial-name">
                  {entry.type.name}
                </text>
              </g>
            );
          }}
        </For>
        <circle cx={WIDTH / 2} cy={HEIGHT / 2} r="24" class="radial-center" />
        <text x={WIDTH / 2} y={HEIGHT / 2 + 42} text-anchor="middle" class="label-name">
          {props.name}
        </text>
      </svg>
    </div>
  );
}

export function TypeDetails(props: { types: TypeDef[]; name: string; choose: (name: string) => void; find: () => void }) {
  const lineage = createMemo(() => lineageOf(props.types, props.name));
  const names = () => new Set(lineage().map((type) => type.name));
  const attributes = (): (Attribute & { of: string })[] =>
    lineage().flatMap((type) => (type.propertiesDefinition ?? []).map((attribute) => ({ ...attribute, of: type.name })));
  const relationships = createMemo(() =>
    props.types.flatMap((type) => {
      const [one, two] = [type.endDef1?.entityType.name, type.endDef2?.entityType.name];
      if (type.class !== "RelationshipDef" || !one || !two) return [];
      if (names().has(one)) return [{ type, other: two, inherited: one !== props.name }];
      return names().has(two) ? [{ type, other: one, inherited: two !== props.name }] : [];
    }),
  );
  const own = () => relationships().filter((entry) => !entry.inherited);
  return (
    <section class="type-details">
      <header>
        <div>
          <h2>{props.name}</h2>
          <p class="quiet">
            {lineage().slice(1).map((type) => type.name).join(" ‹ ")}
          </p>
        </div>
        <button class="button small" data-action="find-of-type" onClick={() => props.find()}>{t("findOfType")}</button>
      </header>
      <p>{lineage()[0]?.description}</p>
      <Radial name={props.name} relationships={own().length ? own() : relationships()} choose={props.choose} />
      <h3>
        {t("attributes")} {number(attributes().length)}
      </h3>
      <table class="properties">
        <tbody>
          <For each={attributes()}>
            {(attribute) => (
              <tr>
                <th scope="row">{attribute.attributeName}</th>
                <td>{attribute.attributeType.name}</td>
                <td class="quiet">{attribute.of === props.name ? "" : attribute.of}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </section>
  );
}
