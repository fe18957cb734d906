// The fragment is the address of what is shown: `#/explore?v=2022-01-01`. It is never sent to the
// server.

import { createSignal } from "solid-js";

export const PAGES = ["explore", "query", "schema", "load", "metadata", "tasks", "monitor", "users", "api"] as const;
export type Page = (typeof PAGES)[number];

export interface Route {
  page: Page;
  parameters: URLSearchParams;
}

function parse(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const page = PAGES.find((known) => known === path) ?? "explore";
  return { page, parameters: new URLSearchParams(query) };
}

const [route, setRoute] = createSignal<Route>(parse(), { equals: false });
export { route };

addEventListener("hashchange", () => setRoute(parse()));

export function hrefOf(page: Page, parameters: Record<string, string> = {}): string {
  const query = new URLSearchParams(parameters).toString();
  return `#/${page}${query ? `?${query}` : ""}`;
}

export function go(page: Page, parameters: Record<string, string> = {}): void {
  location.hash = hrefOf(page, parameters);
}
