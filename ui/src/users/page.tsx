// Who may do what: users, groups with their members and rights, and what the rights are on.

import { createResource, createSignal, For, Show, type JSX } from "solid-js";
import { t, type Key } from "../i18n";
import { call, messageOf, user } from "../core/http";
import { isAdministrator, mayAdminister, ownRoles, rereadRights, type Administered, type Roles } from "../core/rights";
import { ready } from "../core/resource";
import { graph } from "../core/server";
import { readSchema } from "../core/schema";
import { Icon, type IconName } from "../parts/icon";
import { Tabs } from "../parts/tabs";
import { directory, pathOf, type Access, type Belong, type Directory, type Group, type Target, type User } from "./api";
import * as asks from "./asks";
import { AskDialog, type Ask } from "./form";
import { graphText, permissionText, resourcesIn, resourceText, sentencesOf } from "./words";

type Tab = "users" | "groups" | "targets";

const ADMIN = "-30:admin";

function Rights(props: { roles: Roles }) {
  return (
    <For each={sentencesOf(props.roles)} fallback={<p class="quiet">{t("noRights")}</p>}>
      {({ graph: name, sentences }) => (
        <section class="rights">
          <h3>{graphText(name)}</h3>
          <dl class="facts">
            <For each={sentences}>
              {({ permission, what }) => (
                <>
                  <dt>{permissionText(permission)}</dt>
                  <dd>{what.join("; ")}</dd>
                </>
              )}
            </For>
          </dl>
        </section>
      )}
    </For>
  );
}

function RightsOf(props: { user: User; groups: string[] }) {
  const [roles] = createResource(() => props.user.id, async (id) => (await call<{ roles: { DEFAULT?: Roles } }>(`${pathOf("users", id)}/role`)).roles.DEFAULT ?? {});
  return (
    <div class="rights-of" role="region" aria-label={t("rightsOf", { name: props.user.user_name })} tabindex="0">
      <h2>{t("rightsOf", { name: props.user.user_name })}</h2>
      <Show when={props.groups.length}>
        <p class="quiet">{t("throughGroups", { groups: props.groups.join(", ") })}</p>
      </Show>
      <Show when={props.user.id !== ADMIN} fallback={<p>{t("mayAll")}</p>}>
        <Show when={!roles.error} fallback={<p class="failure">{messageOf(roles.error)}</p>}>
          <Show when={ready(roles)} fallback={<p class="quiet">{t("loading")}</p>}>{(found) => <Rights roles={found()} />}</Show>
        </Show>
      </Show>
    </div>
  );
}

function RowButton(props: { icon: IconName; name: string; act: () => void; action: string }) {
  return (
    <button class="icon-button small" data-action={props.action} onClick={() => props.act()} title={props.name} aria-label={props.name}>
      <Icon name={props.icon} />
    </button>
  );
}

interface Part {
  all: Directory;
  ask: (ask: Ask) => void;
}

function Frame(props: { heads: Key[]; label: string; children: JSX.Element }) {
  return (
    <div class="table-scroll flat" tabindex="0" role="region" aria-label={props.label}>
      <table>
        <thead>
          <tr>
            <For each={props.heads}>{(key) => <th scope="col">{t(key)}</th>}</For>
            <th scope="col"><span class="visually-hidden">{t("actions")}</span></th>
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  );
}

function Users(props: Part) {
  const [chosen, setChosen] = createSignal<string | null>(user() ? `-30:${user()}` : null);
  const groupsOf = (id: string) => {
    const of = new Set(props.all.belongs.filter((each) => each.user === id).map((each) => each.group));
    return props.all.groups.filter((each) => of.has(each.id)).map((each) => each.group_name);
  };
  const shown = () => props.all.users.find((each) => each.id === chosen());
  const mayChange = (each: User) => mayAdminister("WRITE", "USER_GROUP") || each.user_name === user();
  return (
    <>
      <Frame heads={["userName", "groups", "email", "description"]} label={t("users")}>
        <For each={props.all.users}>
          {(each) => (
            <tr data-name={each.user_name} classList={{ chosen: each.id === chosen() }}>
              <th scope="row"><button class="link" onClick={() => setChosen(each.id)} title={t("rightsOf", { name: each.user_name })}>{each.user_name}</button></th>
              <td>{groupsOf(each.id).join(", ")}</td>
              <td>{each.user_email}</td>
              <td>{each.user_description}</td>
              <td class="row-actions">
                <Show when={mayChange(each)}>
                  <RowButton icon="edit" action="change" name={t("changeOf", { name: each.user_name })} act={() => props.ask(asks.changeUser(each))} />
                </Show>
                <Show when={mayAdminister("DELETE", "USER_GROUP") && each.id !== ADMIN && each.user_name !== user()}>
                  <RowButton icon="trash" action="remove" name={t("removeTitle", { name: each.user_name })} act={() => props.ask(asks.removal("users", each, each.user_name))} />
                </Show>
              </td>
            </tr>
          )}
        </For>
      </Frame>
      <Show when={shown()} keyed>{(each) => <RightsOf user={each} groups={groupsOf(each.id)} />}</Show>
    </>
  );
}

function Chip(props: { text: string; title?: string; remove?: () => void; name: string }) {
  return (
    <li class="chip" title={props.title}>
      {props.text}
      <Show when={props.remove}>
        {(remove) => (
          <button class="icon-button small" onClick={() => remove()()} aria-label={t("removeTitle", { name: props.name })} title={t("removeTitle", { name: props.name })}>
            <Icon name="close" />
          </button>
        )}
      </Show>
    </li>
  );
}

function GroupCard(props: Part & { group: Group }) {
  const members = () => props.all.belongs.filter((each) => each.group === props.group.id);
  const rights = () => props.all.accesses.filter((each) => each.group === props.group.id);
  const userName = ({ user: id }: Belong) => props.all.users.find((each) => each.id === id)?.user_name ?? id.replace(/^-\d+:/, "");
  const target = ({ target: id }: Access) => props.all.targets.find((each) => each.id === id);
  const rightText = (access: Access) => t("rightOn", { may: permissionText(access.access_permission), target: target(access)?.target_name ?? access.target.replace(/^-\d+:/, "") });
  const rightTitle = (access: Access) => {
    const found = target(access);
    return found && `${graphText(found.target_graph)}: ${resourcesIn(found.target_resources).map(resourceText).join("; ")}`;
  };
  const mayRemove = () => mayAdminister("DELETE", "GRANT");
  const mayAdd = () => mayAdminister("WRITE", "GRANT");
  return (
    <section class="group-card" data-name={props.group.group_name}>
      <header>
        <h2>{props.group.group_name}</h2>
        <span class="quiet">{props.group.group_description}</span>
        <span class="spacer" />
        <Show when={mayAdminister("WRITE", "USER_GROUP")}>
          <RowButton icon="edit" action="change" name={t("changeOf", { name: props.group.group_name })} act={() => props.ask(asks.changeGroup(props.group))} />
        </Show>
        <Show when={mayAdminister("DELETE", "USER_GROUP")}>
          <RowButton icon="trash" action="remove" name={t("removeTitle", { name: props.group.group_name })} act={() => props.ask(asks.removal("groups", props.group, props.group.group_name))} />
        </Show>
      </header>
      <h3>{t("members")}</h3>
      <ul class="chips">
        <For each={members()} fallback={<li class="quiet">{t("noMembers")}</li>}>
          {(each) => <Chip text={userName(each)} name={userName(each)} remove={mayRemove() ? () => props.ask(asks.removal("belongs", each, userName(each))) : undefined} />}
        </For>
        <Show when={mayAdd() && members().length < props.all.users.length}>
          <li><button class="text-button" data-action="add-member" onClick={() => props.ask(asks.newMember(props.group, props.all))}><Icon name="plus" />{t("addMember")}</button></li>
        </Show>
      </ul>
      <h3>{t("rights")}</h3>
      <ul class="chips">
        <For each={rights()} fallback={<li class="quiet">{t("noRights")}</li>}>
          {(each) => <Chip text={rightText(each)} title={rightTitle(each)} name={rightText(each)} remove={mayRemove() ? () => props.ask(asks.removal("accesses", each, rightText(each))) : undefined} />}
        </For>
        <Show when={mayAdd() && props.all.targets.length > 0}>
          <li><button class="text-button" data-action="add-right" onClick={() => props.ask(asks.newAccess(props.group, props.all))}><Icon name="plus" />{t("addRight")}</button></li>
        </Show>
      </ul>
    </section>
  );
}

function Targets(props: Part) {
  return (
    <Frame heads={["name", "graph", "resources"]} label={t("targets")}>
      <For each={props.all.targets} fallback={<tr><td colspan="4" class="quiet">{t("noPastQueries")}</td></tr>}>
        {(each: Target) => (
          <tr data-name={each.target_name}>
            <th scope="row">{each.target_name}</th>
            <td>{each.target_graph || t("ofServer")}</td>
            <td class="wrapped">{resourcesIn(each.target_resources).map(resourceText).join("; ")}</td>
            <td class="row-actions">
              <Show when={mayAdminister("WRITE", "TARGET")}>
                <RowButton icon="edit" action="change" name={t("changeOf", { name: each.target_name })} act={() => props.ask(asks.changeTarget(each))} />
              </Show>
              <Show when={mayAdminister("DELETE", "TARGET")}>
                <RowButton icon="trash" action="remove" name={t("removeTitle", { name: each.target_name })} act={() => props.ask(asks.removal("targets", each, each.target_name))} />
              </Show>
            </td>
          </tr>
        )}
      </For>
    </Frame>
  );
}

const NEW: Record<Tab, [Key, () => Ask, Administered]> = {
  users: ["newUser", asks.newUser, "USER_GROUP"],
  groups: ["newGroup", asks.newGroup, "USER_GROUP"],
  targets: ["newTarget", () => asks.newTarget(graph()), "TARGET"],
};
const HINTS: Record<Tab, Key> = { users: "usersHint", groups: "groupsHint", targets: "targetsHint" };
const TABS: [Tab, Key][] = [["users", "users"], ["groups", "groups"], ["targets", "targets"]];

function Administration() {
  const [all, { refetch }] = createResource(directory);
  const [tab, setTab] = createSignal<Tab>("users");
  const [asked, setAsked] = createSignal<Ask | null>(null);
  void readSchema().catch(() => undefined);
  const done = () => {
    void refetch();
    void rereadRights();
  };
  return (
    <>
      <div class="users-head">
        <Tabs label={t("page_users")} tabs={TABS} chosen={tab()} choose={setTab} />
        <span class="spacer" />
        <Show when={mayAdminister("WRITE", NEW[tab()][2])}>
          <button class="button primary" data-action="new" onClick={() => setAsked(NEW[tab()][1]())}>{t(NEW[tab()][0])}</button>
        </Show>
      </div>
      <p class="quiet">{t(HINTS[tab()])}</p>
      <Show when={!all.error} fallback={<p class="failure" role="alert">{messageOf(all.error)}</p>}>
        <Show when={ready(all)} fallback={<p class="quiet">{t("loading")}</p>}>
          {(found) => (
            <>
              <Show when={tab() === "users"}><Users all={found()} ask={setAsked} /></Show>
              <Show when={tab() === "groups"}>
                <For each={found().groups} fallback={<p class="quiet">{t("noPastQueries")}</p>}>{(each) => <GroupCard group={each} all={found()} ask={setAsked} />}</For>
              </Show>
              <Show when={tab() === "targets"}><Targets all={found()} ask={setAsked} /></Show>
            </>
          )}
        </Show>
      </Show>
      <Show when={asked()} keyed>{(ask) => <AskDialog ask={ask} close={() => setAsked(null)} done={done} />}</Show>
    </>
  );
}

export default function UsersPage() {
  const seesOthers = () => (["USER_GROUP", "GRANT", "TARGET"] as const).some((each) => mayAdminister("READ", each) || mayAdminister("WRITE", each));
  return (
    <div class="page users">
      <div class="page-head">
        <h1>{t("page_users")}</h1>
      </div>
      <Show when={user() === null}>
        <p class="quiet">{t("authOff")}</p>
      </Show>
      <Show
        when={seesOthers()}
        fallback={user() !== null && (
          <section>
            <h2>{t("yourRights")}</h2>
            <p class="quiet">{t("yourRightsHint")}</p>
            <Show when={isAdministrator()} fallback={<Show when={ownRoles()} fallback={<p class="quiet">{t("loading")}</p>}>{(roles) => <Rights roles={roles()} />}</Show>}>
              <p>{t("mayAll")}</p>
            </Show>
          </section>
        )}
      >
        <Administration />
      </Show>
    </div>
  );
}
