// The vertices of a label in pages of a table: what does not fit on a canvas, however many there are.

import { createResource, createSignal, Show } from "solid-js";
import { number, t } from "../i18n";
import { messageOf } from "../core/http";
import { point } from "../core/times";
import { Dialog } from "../parts/dialog";
import { Table, type Row } from "../parts/table";
import * as api from "./api";
import { shownProperty } from "./look";
import { refsOfAll } from "./refs";
import { commits, during, show, showSample, shown } from "./state";

export interface LabelCount {
  label: string;
  count: number;
  atLeast: boolean;
}

export const [tableOf, setTableOf] = createSignal<LabelCount | null>(null);

/** Rows a page: what a listing sends at once stays small. */
const PAGE = 500;
const SAMPLE = 50;

function rowsOf(found: api.Listed[]): { columns: string[]; rows: Row[] } {
  const columns = new Set<string>(["~id"]);
  const rows = found.map(({ id, properties }) => {
    for (const key of Object.keys(properties)) columns.add(key);
    const texts = Object.entries(properties).map(([key, value]) => [key, shownProperty(key, value)] as const);
    return { of: id, cells: { "~id": typeof id === "string" ? id : String(id), ...Object.fromEntries(texts) } };
  });
  return { columns: [...columns], rows };
}

export function LabelTable(props: { of: LabelCount }) {
  // The tokens of the pages up to the one that is shown.
  const [tokens, setTokens] = createSignal<readonly string[]>([""]);
  const token = () => tokens()[tokens().length - 1] ?? "";
  const [page] = createResource(
    () => ({ at: point(), token: token(), commits: commits() }),
    ({ at, token: wanted }) => api.listing(at, props.of.label, PAGE, wanted),
  );
  const close = () => setTableOf(null);
  const take = (row: Row) => {
    void during(async () => show([...shown(), ...(await refsOfAll([row.of], point(), { label: props.of.label }))]));
    close();
  };
  const sample = () => {
    void showSample(props.of.label, SAMPLE);
    close();
  };
  // Reading `latest` of a failed page throws, and before the first answer it waits.
  const found = () => (page.state === "ready" || page.state === "refreshing" ? page.latest : undefined);
  const count = () => `${number(props.of.count)}${props.of.atLeast ? "+" : ""}`;
  return (
    <Dialog title={t("tableTitle", { label: props.of.label, count: count() })} close={close} wide>
      <p class="quiet">{t("tableHint")}</p>
      <Show when={!page.error} fallback={<p class="failure">{messageOf(page.error)}</p>}>
        <Show when={found()} fallback={<p class="quiet">{t("loading")}</p>}>
          {(now) => (
            <div class="label-table" aria-busy={page.loading}>
              <Table {...rowsOf(now().vertices)} label={props.of.label} pick={take} />
            </div>
          )}
        </Show>
      </Show>
      <div class="dialog-actions">
        <button class="button" disabled={tokens().length === 1} onClick={() => setTokens(tokens().slice(0, -1))}>{t("pageBefore")}</button>
        <span class="quiet page-number">{t("pageNumber", { number: tokens().length })}</span>
        <button class="button" disabled={!found()?.page} onClick={() => setTokens([...tokens(), found()?.page ?? ""])}>{t("pageAfter")}</button>
        <span class="spacer" />
        <button class="button primary" onClick={sample}>{t("showInGraph", { count: SAMPLE })}</button>
      </div>
    </Dialog>
  );
}
