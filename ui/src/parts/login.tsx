// Name and password for a server that asks.

import { createSignal, Show } from "solid-js";
import { t } from "../i18n";
import { Failure, logIn, messageOf } from "../core/http";

export function Login(props: { done: () => void }) {
  const [name, setName] = createSignal("");
  const [password, setPassword] = createSignal("");
  const [failure, setFailure] = createSignal("");
  const [busy, setBusy] = createSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await logIn(name(), password());
      setPassword("");
      props.done();
    } catch (error) {
      setFailure(error instanceof Failure && error.status === 401 ? t("loginRefused") : messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="login" onSubmit={(event) => void submit(event)}>
      <h1>{t("login")}</h1>
      <p class="quiet">{t("loginText")}</p>
      <label class="field">
        <span>{t("userName")}</span>
        <input autocomplete="username" required value={name()} onInput={(event) => setName(event.currentTarget.value)} autofocus />
      </label>
      <label class="field">
        <span>{t("password")}</span>
        <input type="password" autocomplete="current-password" required value={password()} onInput={(event) => setPassword(event.currentTarget.value)} />
      </label>
      <Show when={failure()}>
        <p class="field-error" role="alert">{failure()}</p>
      </Show>
      <button class="button primary" disabled={busy()}>
        {t("login")}
      </button>
    </form>
  );
}
