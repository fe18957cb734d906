// The files that are loaded, and how far that is. It outlives the page: a load goes on while others are
// looked at.

import { batch, createSignal } from "solid-js";
import { t } from "../i18n";
import { isAbort, messageOf } from "../core/http";
import { readSchema } from "../core/schema";
import { forget, infer, load, upload, type Drafted, type End, type Progress, type Refused } from "./api";

const [files, setFiles] = createSignal<File[]>([]);
const [sent, setSent] = createSignal<number | null>(null);
const [drafted, setDrafted] = createSignal<Drafted | null>(null);
const [mapping, setMappingSignal] = createSignal("");
const [progress, setProgress] = createSignal<Progress | null>(null);
const [refused, setRefused] = createSignal<Refused[]>([]);
const [end, setEnd] = createSignal<End | null>(null);
const [abort, setAbort] = createSignal<AbortController | null>(null);
/** What failed, and what was tried: files that are read, or a load. */
const [problem, setProblem] = createSignal<{ of: "read" | "load"; text: string } | null>(null);
export { abort, drafted, end, files, mapping, problem, progress, refused, sent };

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
  if (picked.length === 0 || progress()) return;
  setFiles(picked);
  setDrafted(null);
  setEnd(null);
  setRefused([]);
  await busy("read", async (signal) => {
    await forget();
    let before = 0;
    for (const file of picked) {
      await upload(file, (bytes) => setSent(before + bytes), signal);
      before += file.size;
    }
    setSent(null);
    const found = await infer(picked.map((file) => file.name), signal);
    setMappingSignal(found.mapping);
    setDrafted(found);
  });
}

/** Loads the files by the mapping, or tries it. */
export function start(dry: boolean): Promise<void> {
  setEnd(null);
  setRefused([]);
  return busy("load", async (signal) => {
    const tell = (now: Progress | null, rows: Refused[]) => {
      setProgress(now);
      setRefused(rows);
    };
    const ended = await load(mapping(), dry, tell, signal);
    setEnd(ended);
    if (ended.message) setProblem({ of: "load", text: ended.message });
    if (!dry) await readSchema(true);
  });
}

