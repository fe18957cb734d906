// The backups in the server's store: how old the last one is, when the next is due, and one now.

import { createResource, createSignal, onCleanup, Show } from "solid-js";
import { language, number, t } from "../i18n";
import { call, Failure, messageOf, user } from "../core/http";
import { isAdministrator } from "../core/rights";
import { ready } from "../core/resource";
import { millisOf, shortTime } from "../core/times";
import { Dialog } from "../parts/dialog";
import { Table, type Row } from "../parts/table";
import { bytes, duration } from "./units";

interface Backup {
  name: string;
  created: string;
  graphs: string[];
  left_out: string[];
  files: number;
  bytes: number;
  new_bytes: number;
  took_ms: number;
}

interface Backups {
  /** The store; null if none is configured. */
  to: string | null;
  /** 0 without a schedule. */
  every_seconds: number;
  keep: number;
  keep_for_seconds: number;
  /** The job of the backup under way. */
  running: number | null;
  next: string | null;
  stored_bytes: number;
  failure: { at: string; error: string } | null;
  backups: Backup[];
}

const EVERY_MS = 2000;
/** What is to be written into the configuration. */
const OPTION = "backup.to";
const EXAMPLE = 'varve serve --set backup.to=/srv/backups --set backup.every=1d';
const REQUEST = "POST /admin/backup\n{}";

/** "none" without a store; null for who may not see it. */
async function read(): Promise<Backups | "none" | null> {
  if (user() !== null && !isAdministrator()) return null;
  try {
    const found = await call<Backups>("/admin/backups");
    return found.to === null ? "none" : found;
  } catch (error) {
    // It is seen at the address for administrators alone.
    if (error instanceof Failure && error.status === 403) return null;
    if (error instanceof Failure && error.status === 404) return "none";
    throw error;
  }
}

function ageOf(instant: string, now: number): string {
  return duration((now - millisOf(instant)) / 1000);
}

function AskDialog(props: { close: () => void; begin: () => void }) {
  return (
    <Dialog title={t("backUpNow")} close={props.close}>
      <p>{t("backUpHint")}</p>
      <p class="quiet">{t("requestSent")}</p>
      <pre class="json">{REQUEST}</pre>
      <div class="dialog-actions">
        <button class="button" onClick={() => props.close()}>{t("cancel")}</button>
        <button
          class="button primary"
          data-action="begin-backup"
          onClick={() => {
            props.close();
            props.begin();
          }}
        >
          {t("backUpNow")}
        </button>
      </div>
    </Dialog>
  );
}

function Facts(props: { of: Backups; now: number }) {
  const last = () => props.of.backups[0];
  const rules = () => [
    props.of.keep > 0 ? t("keepNumber", { count: number(props.of.keep) }) : "",
    props.of.keep_for_seconds > 0 ? t("keepTime", { time: duration(props.of.keep_for_seconds) }) : "",
  ].filter(Boolean);
  const due = () => {
    const { next, every_seconds: every } = props.of;
    if (every === 0) return t("noSchedule");
    if (next === null) return "–";
    const left = (millisOf(next) - props.now) / 1000;
    return left > 0 ? t("dueIn", { time: duration(left) }) : t("dueNow");
  };
  /** The last one is older than two intervals. */
  const isLate = () => props.of.every_seconds > 0 && (!last() || props.now - millisOf(last()!.created) > 2000 * props.of.every_seconds);
  return (
    <dl class="tiles backup-tiles">
      <div classList={{ late: isLate() }}>
        <dt>{t("lastBackup")}</dt>
        <dd>{last() ? t("ago", { time: ageOf(last()!.created, props.now) }) : t("never")}</dd>
      </div>
      <div>
        <dt>{t("nextBackup")}</dt>
        <dd>{due()}</dd>
      </div>
      <div>
        <dt>{t("storedBytes")}</dt>
        <dd>{bytes(props.of.stored_bytes)}</dd>
      </div>
      <div>
        <dt>{t("kept")}</dt>
        <dd>{rules().join(", ") || t("keptAll")}</dd>
      </div>
    </dl>
  );
}

export function BackupsPanel() {
  const [found, { refetch }] = createResource(read);
  const [now, setNow] = createSignal(Date.now());
  const [asking, setAsking] = createSignal(false);
  const [problem, setProblem] = createSignal("");
  const timer = setInterval(() => {
    setNow(Date.now());
    if (!found.loading && !document.hidden && (found.error || answer())) void refetch();
  }, EVERY_MS);
  onCleanup(() => clearInterval(timer));
  const answer = () => (found.error ? undefined : ready(found));
  const store = () => {
    const known = answer();
    return known && known !== "none" ? known : undefined;
  };
  const begin = async () => {
    try {
      await call("/admin/backup", { method: "POST", body: {} });
      setProblem("");
    } catch (error) {
      setProblem(messageOf(error));
    }
    await refetch();
  };
  const columns = () => [t("created"), t("graphsOf"), t("files"), t("size"), t("newBytes"), t("took"), t("name")];
  const rows = (): Row[] =>
    (store()?.backups ?? []).map((backup) => {
      const [created, graphs, files, size, fresh, took, name] = columns();
      const leftOut = backup.left_out.length ? t("leftOut", { graphs: backup.left_out.join(", ") }) : "";
      return {
        cells: {
          [created!]: shortTime(backup.created, language()), [graphs!]: `${backup.graphs.join(", ")}${leftOut}`, [files!]: backup.files, [size!]: bytes(backup.bytes),
          [fresh!]: bytes(backup.new_bytes), [took!]: `${number(backup.took_ms)} ms`, [name!]: backup.name,
        },
      };
    });
  return (
    <Show when={found.error || answer()}>
      <section class="routes backups">
        <header>
          <h2>{t("backups")}</h2>
          <Show when={store()}>
            {(known) => (
              <>
                <span class="quiet mono">{known().to}</span>
                <span class="spacer" />
                <button class="button small" data-action="back-up" disabled={known().running !== null} onClick={() => setAsking(true)}>{t("backUpNow")}</button>
              </>
            )}
          </Show>
        </header>
        <Show when={found.error}>
          <p class="failure" role="alert">{messageOf(found.error)}</p>
        </Show>
        <Show when={answer() === "none"}>
          <p class="quiet">
            {t("noBackupStore", { option: OPTION })} <code>{EXAMPLE}</code>
          </p>
        </Show>
        <Show when={store()}>
          {(known) => (
            <>
              <Facts of={known()} now={now()} />
              <Show when={known().running !== null}>
                <p class="quiet" role="status">{t("backupRuns", { job: known().running ?? "" })}</p>
              </Show>
              <Show when={known().failure}>
                {(failure) => <p class="failure" role="alert">{t("backupFailed", { at: shortTime(failure().at, language()), why: failure().error })}</p>}
              </Show>
              <Show when={problem()}>
                <p class="failure" role="alert">{problem()}</p>
              </Show>
              <Show when={rows().length}>
                <Table label={t("backups")} columns={columns()} rows={rows()} />
              </Show>
            </>
          )}
        </Show>
      </section>
      <Show when={asking()}>
        <AskDialog close={() => setAsking(false)} begin={() => void begin()} />
      </Show>
    </Show>
  );
}
