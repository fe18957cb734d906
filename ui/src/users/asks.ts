// What the page asks before it changes the directory.

import { t } from "../i18n";
import { pathOf, type Access, type Belong, type Directory, type Group, type Kind, type Target, type User } from "./api";
import { graphOptions, type Ask } from "./form";
import { permissionText, PERMISSIONS, resourcesIn } from "./words";

/** Without what is empty: the server takes no empty texts. */
function filled(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}

export const newUser = (): Ask => ({
  title: t("newUser"),
  fields: [
    { name: "user_name", title: "userName", kind: "text" },
    { name: "user_password", title: "password", kind: "password" },
    { name: "user_email", title: "email", kind: "text", isOptional: true },
    { name: "user_phone", title: "phone", kind: "text", isOptional: true },
    { name: "user_description", title: "description", kind: "text", isOptional: true },
  ],
  request: (values) => ({ method: "POST", path: "/auth/users", body: filled(values) }),
  action: "create",
});

/** The server takes an empty description, but no empty address or number: what a user has, it keeps or changes. */
export const changeUser = (user: User): Ask => ({
  title: t("changeOf", { name: user.user_name }),
  hint: t("passwordKept"),
  fields: [
    { name: "user_password", title: "newPassword", kind: "password", isOptional: true },
    { name: "user_email", title: "email", kind: "text", start: user.user_email ?? "", isOptional: !user.user_email },
    { name: "user_phone", title: "phone", kind: "text", start: user.user_phone ?? "", isOptional: !user.user_phone },
    { name: "user_description", title: "description", kind: "text", start: user.user_description ?? "", isOptional: true },
  ],
  request: (values) => {
    const cleared = user.user_description && values.user_description === "" ? { user_description: "" } : {};
    return { method: "PUT", path: pathOf("users", user.id), body: { ...filled(values), ...cleared } };
  },
  action: "editSend",
});

export const newGroup = (): Ask => ({
  title: t("newGroup"),
  fields: [
    { name: "group_name", title: "name", kind: "text" },
    { name: "group_description", title: "description", kind: "text", isOptional: true },
  ],
  request: (values) => ({ method: "POST", path: "/auth/groups", body: filled(values) }),
  action: "create",
});

export const changeGroup = (group: Group): Ask => ({
  title: t("changeOf", { name: group.group_name }),
  fields: [{ name: "group_description", title: "description", kind: "text", start: group.group_description ?? "" }],
  request: (values) => ({ method: "PUT", path: pathOf("groups", group.id), body: values }),
  action: "editSend",
});

export const newTarget = (graph: string): Ask => ({
  title: t("newTarget"),
  fields: [
    { name: "target_name", title: "name", kind: "text" },
    { name: "target_graph", title: "graph", kind: "choice", options: graphOptions(undefined), start: graph },
  ],
  resources: [{ type: "ALL" }],
  request: (values, resources) => ({ method: "POST", path: "/auth/targets", body: { ...values, target_url: "", target_resources: resources } }),
  action: "create",
});

export const changeTarget = (target: Target): Ask => ({
  title: t("changeOf", { name: target.target_name }),
  fields: [{ name: "target_graph", title: "graph", kind: "choice", options: graphOptions(target.target_graph), start: target.target_graph }],
  resources: resourcesIn(target.target_resources),
  request: (values, resources) => ({
    method: "PUT", path: pathOf("targets", target.id), body: { target_name: target.target_name, ...values, target_url: "", target_resources: resources },
  }),
  action: "editSend",
});

export const newMember = (group: Group, all: Directory): Ask => {
  const members = new Set(all.belongs.filter((each) => each.group === group.id).map((each) => each.user));
  const options = all.users.filter(({ id }) => !members.has(id)).map(({ id, user_name }): [string, string] => [id, user_name]);
  return {
    title: t("newMemberOf", { name: group.group_name }),
    fields: [{ name: "user", title: "userName", kind: "choice", options }],
    request: ({ user }) => ({ method: "POST", path: "/auth/belongs", body: { user, group: group.id } }),
    action: "addMember",
  };
};

export const newAccess = (group: Group, all: Directory): Ask => ({
  title: t("newRightOf", { name: group.group_name }),
  fields: [
    { name: "access_permission", title: "permission", kind: "choice", options: PERMISSIONS.map((name): [string, string] => [name, permissionText(name)]) },
    { name: "target", title: "target", kind: "choice", options: all.targets.map(({ id, target_name }): [string, string] => [id, target_name]) },
  ],
  request: ({ access_permission, target }) => ({ method: "POST", path: "/auth/accesses", body: { group: group.id, target, access_permission } }),
  action: "addRight",
});

/** Asks before something is removed for ever. */
export const removal = (kind: Kind, record: User | Group | Target | Belong | Access, name: string): Ask => ({
  title: t("removeTitle", { name }),
  hint: t(`removeHint_${kind}`),
  fields: [],
  request: () => ({ method: "DELETE", path: pathOf(kind, record.id) }),
  action: "remove",
  isDangerous: true,
});
