import { render } from "solid-js/web";
import { App } from "./app";
import { startLanguage } from "./i18n";
import "./styles/base.css";
import "./styles/explore.css";
import "./styles/query.css";
import "./styles/schema.css";
import "./styles/monitor.css";
import "./styles/load.css";
import "./styles/metadata.css";
import "./styles/users.css";

const root = document.getElementById("app");
if (root) void startLanguage().then(() => render(() => <App />, root));
