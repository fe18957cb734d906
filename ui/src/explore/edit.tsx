// Changes to the graph: new vertices and edges, other properties, past periods, deletions. Each shows
// what becomes of the states, and its requests, before it is sent.

import { createResource, createSignal, For, Show, type JSX } from "solid-js";
import { t, type Key } from "../i18n";
import { formatJson } from "../core/json";
import { call, Failure, messageOf } from "../core/http";
import { ready } from "../core/resource";
import { graphPath } from "../core/server";
import { readSchema, schema, type EdgeLabel, type VertexLabel } from "../core/schema";
import { rereadRights } from "../core/rights";
import { isVersion, NOW, parseTime } from "../core/times";
import { Dialog } from "../parts/dialog";
import { changed, missingMembers, needsStart, periodOf, valueOf, type Change, type State } from "./change";
import { elements, type Element } from "./api";
import { periodText } from "./element";
import { nameOf, nameOfRef, shownProperty, valueText } from "./look";
import { idOfRef, refsOf } from "./refs";
import { light, select, show, shown, view } from "./state";

export type Edit = { kind: "change"; element: Element } | { kind: "delete"; element: Element; from?: string } | { kind: "edge"; source: string } | { kind: "vertex" };

const [editing, edit] = createSignal<Edit | null>(null);
export { edit };

interface Request {
  method: "POST" | "PUT" | "DELETE";
  path: string;
  body?: unknown;
}

function requestText({ method, path, body }: Request): string {
  return `${method} ${path}${body === undefined ? "" : `\n${formatJson(body)}`}`;
}

/** The query of a period: what is left out begins with the commit, and has no end. */
function periodQuery(from: string | null, to: string | null): string {
  const parts = [from === null ? "" : `valid_from=${encodeURIComponent(from)}`, to === null ? "" : `valid_to=${encodeURIComponent(to)}`];
  const text = parts.filter(Boolean).join("&");
  return text ? `?${text}` : "";
}

function pathOf(element: Element): string {
  const kind = element.type === "vertex" ? "vertices" : "edges";
  return `${graphPath()}/graph/${kind}/${encodeURIComponent(element.ref)}`;
}

function typeOf(key: string, value?: unknown): { type: string; cardinality: string } {
  const known = schema()?.propertykeys.find(({ name }) => name === key);
  if (known && known.data_type !== "OBJECT" && known.data_type !== "ANY") return { type: known.data_type, cardinality: known.cardinality };
  const type = typeof value === "number" ? "DOUBLE" : typeof value === "boolean" ? "BOOLEAN" : "TEXT";
  return { type, cardinality: Array.isArray(value) ? "LIST" : "SINGLE" };
}

function labelOf(kind: "vertex" | "edge", name: string): VertexLabel | EdgeLabel | undefined {
  return (kind === "vertex" ? schema()?.vertexlabels : schema()?.edgelabels)?.find((label) => label.name === name);
}

function Fields(props: { keys: string[]; values: Record<string, string>; types: (key: string) => string; required?: readonly string[]; change: (key: string, text: string) => void }) {
  return (
    <div class="edit-fields">
      <For each={props.keys} fallback={<p class="quiet">{t("noProperties")}</p>}>
        {(key) => (
          <label class="field">
            <span>{key} <span class="quiet">{props.types(key)}{props.required?.includes(key) ? " *" : ""}</span></span>
            <input name={`property-${key}`} value={props.values[key] ?? ""} onInput={(event) => props.change(key, event.currentTarget.value)} />
          </label>
        )}
      </For>
    </div>
  );
}

/** The period of a change. */
function Period(props: { from: string; to: string; change: (side: "from" | "to", text: string) => void; element?: Element; isDelete?: boolean }) {
  return (
    <fieldset class="edit-period">
      <legend>{t(props.isDelete ? "deletePeriod" : "editPeriod")}</legend>
      <div class="two-columns">
        <label class="field">
          <span>{t("editFrom")}</span>
          <input name="from" value={props.from} placeholder={t("now")} onInput={(event) => props.change("from", event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>{t("editTo")}</span>
          <input name="to" value={props.to} placeholder={t("open")} onInput={(event) => props.change("to", event.currentTarget.value)} />
        </label>
      </div>
      <Show when={props.element?.valid_from ? props.element : null}>
        {(element) => (
          <button
            type="button"
            class="text-button"
            data-action="whole-state"
            onClick={() => {
              props.change("from", element().valid_from ?? "");
              props.change("to", element().valid_to ?? "");
            }}
          >
            {t("editWholeState", { period: periodText(element().valid_from, element().valid_to) })}
          </button>
        )}
      </Show>
      <p class="quiet">{t(props.isDelete ? "deletePeriodHint" : "editPeriodHint")}</p>
    </fieldset>
  );
}

interface Shown {
  /** Undefined until they are known. */
  before: readonly State[] | undefined;
  after: readonly State[];
  requests: readonly Request[];
  /** Why nothing can be sent. */
  wrong: string;
}

function Preview(props: Shown) {
  const textOf = (state: State) => Object.entries(state.properties).map(([key, value]) => `${key}: ${shownProperty(key, value)}`).join(" · ") || t("noProperties");
  const rows = () => {
    const known = new Set(props.before?.map((state) => `${state.from}|${state.to}|${textOf(state)}`));
    return props.after.map((state) => ({ state, isNew: !known.has(`${state.from}|${state.to}|${textOf(state)}`) }));
  };
  return (
    <section class="edit-preview">
      <h3>{t("editPreview")}</h3>
      <Show when={props.before}>
        {(before) => (
          <>
            <table class="preview">
              <thead>
                <tr><th scope="col">{t("trueAt")}</th><th scope="col">{t("editKnownNow")}</th></tr>
              </thead>
              <tbody>
                <For each={rows()} fallback={<tr><td colspan="2" class="quiet">{t("editNothingLeft")}</td></tr>}>
                  {({ state, isNew }) => (
                    <tr classList={{ added: isNew }}>
                      <th scope="row">{isNew ? "+ " : ""}{periodText(state.from, state.to)}</th>
                      <td>{textOf(state)}</td>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
            <p class="quiet">{t("editKnownBefore", { count: before().length })}</p>
          </>
        )}
      </Show>
      <Show when={props.wrong} fallback={<pre class="json" tabindex="0">{props.requests.map(requestText).join("\n")}</pre>}>
        <p class={[t("editNoChange"), t("loading")].includes(props.wrong) ? "quiet" : "failure"} role="status">{props.wrong}</p>
      </Show>
    </section>
  );
}

function Form(props: Shown & { title: string; action: Key; danger?: boolean; done: (answers: unknown[]) => void; children: JSX.Element }) {
  const [failure, setFailure] = createSignal("");
  const [busy, setBusy] = createSignal(false);
  /** Whether a part is stored, so that sending all again would do that part twice. */
  const [isOver, setOver] = createSignal(false);
  const send = async () => {
    if (props.wrong || busy() || isOver()) return;
    setBusy(true);
    const answers: unknown[] = [];
    try {
      for (const { method, path, body } of props.requests) answers.push(await call(path, { method, body: body === undefined ? undefined : formatJson(body) }));
      edit(null);
      props.done(answers);
    } catch (error) {
      if (error instanceof Failure && error.status === 403) void rereadRights();
      setFailure(answers.length ? t("editPartly", { why: messageOf(error) }) : messageOf(error));
      setOver(answers.length > 0);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title} close={() => edit(null)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {props.children}
        <Preview before={props.before} after={props.after} requests={props.requests} wrong={props.wrong} />
        <Show when={failure()}><p class="failure" role="alert">{failure()}</p></Show>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => edit(null)}>{t("cancel")}</button>
          <button class="button" disabled={isOver() || !props.before || props.wrong !== ""} classList={{ primary: !props.danger, danger: props.danger ?? false }} data-action="send">{t(props.action)}</button>
        </div>
      </form>
    </Dialog>
  );
}

interface TimelineState {
  valid_from: string | null;
  valid_to: string | null;
  element: { properties: Record<string, unknown> };
}

/** All states of an element as known now, and which instant now is for the server. */
async function statesOf(element: Element): Promise<{ now: string; states: State[] }> {
  const { times } = await (element.type === "vertex" ? elements(NOW, [element.ref], []) : elements(NOW, [], [element.ref]));
  const states: State[] = [];
  let page: string | null = "";
  do {
    const query: Record<string, string | number> = { limit: 200, page, as_of_tx: times.as_of_tx };
    const found: { states: TimelineState[]; page: string | null } = await call(`${pathOf(element)}/timeline`, { query });
    states.push(...found.states.map((state) => ({ from: state.valid_from, to: state.valid_to, properties: state.element.properties })));
    page = found.page;
  } while (page);
  return { now: times.as_of, states };
}

/** Another state, or none, in a period. */
function ChangeForm(props: { element: Element; kind: "set" | "delete"; from?: string }) {
  const element = () => props.element;
  const [values, setValues] = createSignal<Record<string, string>>({});
  const [period, setPeriod] = createSignal({ from: props.from ?? "", to: "" });
  const [read] = createResource(async () => {
    await readSchema(true);
    return statesOf(element());
  });
  const label = () => labelOf(element().type, element().label);
  const fixed = () => { const found = label(); return !found ? [] : "primary_keys" in found ? found.primary_keys : found.sort_keys; };
  const keys = () => [...new Set([...(label()?.properties ?? []), ...Object.keys(element().properties)])].filter((key) => !fixed().includes(key));
  const held = (key: string) => {
    const value = element().properties[key];
    return value === undefined || value === null ? "" : Array.isArray(value) ? formatJson(value, 0) : valueText(value);
  };
  const isUnchanged = () => props.kind === "set" && Object.entries(values()).every(([key, text]) => text === held(key));
  /** The end that was typed where no property is changed: a change has no other end, but the element may have. */
  const endTyped = () => {
    const text = period().to;
    const end = isUnchanged() && text.trim() !== "" ? parseTime(text) : null;
    return end && "value" in end && !(end.value !== null && isVersion(end.value)) ? text : null;
  };
  const parsed = () => {
    const change: Change = { kind: props.kind, from: null, to: null, set: {}, add: {}, unset: [] };
    const known = ready(read);
    if (!known) return { change, wrong: read.error ? messageOf(read.error) : t("loading") };
    if (isUnchanged()) return { change, wrong: t("editNoChange") };
    const times = periodOf(period().from, period().to, known.now);
    if ("wrong" in times) return { change, wrong: t(times.wrong) };
    [change.from, change.to] = [times.from, times.to];
    for (const [key, text] of Object.entries(values())) {
      if (text === held(key)) continue;
      if (text === "") {
        if (label()?.nullable_keys.includes(key) === false) return { change, wrong: t("editMissing", { key }) };
        change.unset.push(key);
        continue;
      }
      const { type, cardinality } = typeOf(key, element().properties[key]);
      const value = valueOf(text, type, cardinality);
      if ("wrong" in value) return { change, wrong: t("editWrong", { key, example: value.wrong }) };
      if (cardinality === "SINGLE") {
        change.set[key] = value.value;
        continue;
      }
      const [stored, isSet] = [element().properties[key] as unknown[] | undefined, cardinality === "SET"];
      const members = missingMembers(stored ?? [], value.value as unknown[], isSet);
      if (!members) return { change, wrong: t("editMembers", { key }) };
      if (members.length || !stored) change.add[key] = { members, isSet };
    }
    const count = Object.keys({ ...change.set, ...change.add }).length + change.unset.length;
    if (props.kind === "set" && count === 0) return { change, wrong: t("editNoChange") };
    // Two requests begin at the same instant.
    const isTwo = change.unset.length > 0 && change.unset.length < count;
    if (props.kind === "set" && (isTwo || (change.to === null && needsStart(known.states, known.now)))) change.from ??= known.now;
    return { change, wrong: "" };
  };
  const after = () => {
    const { change, wrong } = parsed();
    const { states, now } = ready(read) ?? { states: [], now: "" };
    return wrong ? states : changed(states, { ...change, from: change.from ?? now });
  };
  const requests = (): Request[] => {
    const { change } = parsed();
    const query = periodQuery(change.from, change.to);
    const path = pathOf(element());
    if (props.kind === "delete") return [{ method: "DELETE", path: path + query }];
    const and = query ? `&${query.slice(1)}` : "";
    const found: Request[] = [];
    const added = Object.fromEntries(Object.entries(change.add).map(([key, { members }]) => [key, members]));
    const properties = { ...change.set, ...added };
    if (Object.keys(properties).length) found.push({ method: "PUT", path: `${path}?action=append${and}`, body: { label: element().label, properties } });
    if (change.unset.length) {
      const properties = Object.fromEntries(change.unset.map((key) => [key, element().properties[key]]));
      found.push({ method: "PUT", path: `${path}?action=eliminate${and}`, body: { label: element().label, properties } });
    }
    return found;
  };
  return (
    <Form
      title={t(props.kind === "set" ? "editTitle" : "deleteTitle", { name: nameOf(element()) })}
      action={props.kind === "set" ? "editSend" : "deleteElement"}
      danger={props.kind === "delete"}
      before={ready(read)?.states}
      after={after()}
      requests={requests()}
      wrong={parsed().wrong}
      done={() => undefined}
    >
      <Show when={props.kind === "set"} fallback={<p>{t("deleteHint")}</p>}>
        <Fields
          keys={keys()}
          values={Object.fromEntries(keys().map((key) => [key, values()[key] ?? held(key)]))}
          types={(key) => { const { type, cardinality } = typeOf(key, element().properties[key]); return cardinality === "SINGLE" ? type : `${cardinality} ${type}`; }}
          change={(key, text) => setValues({ ...values(), [key]: text })}
        />
      </Show>
      <Period {...period()} isDelete={props.kind === "delete"} element={element()} change={(side, text) => setPeriod({ ...period(), [side]: text })} />
      <Show when={endTyped()}>
        {(end) => (
          <p class="notice" role="status">
            {t("editOnlyEnd")} <button type="button" class="text-button" data-action="end-it" onClick={() => edit({ kind: "delete", element: element(), from: end() })}>{t("editEndAt", { to: end() })}</button>
          </p>
        )}
      </Show>
    </Form>
  );
}

/** A new vertex, or an edge from one. */
function NewForm(props: { source?: string }) {
  const isEdge = () => props.source !== undefined;
  const [read] = createResource(() => readSchema(true));
  const [label, setLabel] = createSignal("");
  const [id, setId] = createSignal("");
  const [target, setTarget] = createSignal("");
  const [values, setValues] = createSignal<Record<string, string>>({});
  const [period, setPeriod] = createSignal({ from: "", to: "" });
  const source = () => view().vertices.get(props.source ?? "");
  const labels = () => {
    ready(read);
    const found: (VertexLabel | EdgeLabel)[] = isEdge() ? (schema()?.edgelabels ?? []) : (schema()?.vertexlabels ?? []);
    return found.filter((each) => !("source_label" in each) || !each.source_label || each.source_label === source()?.label || each.source_label.startsWith("~"));
  };
  const chosen = () => labels().find(({ name }) => name === label()) ?? labels()[0];
  const needsId = () => { const found = chosen(); return found && "id_strategy" in found && found.id_strategy.startsWith("CUSTOMIZE"); };
  const targets = () => {
    const found = chosen();
    const wanted = found && "target_label" in found ? found.target_label : "";
    return [...view().vertices.values()].filter((vertex) => !wanted || wanted.startsWith("~") || vertex.label === wanted).sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  };
  const keys = () => chosen()?.properties ?? [];
  const required = () => keys().filter((key) => !chosen()?.nullable_keys.includes(key));
  const now = new Date().toISOString();
  const ownId = () => {
    if (!needsId()) return undefined;
    return valueOf(id(), (chosen() as VertexLabel).id_strategy === "CUSTOMIZE_NUMBER" ? "LONG" : "TEXT");
  };
  const parsed = () => {
    const times = periodOf(period().from, period().to, now);
    const properties: Record<string, unknown> = {};
    const empty = { properties, from: null as string | null, to: null as string | null };
    if (!chosen()) return { ...empty, wrong: read.error ? messageOf(read.error) : t(read.loading ? "loading" : "editNoLabel") };
    if ("wrong" in times) return { ...empty, wrong: t(times.wrong) };
    const found = { properties, ...times };
    for (const key of keys()) {
      const text = values()[key] ?? "";
      if (text === "") {
        if (required().includes(key)) return { ...found, wrong: t("editMissing", { key }) };
        continue;
      }
      const { type, cardinality } = typeOf(key);
      const value = valueOf(text, type, cardinality);
      if ("wrong" in value) return { ...found, wrong: t("editWrong", { key, example: value.wrong }) };
      properties[key] = value.value;
    }
    if (needsId() && !id()) return { ...found, wrong: t("editMissing", { key: "id" }) };
    const number = ownId();
    if (number && "wrong" in number) return { ...found, wrong: t("editWrong", { key: "id", example: number.wrong }) };
    if (isEdge() && !target()) return { ...found, wrong: t("editMissing", { key: t("editTarget") }) };
    return { ...found, wrong: "" };
  };
  const requests = (): Request[] => {
    const { properties, from, to } = parsed();
    const query = periodQuery(from, to);
    if (!isEdge()) {
      const found = ownId();
      const own = found && "value" in found ? { id: found.value } : {};
      return [{ method: "POST", path: `${graphPath()}/graph/vertices${query}`, body: { label: chosen()?.name, ...own, properties } }];
    }
    const to_ = view().vertices.get(target());
    const ends = { outV: idOfRef(props.source ?? ""), outVLabel: source()?.label, inV: idOfRef(target()), inVLabel: to_?.label };
    return [{ method: "POST", path: `${graphPath()}/graph/edges${query}`, body: { label: chosen()?.name, ...ends, properties } }];
  };
  const after = (): State[] => {
    const { properties, from, to } = parsed();
    return [{ from: from ?? now, to, properties }];
  };
  const done = ([answer]: unknown[]) => {
    const made = (answer as { id?: unknown } | null)?.id;
    if (made === undefined) return;
    if (isEdge()) return select(String(made));
    const ref = refsOf(made, false, chosen()?.name)[0]!;
    show([...shown(), ref]);
    light([ref]);
    select(ref);
  };
  return (
    <Form
      title={isEdge() ? t("newEdgeTitle", { name: nameOfRef(props.source ?? "") }) : t("newVertex")}
      action="editCreate"
      before={[]}
      after={after()}
      requests={requests()}
      wrong={parsed().wrong}
      done={done}
    >
      <label class="field">
        <span>{t("editLabel")}</span>
        <select name="label" onChange={(event) => setLabel(event.currentTarget.value)}>
          <For each={labels()}>{({ name }) => <option value={name} selected={chosen()?.name === name}>{name}</option>}</For>
        </select>
      </label>
      <Show when={needsId()}>
        <label class="field"><span>id *</span><input name="id" value={id()} onInput={(event) => setId(event.currentTarget.value)} /></label>
      </Show>
      <Show when={isEdge()}>
        <label class="field">
          <span>{t("editTarget")} *</span>
          <select name="target" onChange={(event) => setTarget(event.currentTarget.value)}>
            <option value="" />
            <For each={targets()}>{(vertex) => <option value={vertex.ref} selected={target() === vertex.ref}>{`${nameOf(vertex)} (${vertex.label})`}</option>}</For>
          </select>
        </label>
      </Show>
      <Fields keys={keys()} values={values()} required={required()} types={(key) => typeOf(key).type} change={(key, text) => setValues({ ...values(), [key]: text })} />
      <Period {...period()} change={(side, text) => setPeriod({ ...period(), [side]: text })} />
    </Form>
  );
}

export function EditDialog() {
  return (
    <Show when={editing()} keyed>
      {(of) => {
        if (of.kind === "vertex") return <NewForm />;
        if (of.kind === "edge") return <NewForm source={of.source} />;
        return of.kind === "change" ? <ChangeForm element={of.element} kind="set" /> : <ChangeForm element={of.element} kind="delete" from={of.from} />;
      }}
    </Show>
  );
}
