// Forms of the directory. Each shows the request that it sends.

import { createEffect, createSignal, For, Show } from "solid-js";
import { t, type Key } from "../i18n";
import { formatJson } from "../core/json";
import { call, messageOf } from "../core/http";
import { graphs } from "../core/server";
import { schema } from "../core/schema";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import type { Request, Resource } from "./api";
import { draftOf, isRepeated, OF_GRAPH, OF_SERVER, operatorText, OPERATORS, resourceOf, resourceText, takesConditions, withType, type Condition, type Draft } from "./words";

export interface Field {
  name: string;
  title: Key;
  kind: "text" | "password" | "choice";
  options?: [value: string, text: string][];
  start?: string;
  isOptional?: boolean;
}

export interface Ask {
  title: string;
  /** What will happen, where that is not plain. */
  hint?: string;
  fields: Field[];
  /** Of a target. */
  resources?: Resource[];
  request: (values: Record<string, string>, resources: Resource[]) => Request;
  action: Key;
  isDangerous?: boolean;
}

function requestText({ method, path, body }: Request): string {
  const shown = body && "user_password" in body ? { ...body, user_password: "…" } : body;
  return `${method} ${path}${shown === undefined ? "" : `\n${formatJson(shown)}`}`;
}

/** The property of a condition: one must be named, and once only. */
function KeyField(props: { value: string; isRepeated: boolean; change: (key: string) => void }) {
  let input!: HTMLInputElement;
  createEffect(() => input.setCustomValidity(props.isRepeated ? t("conditionRepeated") : ""));
  return (
    <input
      ref={input} list="condition-keys" required aria-label={t("conditionKey")} placeholder={t("conditionKey")} aria-invalid={props.isRepeated}
      title={props.isRepeated ? t("conditionRepeated") : t("conditionKey")} value={props.value} onInput={(event) => props.change(event.currentTarget.value)}
    />
  );
}

function Conditions(props: { conditions: readonly Condition[]; change: (conditions: Condition[]) => void }) {
  const set = (at: number, part: Partial<Condition>) => props.change(props.conditions.map((each, index) => (index === at ? { ...each, ...part } : each)));
  const keys = () => (schema()?.propertykeys ?? []).map(({ name }) => name);
  return (
    <div class="conditions">
      <For each={props.conditions.map((_, at) => at)}>
        {(at) => (
          <div class="condition">
            <KeyField value={props.conditions[at]?.key ?? ""} isRepeated={isRepeated(props.conditions, at)} change={(key) => set(at, { key })} />
            <select aria-label={t("conditionOperator")} onChange={(event) => set(at, { operator: event.currentTarget.value })}>
              <For each={OPERATORS}>
                {(operator) => (
                  <option value={operator} selected={props.conditions[at]?.operator === operator}>
                    {operator === "eq" ? t("operatorNumber") : operatorText(operator)}
                  </option>
                )}
              </For>
            </select>
            <input required={props.conditions[at]?.operator !== "is"} aria-label={t("mapValue")} placeholder={t("mapValue")} value={props.conditions[at]?.value ?? ""} onInput={(event) => set(at, { value: event.currentTarget.value })} />
            <button type="button" class="icon-button small" onClick={() => props.change(props.conditions.filter((_, index) => index !== at))} aria-label={t("remove")} title={t("remove")}>
              <Icon name="trash" />
            </button>
          </div>
        )}
      </For>
      <datalist id="condition-keys">
        <For each={keys()}>{(name) => <option value={name} />}</For>
      </datalist>
      <button type="button" class="text-button" data-action="add-condition" onClick={() => props.change([...props.conditions, { key: "", operator: "is", value: "" }])}>
        <Icon name="plus" />
        {t("addCondition")}
      </button>
    </div>
  );
}

function Resources(props: { isServer: boolean; list: readonly Draft[]; change: (list: Draft[]) => void }) {
  const types = () => (props.isServer ? OF_SERVER : OF_GRAPH);
  const set = (at: number, draft: Draft) => props.change(props.list.map((each, index) => (index === at ? draft : each)));
  const labels = () => [...(schema()?.vertexlabels ?? []), ...(schema()?.edgelabels ?? [])].map(({ name }) => name);
  return (
    <fieldset class="resources">
      <legend>{t("resources")}</legend>
      <For each={props.list.map((_, at) => at)}>
        {(at) => {
          const resource = () => props.list[at] ?? draftOf({ type: "ALL" });
          return (
            <div class="resource" data-resource={at}>
              <div class="condition">
                <select aria-label={t("resourceType")} onChange={(event) => set(at, withType(resource(), event.currentTarget.value))}>
                  <For each={[...new Set([...types(), resource().type])]}>
                    {(type) => <option value={type} selected={resource().type === type}>{resourceText({ type })}</option>}
                  </For>
                </select>
                <input list="resource-labels" required aria-label={t("resourceLabel")} title={t("resourceLabel")} value={resource().label} onInput={(event) => set(at, { ...resource(), label: event.currentTarget.value })} />
                <button type="button" class="icon-button small" disabled={props.list.length === 1} onClick={() => props.change(props.list.filter((_, index) => index !== at))} aria-label={t("remove")} title={t("remove")}>
                  <Icon name="trash" />
                </button>
              </div>
              <Show when={takesConditions(resource().type) || resource().conditions.length > 0}>
                <Conditions conditions={resource().conditions} change={(conditions) => set(at, { ...resource(), conditions })} />
              </Show>
              <p class="quiet">{resourceText(resourceOf(resource()))}</p>
            </div>
          );
        }}
      </For>
      <datalist id="resource-labels">
        <option value="*" />
        <For each={labels()}>{(name) => <option value={name} />}</For>
      </datalist>
      <button type="button" class="text-button" data-action="add-resource" onClick={() => props.change([...props.list, draftOf({ type: types()[0]! })])}>
        <Icon name="plus" />
        {t("addResource")}
      </button>
    </fieldset>
  );
}

export function AskDialog(props: { ask: Ask; close: () => void; done: () => void }) {
  const { fields } = props.ask;
  const [values, setValues] = createSignal<Record<string, string>>(Object.fromEntries(fields.map((field) => [field.name, field.start ?? field.options?.[0]?.[0] ?? ""])));
  const [resources, setResources] = createSignal((props.ask.resources ?? []).map(draftOf));
  const [isSent, setSent] = createSignal(false);
  const [failure, setFailure] = createSignal("");
  const set = (name: string, value: string) => setValues({ ...values(), [name]: value });
  const request = () => props.ask.request(values(), resources().map(resourceOf));
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isSent()) return;
    const { method, path, body } = request();
    setSent(true);
    try {
      await call(path, { method, body });
      props.close();
      props.done();
    } catch (error) {
      setFailure(messageOf(error));
      setSent(false);
    }
  };
  return (
    <Dialog title={props.ask.title} close={props.close}>
      <form class="schema-form" onSubmit={(event) => void submit(event)}>
        <Show when={props.ask.hint}>
          <p>{props.ask.hint}</p>
        </Show>
        <For each={fields}>
          {(field) => (
            <label class="field">
              <span>{t(field.title)}</span>
              <Show
                when={field.kind === "choice"}
                fallback={
                  <input
                    name={field.name} type={field.kind} required={!field.isOptional} autocomplete={field.kind === "password" ? "new-password" : "off"}
                    value={values()[field.name] ?? ""} onInput={(event) => set(field.name, event.currentTarget.value)}
                  />
                }
              >
                <select name={field.name} onChange={(event) => set(field.name, event.currentTarget.value)}>
                  <For each={field.options ?? []}>{([value, text]) => <option value={value} selected={values()[field.name] === value}>{text}</option>}</For>
                </select>
              </Show>
            </label>
          )}
        </For>
        <Show when={props.ask.resources}>
          <Resources isServer={values().target_graph === ""} list={resources()} change={setResources} />
        </Show>
        <p class="quiet">{t("requestSent")}</p>
        <pre class="json">{requestText(request())}</pre>
        <Show when={failure()}>
          <p class="failure" role="alert">{failure()}</p>
        </Show>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => props.close()}>{t("cancel")}</button>
          <button class="button" disabled={isSent()} classList={{ primary: !props.ask.isDangerous, danger: props.ask.isDangerous ?? false }}>{t(props.ask.action)}</button>
        </div>
      </form>
    </Dialog>
  );
}

/** The graphs that a target may name, and the server. */
export function graphOptions(known: string | undefined): [string, string][] {
  const names = [...new Set([...graphs(), ...(known ? [known] : [])])];
  return [...names.map((name): [string, string] => [name, t("ofGraph", { graph: name })]), ["", t("ofServer")]];
}
