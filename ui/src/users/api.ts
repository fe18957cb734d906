// Users, groups, targets, memberships and rights, as the directory of the server has them.

import { call } from "../core/http";

export type Kind = "users" | "groups" | "targets" | "belongs" | "accesses";

export interface Resource {
  type: string;
  label?: string;
  properties?: Record<string, unknown> | null;
}

export interface User {
  id: string;
  user_name: string;
  user_phone?: string;
  user_email?: string;
  user_description?: string;
  user_create: string;
}

export interface Group {
  id: string;
  group_name: string;
  group_description?: string;
}

export interface Target {
  id: string;
  target_name: string;
  /** Empty: the server. */
  target_graph: string;
  target_resources: Record<string, Resource[]> | null;
}

export interface Belong {
  id: string;
  user: string;
  group: string;
}

export interface Access {
  id: string;
  group: string;
  target: string;
  access_permission: string;
}

interface Records {
  users: User;
  groups: Group;
  targets: Target;
  belongs: Belong;
  accesses: Access;
}

export interface Request {
  method: "POST" | "PUT" | "DELETE";
  path: string;
  body?: Record<string, unknown>;
}

/** All records of a kind that the user may see. */
export async function list<K extends Kind>(kind: K): Promise<Records[K][]> {
  return (await call<Record<K, Records[K][]>>(`/auth/${kind}`, { query: { limit: -1 } }))[kind];
}

export function pathOf(kind: Kind, id: string): string {
  return `/auth/${kind}/${encodeURIComponent(id)}`;
}

export interface Directory {
  users: User[];
  groups: Group[];
  targets: Target[];
  belongs: Belong[];
  accesses: Access[];
}

export async function directory(): Promise<Directory> {
  const [users, groups, targets, belongs, accesses] = await Promise.all([list("users"), list("groups"), list("targets"), list("belongs"), list("accesses")]);
  const byName = <T>(all: T[], name: (each: T) => string) => all.sort((a, b) => name(a).localeCompare(name(b)));
  return {
    users: byName(users, (user) => user.user_name),
    groups: byName(groups, (group) => group.group_name),
    targets: byName(targets, (target) => target.target_name),
    belongs,
    accesses,
  };
}
