// The frame around all pages: rail, top bar, login.

import { createEffect, createSignal, For, lazy, onMount, Show, Suspense } from "solid-js";
import { Dynamic } from "solid-js/web";
import { Icon } from "./parts/icon";
import { Help } from "./parts/help";
import { Login } from "./parts/login";
import { language, setLanguage, t, type Key } from "./i18n";
import { Failure, logOut, loginAsked, messageOf, reachable, resume, user } from "./core/http";
import { go, hrefOf, route, type Page } from "./core/route";
import { isDark, setTheme, singleKeys, theme, type Theme } from "./core/prefs";
import { graph, graphs, hasMetadata, setGraph, start, versions } from "./core/server";

const pages = {
  explore: lazy(() => import("./explore/page")),
  query: lazy(() => import("./query/page")),
  schema: lazy(() => import("./schema/page")),
  load: lazy(() => import("./load/page")),
  metadata: lazy(() => import("./metadata/page")),
  tasks: lazy(() => import("./tasks/page")),
  monitor: lazy(() => import("./monitor/page")),
  users: lazy(() => import("./users/page")),
  api: lazy(() => import("./api/page")),
} satisfies Partial<Record<Page, unknown>>;

const Account = lazy(() => import("./parts/account"));

type Known = keyof typeof pages;

const RAIL = Object.keys(pages) as Known[];

function known(page: Page): Known {
  return RAIL.find((name) => name === page) ?? "explore";
}

function Rail() {
  return (
    <nav class="rail" aria-label={t("pages")}>
      <For each={RAIL.filter((page) => (page !== "metadata" || hasMetadata()) && (page !== "users" || user() !== null))}>
        {(page) => (
          <a href={hrefOf(page)} aria-current={route().page === page ? "page" : undefined} title={t(`page_${page}`)}>
            <Icon name={page} />
            <span>{t(`page_${page}`)}</span>
          </a>
        )}
      </For>
    </nav>
  );
}

const THEMES: Record<Theme, { next: Theme; icon: "auto" | "sun" | "moon"; key: Key }> = {
  auto: { next: "light", icon: "auto", key: "themeAuto" },
  light: { next: "dark", icon: "sun", key: "themeLight" },
  dark: { next: "auto", icon: "moon", key: "themeDark" },
};

function TopBar(props: { help: () => void; account: () => void }) {
  const look = () => THEMES[theme()];
  return (
    <header class="top">
      <a class="brand" href={hrefOf("explore")} aria-label="Varve">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d="M5 11c4-3 7-3 11 0s7 3 11 0M5 17c4-3 7-3 11 0s7 3 11 0M5 23c4-3 7-3 11 0s7 3 11 0" />
        </svg>
        <span>Varve</span>
      </a>
      <Show when={graphs().length}>
        <label class="graph-choice">
          <span>{t("graph")}</span>
          <select aria-label={t("graph")} value={graph()} onChange={(event) => setGraph(event.currentTarget.value)}>
            <For each={graphs()}>{(name) => <option value={name}>{name}</option>}</For>
          </select>
        </label>
      </Show>
      <span class="spacer" />
      <button class="icon-button" onClick={() => props.help()} title={t("help")} aria-label={t("help")}>
        <Icon name="keyboard" />
      </button>
      <button
        class="text-button"
        data-action="language"
        onClick={() => void setLanguage(language() === "en" ? "zh" : "en")}
        aria-label={t("switchLanguage")}
        title={t("switchLanguage")}
      >
        <Icon name="language" />
        <span class="wide-only" lang={language() === "en" ? "zh" : "en"}>{language() === "en" ? "中文" : "English"}</span>
      </button>
      <button class="icon-button" data-action="theme" onClick={() => setTheme(look().next)} title={t(look().key)} aria-label={t(look().key)}>
        <Icon name={look().icon} />
      </button>
      <Show when={user()}>
        {(name) => (
          <button class="text-button" onClick={() => props.account()} title={t("account")} aria-haspopup="dialog">
            <Icon name="user" />
            <span class="wide-only">{name()}</span>
          </button>
        )}
      </Show>
    </header>
  );
}

function Content() {
  return (
    <Suspense fallback={<p class="quiet loading">{t("loading")}</p>}>
      <Dynamic component={pages[known(route().page)]} />
    </Suspense>
  );
}

function listenForPages(help: () => void): void {
  let waiting = false;
  addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement | null;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !singleKeys()) return;
    if (target?.matches("input,textarea,select,[contenteditable]") || target?.shadowRoot) return;
    if (waiting) {
      waiting = false;
      const page = RAIL.find((name) => name.startsWith(event.key));
      if (page) go(page);
      return;
    }
    if (event.key === "?") help();
    if (event.key === "g") waiting = true;
  });
}

export function App() {
  const [ready, setReady] = createSignal(false);
  const [failure, setFailure] = createSignal("");
  const [help, setHelp] = createSignal(false);
  const [account, setAccount] = createSignal(false);
  const begin = async () => {
    try {
      const text = route().parameters.get("s");
      const named = route().parameters.get("g") ?? undefined;
      const wanted = text ? await (await import("./core/link")).graphOfLink(text) : named;
      await resume();
      await start(wanted);
      setReady(true);
      setFailure("");
    } catch (error) {
      if (!(error instanceof Failure && error.status === 401)) setFailure(messageOf(error));
    }
  };
  const end = async () => {
    setFailure("");
    try {
      await logOut();
    } catch (error) {
      // The server asks for a login where the session has ended already.
      if (!loginAsked()) setFailure(t("stillLoggedIn", { why: messageOf(error) }));
    }
  };
  onMount(() => {
    void begin();
    listenForPages(() => setHelp(true));
  });
  createEffect(() => {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  });
  createEffect(() => {
    document.title = `${t(`page_${route().page}`)} · Varve`;
  });
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>
        {t("skip")}
      </a>
      <TopBar help={() => setHelp(true)} account={() => setAccount(true)} />
      <Rail />
      <main id="main" tabindex="-1">
        <Show when={!reachable()}>
          <p class="offline" role="alert">
            {t("unreachable")}{" "}
            <button class="text-button" onClick={() => void begin()}>{t("tryAgain")}</button>
          </p>
        </Show>
        <Show when={failure() && reachable()}>
          <p class="offline" role="alert">{failure()}</p>
        </Show>
        <Show when={!loginAsked()} fallback={<Login done={() => void begin()} />}>
          <Show when={ready()} fallback={<p class="quiet loading">{t("loading")}</p>}>
            <Show when={graph()} fallback={<p class="quiet loading">{t("noGraphs")}</p>}>
              <Content />
            </Show>
          </Show>
        </Show>
      </main>
      <Show when={account()}>
        <Suspense>
          <Account close={() => setAccount(false)} logOut={() => void end()} />
        </Suspense>
      </Show>
      <Show when={help()}>
        <Help close={() => setHelp(false)} version={versions()} />
      </Show>
    </>
  );
}
