// The user's own account: password, tokens for programs, and the way out.

import { createResource, createSignal, For, Show } from "solid-js";
import { language, t } from "../i18n";
import { call, messageOf, user } from "../core/http";
import { ready } from "../core/resource";
import { secondsOf } from "../core/text";
import { Dialog } from "./dialog";

interface Token {
  id: string;
  token_name: string;
  /** In UTC, without saying so. */
  token_end?: string | null;
}

export default function Account(props: { close: () => void; logOut: () => void }) {
  const [tokens, { refetch }] = createResource(async () => (await call<{ tokens: Token[] }>("/auth/tokens")).tokens);
  const [password, setPassword] = createSignal("");
  const [again, setAgain] = createSignal("");
  const [name, setName] = createSignal("");
  const [days, setDays] = createSignal("90");
  const [isReader, setReader] = createSignal(true);
  const [made, setMade] = createSignal("");
  const [failure, setFailure] = createSignal("");
  const during = async (work: () => Promise<unknown>) => {
    try {
      setFailure("");
      await work();
    } catch (error) {
      setFailure(messageOf(error));
    }
  };
  const change = () => during(async () => {
    if (password() !== again()) return setFailure(t("passwordsDiffer"));
    await call(`/auth/users/${encodeURIComponent(`-30:${user() ?? ""}`)}`, { method: "PUT", body: { user_password: password() } });
    props.close();
    // A new password ends the session.
    props.logOut();
    return undefined;
  });
  const create = () => during(async () => {
    const seconds = secondsOf(days());
    if (seconds === null) return setFailure(t("tokenDaysWrong"));
    const expire = seconds === undefined ? {} : { token_expire: seconds };
    const { graphs } = await call<{ graphs: string[] }>("/graphs");
    const answer = await call<{ token: string }>("/auth/tokens", {
      method: "POST", body: { token_name: name(), ...expire, ...(isReader() ? { token_reads_only: true, token_graphs: graphs } : {}) },
    });
    setMade(answer.token);
    setName("");
    await refetch();
    return undefined;
  });
  const when = (value: string | null | undefined) => (value ? new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeZone: "UTC" }).format(new Date(`${value.replace(" ", "T")}Z`)) : "–");
  return (
    <Dialog title={t("accountOf", { name: user() ?? "" })} close={props.close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void change();
        }}
      >
        <h3>{t("newPassword")}</h3>
        <div class="two-columns">
          <label class="field">
            <span>{t("newPassword")}</span>
            <input type="password" name="password" autocomplete="new-password" required value={password()} onInput={(event) => setPassword(event.currentTarget.value)} />
          </label>
          <label class="field">
            <span>{t("passwordAgain")}</span>
            <input type="password" name="again" autocomplete="new-password" required value={again()} onInput={(event) => setAgain(event.currentTarget.value)} />
          </label>
        </div>
        <p class="quiet">{t("passwordHint")}</p>
        <button class="button">{t("changePassword")}</button>
      </form>
      <h3>{t("apiTokens")}</h3>
      <p class="quiet">{t("apiTokensHint")}</p>
      <ul class="scenes">
        <For each={ready(tokens)} fallback={<li class="quiet">{tokens.error ? messageOf(tokens.error) : t(tokens.loading ? "loading" : "noTokens")}</li>}>
          {(token) => (
            <li>
              <strong data-token={token.token_name}>{token.token_name}</strong>
              <span class="quiet">{t("tokenEnds", { ends: when(token.token_end) })}</span>
              <span class="spacer" />
              <button class="text-button" onClick={() => void during(async () => { await call(`/auth/tokens/${encodeURIComponent(token.id)}`, { method: "DELETE" }); await refetch(); })}>
                {t("revoke")}
              </button>
            </li>
          )}
        </For>
      </ul>
      <form
        class="token-new"
        onSubmit={(event) => {
          event.preventDefault();
          if (name().trim()) void create();
        }}
      >
        <div class="two-columns">
          <label class="field"><span>{t("name")}</span><input name="token" value={name()} maxlength="60" onInput={(event) => setName(event.currentTarget.value)} /></label>
          <label class="field"><span>{t("tokenDays")}</span><input name="days" inputmode="numeric" value={days()} onInput={(event) => setDays(event.currentTarget.value)} /></label>
        </div>
        <label class="check"><input type="checkbox" checked={isReader()} onChange={(event) => setReader(event.currentTarget.checked)} />{t("tokenReadsOnly")}</label>
        <button class="button" data-action="new-token">{t("newToken")}</button>
      </form>
      <Show when={made()}>
        {(token) => (
          <label class="field" role="status">
            <span>{t("tokenOnce")}</span>
            <input class="mono" name="made" readonly value={token()} onFocus={(event) => event.currentTarget.select()} />
          </label>
        )}
      </Show>
      <Show when={failure()}><p class="failure" role="alert">{failure()}</p></Show>
      <div class="dialog-actions">
        <button class="button" onClick={() => props.close()}>{t("close")}</button>
        <button
          class="button primary"
          data-action="log-out"
          onClick={() => {
            props.close();
            props.logOut();
          }}
        >
          {t("logOut")}
        </button>
      </div>
    </Dialog>
  );
}
