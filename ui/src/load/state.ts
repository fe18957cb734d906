// The files that are loaded, and how far that is. It outlives the page: a load goes on while other pages
// and graphs are looked at. All of it is about one graph, and nothing of it is shown for another.

import { batch, createSignal, type Accessor } from "solid-js";
import { t } from "../i18n";
import { isAbort, messageOf } from "../core/http";
import { readSchema } from "../core/schema";
import { graph, graphPath } from "../core/server";
import { forget, infer, load, upload, type Drafted, type End, type Progress, type Refused } from "./api";

/** The graph that the files are for. */
const [target, setTarget] = createSignal("");
const [loading, setLoading] = createSignal(false);
const [filesSignal, setFiles] = createSignal<File[]>([]);
const [sentSignal, setSent] = createSignal<number | null>(null);
const [draftedSignal, setDrafted] = createSignal<Drafted | null>(null);
const [mapping, setMappingSignal] = createSignal("");
const [progressSignal, setProgress] = createSignal<Progress | null>(null);
const [refusedSignal, setRefused] = createSignal<Refused[]>([]);
const [endSignal, setEnd] = createSignal<End | null>(null);
const [abort, setAbort] = createSignal<AbortController | null>(null);
/** What failed, and what was tried: files that are read, or a load. */
const [problemSignal, setProblem] = createSignal<{ of: "read" | "load"; text: string } | null>(null);

/** A value as it is for the graph that is shown. */
const here = <T, N>(value: Accessor<T>, none: N): Accessor<T | N> => () => (target() === graph() ? value() : none);
export const drafted = here(draftedSignal, null);
export const end = here(endSignal, null);
export const files = here(filesSignal, []);
export const problem = here(problemSignal, null);
export const progress = here(progressSignal, null);
export const refused = here(refusedSignal, []);
export const sent = here(sentSignal, null);
export { abort, loading, mapping, target };

/** Changes the mapping's text. What was found out about another text is gone. */
export function setMapping(text: string): void {
  batch(() => {
    setMappingSignal(text);
    if (abort()) return;
    setEnd(null);
    setRefused([]);
    setProblem(null);
  });
}

/** Does work that the user can stop. */
async function busy(of: "read" | "load", work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const control = new AbortController();
  abort()?.abort();
  setAbort(control);
  setProblem(null);
  try {
    await work(control.signal);
  } catch (error) {
    if (abort() === control) setProblem({ of, text: isAbort(error) ? t("cancelled") : messageOf(error) });
  } finally {
    if (abort() === control) {
      setAbort(null);
      setSent(null);
      setProgress(null);
    }
  }
}

/** Reads files and drafts what they mean. Files that come while others are loaded are not taken. */
export async function take(picked: File[]): Promise<void> {
  if (picked.length === 0 || loading()) return;
  const path = graphPath();
  batch(() => {
    setTarget(graph());
    setFiles(picked);
    setSent(null);
    setDrafted(null);
    setEnd(null);
    setRefused([]);
  });
  await busy("read", async (signal) => {
    await forget(path);
    let before = 0;
    for (const file of picked) {
      await upload(path, file, (bytes) => setSent(before + bytes), signal);
      before += file.size;
    }
    setSent(null);
    const found = await infer(path, picked.map((file) => file.name), signal);
    setMappingSignal(found.mapping);
    setDrafted(found);
  });
}

/** Loads the files by the mapping, or tries it. */
export async function start(dry: boolean): Promise<void> {
  if (loading() || target() !== graph()) return;
  const path = graphPath();
  setLoading(true);
  setEnd(null);
  setRefused([]);
  await busy("load", async (signal) => {
    const tell = (now: Progress | null, rows: Refused[]) => {
      setProgress(now);
      setRefused(rows);
    };
    const ended = await load(path, mapping(), dry, tell, signal);
    setEnd(ended);
    if (ended.message) setProblem({ of: "load", text: ended.message });
  });
  setLoading(false);
  // Who may not read the schema has loaded all the same.
  if (!dry) await readSchema(true).catch(() => undefined);
}

