// What the user may change, so that the page offers nothing else. The server decides each request.

import { createEffect, createRoot, createSignal, on } from "solid-js";
import { call, user } from "./http";
import { graph } from "./server";

/** By graph and permission: the resources, as `VERTEX#person`. */
export type Roles = Record<string, Record<string, Record<string, unknown>>>;

/** Has all rights, and no role. */
const ADMIN = "admin";

const [known, setKnown] = createSignal<{ name: string; roles: Roles } | null>(null);

/** Reads the rights again, e.g. after a refusal. */
export async function rereadRights(): Promise<void> {
  const name = user();
  if (name === null || name === ADMIN) return;
  try {
    const { roles } = await call<{ roles: { DEFAULT?: Roles } }>(`/auth/users/${encodeURIComponent(`-30:${name}`)}/role`);
    setKnown({ name, roles: roles.DEFAULT ?? {} });
  } catch {
    // They stay unknown, and the page offers all.
  }
}

createRoot(() => createEffect(on([user, graph], () => void rereadRights())));

export function changesElements(found: Roles, graph: string): boolean {
  return Object.entries(found[graph] ?? {}).some(
    ([permission, resources]) => ["WRITE", "DELETE", "ANY"].includes(permission) && Object.keys(resources).some((each) => /^(ALL|ROOT|VERTEX|EDGE)(#|$)/.test(each)),
  );
}

/** What the user may see and change of all users. */
export type Administered = "USER_GROUP" | "TARGET" | "GRANT";

export function administers(found: Roles, permission: "READ" | "WRITE" | "DELETE", resource: Administered): boolean {
  const server = found[""] ?? {};
  return [permission, "ANY"].some((each) => Object.keys(server[each] ?? {}).some((key) => key === "ROOT" || key.startsWith(resource)));
}

/** Whether the user may do this with users, groups, targets or rights; false while that is not known. */
export function mayAdminister(permission: "READ" | "WRITE" | "DELETE", resource: Administered): boolean {
  const found = known();
  return user() === ADMIN || (found !== null && found.name === user() && administers(found.roles, permission, resource));
}

/** The rights that were read of the user; null for the administrator, and before they are known. */
export function ownRoles(): Roles | null {
  const found = known();
  return found && found.name === user() ? found.roles : null;
}

/** Whether the user has all rights. */
export function isAdministrator(): boolean {
  return user() === ADMIN;
}

/** Whether the user may change some elements of the graph; true while that is not known. */
export function mayWrite(): boolean {
  const found = known();
  return !found || found.name !== user() || changesElements(found.roles, graph());
}
