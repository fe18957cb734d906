// A new element of the schema, or further properties of a label. The request is shown as it will be
// sent.

import { createSignal, For, Show } from "solid-js";
import { t, type Key } from "../i18n";
import { formatJson } from "../core/json";
import { call, messageOf } from "../core/http";
import { graphPath } from "../core/server";
import { schema } from "../core/schema";
import { Dialog } from "../parts/dialog";

export type FormKind = "vertexlabels" | "edgelabels" | "propertykeys" | "indexlabels";

const DATA_TYPES = ["TEXT", "INT", "LONG", "FLOAT", "DOUBLE", "BOOLEAN", "BYTE", "DATE", "UUID", "BLOB"];
const ID_STRATEGIES = ["PRIMARY_KEY", "AUTOMATIC", "CUSTOMIZE_STRING", "CUSTOMIZE_NUMBER", "CUSTOMIZE_UUID"];
const INDEX_TYPES = ["SECONDARY", "RANGE", "SEARCH", "SHARD", "UNIQUE"];

type Value = string | string[] | boolean;

interface Field {
  name: string;
  title: Key;
  kind: "text" | "choice" | "many";
  options?: () => string[];
  start?: Value;
  /** Whether it is shown, given the others. */
  when?: (values: Record<string, Value>) => boolean;
}

const keys = () => (schema()?.propertykeys ?? []).map((key) => key.name);
const vertexLabels = () => (schema()?.vertexlabels ?? []).map((label) => label.name);
const edgeLabels = () => (schema()?.edgelabels ?? []).map((label) => label.name);

const FIELDS: Record<FormKind, Field[]> = {
  propertykeys: [
    { name: "name", title: "name", kind: "text" },
    { name: "data_type", title: "dataType", kind: "choice", options: () => DATA_TYPES, start: "TEXT" },
    { name: "cardinality", title: "cardinality", kind: "choice", options: () => ["SINGLE", "LIST", "SET"], start: "SINGLE" },
  ],
  vertexlabels: [
    { name: "name", title: "name", kind: "text" },
    { name: "id_strategy", title: "idStrategy", kind: "choice", options: () => ID_STRATEGIES, start: "PRIMARY_KEY" },
    { name: "properties", title: "properties", kind: "many", options: keys },
    { name: "primary_keys", title: "primaryKeys", kind: "many", options: keys, when: (values) => values.id_strategy === "PRIMARY_KEY" },
    { name: "nullable_keys", title: "nullableKeys", kind: "many", options: keys },
  ],
  edgelabels: [
    { name: "name", title: "name", kind: "text" },
    { name: "source_label", title: "sourceLabel", kind: "choice", options: vertexLabels },
    { name: "target_label", title: "targetLabel", kind: "choice", options: vertexLabels },
    { name: "frequency", title: "frequency", kind: "choice", options: () => ["SINGLE", "MULTIPLE"], start: "SINGLE" },
    { name: "properties", title: "properties", kind: "many", options: keys },
    { name: "sort_keys", title: "sortKeys", kind: "many", options: keys, when: (values) => values.frequency === "MULTIPLE" },
    { name: "nullable_keys", title: "nullableKeys", kind: "many", options: keys },
  ],
  indexlabels: [
    { name: "name", title: "name", kind: "text" },
    { name: "base_type", title: "baseType", kind: "choice", options: () => ["VERTEX_LABEL", "EDGE_LABEL"], start: "VERTEX_LABEL" },
    { name: "base_value", title: "indexOf", kind: "choice", options: () => [...vertexLabels(), ...edgeLabels()] },
    { name: "index_type", title: "indexType", kind: "choice", options: () => INDEX_TYPES, start: "SECONDARY" },
    { name: "fields", title: "fields", kind: "many", options: keys },
  ],
};

const EXTENSION: Field[] = [
  { name: "properties", title: "properties", kind: "many", options: keys },
  { name: "nullable_keys", title: "nullableKeys", kind: "many", options: keys },
];

const TITLES: Record<FormKind, Key> = {
  vertexlabels: "newVertexLabel", edgelabels: "newEdgeLabel", propertykeys: "newPropertyKey", indexlabels: "newIndexLabel",
};

function Many(props: { options: string[]; value: string[]; change: (value: string[]) => void; title: string }) {
  const toggle = (name: string, on: boolean) =>
    props.change(on ? [...props.value, name] : props.value.filter((other) => other !== name));
  return (
    <fieldset class="many">
      <legend>{props.title}</legend>
      <For each={props.options} fallback={<span class="quiet">{t("noKeysYet")}</span>}>
        {(name) => (
          <label class="check">
            <input type="checkbox" checked={props.value.includes(name)} onChange={(event) => toggle(name, event.currentTarget.checked)} />
            {name}
          </label>
        )}
      </For>
    </fieldset>
  );
}

export function SchemaForm(props: { kind: FormKind; name?: string; close: () => void; done: () => void }) {
  const fields = props.name === undefined ? FIELDS[props.kind] : EXTENSION;
  const first = (field: Field): Value => field.start ?? (field.kind === "many" ? [] : field.kind === "choice" ? (field.options?.()[0] ?? "") : "");
  const [values, setValues] = createSignal<Record<string, Value>>(Object.fromEntries(fields.map((field) => [field.name, first(field)])));
  const [failure, setFailure] = createSignal("");
  const set = (name: string, value: Value) => setValues({ ...values(), [name]: value });
  const body = () => {
    const kept = fields.filter((field) => {
      const value = values()[field.name];
      return (field.when?.(values()) ?? true) && !(Array.isArray(value) && value.length === 0);
    });
    const named = props.name === undefined ? [] : [["name", props.name]];
    return Object.fromEntries([...named, ...kept.map((field) => [field.name, values()[field.name]])]);
  };
  const path = () => {
    const base = `${graphPath()}/schema/${props.kind}`;
    return props.name === undefined ? base : `${base}/${encodeURIComponent(props.name)}?action=append`;
  };
  const method = props.name === undefined ? "POST" : "PUT";
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    try {
      await call(path(), { method, body: body() });
      props.close();
      props.done();
    } catch (error) {
      setFailure(messageOf(error));
    }
  };
  const title = () => (props.name === undefined ? t(TITLES[props.kind]) : t("addPropertiesTo", { name: props.name }));
  return (
    <Dialog title={title()} close={props.close}>
      <form class="schema-form" onSubmit={(event) => void submit(event)}>
        <For each={fields}>
          {(field) => (
            <Show when={field.when?.(values()) ?? true}>
              <Show
                when={field.kind !== "many"}
                fallback={<Many title={t(field.title)} options={field.options?.() ?? []} value={values()[field.name] as string[]} change={(value) => set(field.name, value)} />}
              >
                <label class="field">
                  <span>{t(field.title)}</span>
                  <Show
                    when={field.kind === "choice"}
                    fallback={<input required name={field.name} value={values()[field.name] as string} onInput={(event) => set(field.name, event.currentTarget.value)} />}
                  >
                    <select name={field.name} value={values()[field.name] as string} onChange={(event) => set(field.name, event.currentTarget.value)}>
                      <For each={field.options?.() ?? []}>{(option) => <option value={option}>{option}</option>}</For>
                    </select>
                  </Show>
                </label>
              </Show>
            </Show>
          )}
        </For>
        <p class="quiet">{t("requestSent")}</p>
        <pre class="json">{`${method} ${path()}\n${formatJson(body())}`}</pre>
        <Show when={failure()}>
          <p class="failure" role="alert">{failure()}</p>
        </Show>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => props.close()}>{t("cancel")}</button>
          <button class="button primary">{t("create")}</button>
        </div>
      </form>
    </Dialog>
  );
}
