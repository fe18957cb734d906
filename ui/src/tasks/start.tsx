// Starts an algorithm: its parameters, and the request that they make.

import { createResource, createSignal, For, Show } from "solid-js";
import { t, tIfKnown, type Key } from "../i18n";
import { formatJson } from "../core/json";
import { call, messageOf, pathOf } from "../core/http";
import { ready } from "../core/resource";
import { graphPath } from "../core/server";
import { readSchema, schema } from "../core/schema";
import { point, timesOf } from "../core/times";
import { Dialog } from "../parts/dialog";
import { TimeFields } from "../parts/timefields";
import { ALGORITHMS, bodyOf, type Parameter } from "./algorithms";

/** What no choice means. */
const NOTHING: Partial<Record<Parameter["kind"], Key>> = { vertexlabel: "algorithmAll", edgelabel: "algorithmAll", property: "algorithmNone" };
const NUMBERS = ["BYTE", "INT", "LONG", "FLOAT", "DOUBLE"];

export function StartDialog(props: { close: () => void; started: (id: number) => void }) {
  const [name, setName] = createSignal("page_rank");
  const [values, setValues] = createSignal<Record<string, string>>({});
  const [failure, setFailure] = createSignal("");
  const [read] = createResource(() => readSchema().catch(() => null));
  const parameters = () => ALGORITHMS[name()] ?? [];
  const path = () => pathOf(`${graphPath()}/jobs/algorithm/${name()}`, timesOf(point()));
  const options = ({ name, kind, options: all }: Parameter): string[] => {
    ready(read);
    if (kind === "vertexlabel") return ["", ...(schema()?.vertexlabels ?? []).map((label) => label.name)];
    if (kind === "edgelabel") return ["", ...(schema()?.edgelabels ?? []).map((label) => label.name)];
    if (kind === "property") {
      const keys = (schema()?.propertykeys ?? []).filter(({ data_type }) => name !== "weight" || NUMBERS.includes(data_type));
      return ["", ...keys.map((key) => key.name)];
    }
    return [...(all ?? [])];
  };
  const missing = () => parameters().find((each) => each.required && !(values()[each.name] ?? each.start ?? "").trim())?.name;
  const start = async () => {
    if (missing()) return;
    try {
      const { task_id: id } = await call<{ task_id: number }>(path(), { method: "POST", body: bodyOf(name(), values()) });
      props.started(id);
    } catch (error) {
      setFailure(messageOf(error));
    }
  };
  return (
    <Dialog title={t("startAlgorithm")} close={props.close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <label class="field">
          <span>{t("algorithm")}</span>
          <select
            name="algorithm"
            onChange={(event) => {
              setName(event.currentTarget.value);
              setValues({});
            }}
          >
            <For each={Object.keys(ALGORITHMS)}>{(each) => <option value={each} selected={name() === each}>{each}</option>}</For>
          </select>
        </label>
        <p class="quiet">{tIfKnown(`algorithm_${name()}`)}</p>
        <div class="edit-fields">
          <For each={parameters()}>
            {(each) => (
              <label class="field">
                <span>{each.name}{each.required ? " *" : ""}</span>
                <Show
                  when={options(each).length || each.kind === "vertexlabel" || each.kind === "edgelabel" || each.kind === "property"}
                  fallback={
                    <input
                      name={each.name}
                      inputmode={each.kind === "number" ? "decimal" : undefined}
                      placeholder={each.kind === "list" ? "id, id, …" : ""}
                      value={values()[each.name] ?? each.start ?? ""}
                      onInput={(event) => setValues({ ...values(), [each.name]: event.currentTarget.value })}
                    />
                  }
                >
                  <select name={each.name} onChange={(event) => setValues({ ...values(), [each.name]: event.currentTarget.value })}>
                    <For each={options(each)}>{(option) => <option value={option}>{option === "" ? t(NOTHING[each.kind] ?? "algorithmDefault") : option}</option>}</For>
                  </select>
                </Show>
              </label>
            )}
          </For>
        </div>
        <TimeFields />
        <pre class="json" tabindex="0">{`POST ${path()}\n${formatJson(bodyOf(name(), values()))}`}</pre>
        <Show when={missing()}>{(key) => <p class="quiet">{t("editMissing", { key: key() })}</p>}</Show>
        <Show when={failure()}><p class="failure" role="alert">{failure()}</p></Show>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => props.close()}>{t("cancel")}</button>
          <button class="button primary" data-action="start">{t("startIt")}</button>
        </div>
      </form>
    </Dialog>
  );
}
