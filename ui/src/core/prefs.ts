// What a person has chosen for this browser. Nothing secret is kept.

import { createSignal } from "solid-js";

export type Theme = "auto" | "light" | "dark";
export type Language = "en" | "zh";

export function read(name: string): string | null {
  try {
    return localStorage.getItem(`varve.${name}`);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`varve.${name}`, value);
  } catch {
    // Storage is off: the choice holds for this page.
  }
}

const storedTheme = read("theme");
const [theme, setThemeSignal] = createSignal<Theme>(
  storedTheme === "light" || storedTheme === "dark" ? storedTheme : "auto",
);
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const [systemDark, setSystemDark] = createSignal(prefersDark.matches);
prefersDark.addEventListener("change", (event) => setSystemDark(event.matches));

export { theme };

export function isDark(): boolean {
  return theme() === "dark" || (theme() === "auto" && systemDark());
}

export function setTheme(next: Theme): void {
  setThemeSignal(next);
  keep("theme", next);
}

export function storedLanguage(): Language {
  const stored = read("language");
  if (stored === "en" || stored === "zh") return stored;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export function keepLanguage(language: Language): void {
  keep("language", language);
}

export function storedGraph(): string | null {
  return read("graph");
}

export function keepGraph(graph: string): void {
  keep("graph", graph);
}

const [singleKeys, setSingleKeysSignal] = createSignal(read("keys") !== "off");
export { singleKeys };

export function setSingleKeys(on: boolean): void {
  setSingleKeysSignal(on);
  keep("keys", on ? "on" : "off");
}

const USER = "varve.user";
let lastUser: string | null = null;

/** Whose things this window keeps. */
export function sessionUser(): string | null {
  try {
    return sessionStorage.getItem(USER);
  } catch {
    return lastUser;
  }
}

export function keepSessionUser(name: string): void {
  lastUser = name;
  try {
    sessionStorage.setItem(USER, name);
  } catch {
    // Storage is off: the name holds for this page.
  }
}

/** Removes what is kept while the window is open: the next user must not see it. */
export function forgetSession(): void {
  try {
    sessionStorage.clear();
  } catch {
    // Storage is off.
  }
}
