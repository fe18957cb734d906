// Reads a resource without making the page wait: a page that waits takes its dialogs off the screen.

import type { Resource } from "solid-js";

/** What a resource has, also while it is read again; undefined before. */
export function ready<T>(resource: Resource<T>): T | undefined {
  return resource.state === "ready" || resource.state === "refreshing" ? resource.latest : undefined;
}
