// Texts in the language that is chosen. A key that a dictionary lacks does not compile.

import { createSignal } from "solid-js";
import { keepLanguage, storedLanguage, type Language } from "../core/prefs";
import { en, type Dictionary } from "./en";

export type Key = keyof Dictionary;

const [dictionary, setDictionary] = createSignal<Dictionary>(en);
const [language, setLanguageSignal] = createSignal<Language>("en");
export { language };

export async function setLanguage(next: Language): Promise<void> {
  setDictionary(next === "zh" ? (await import("./zh")).zh : en);
  setLanguageSignal(next);
  document.documentElement.lang = next === "zh" ? "zh-CN" : "en";
  keepLanguage(next);
}

export function startLanguage(): Promise<void> {
  return setLanguage(storedLanguage());
}

/** The text of a key, `{name}` in it replaced. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return dictionary()[key].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}

/** The text of a key that is put together, if there is one. */
export function tIfKnown(key: string): string | undefined {
  return (dictionary() as Record<string, string>)[key];
}

export function number(value: number | bigint): string {
  return new Intl.NumberFormat(language()).format(value);
}
