import { defineConfig } from "vite";
import solid from "vite-plugin-solid";
import { finish } from "./build/finish";

export default defineConfig({
  base: "/ui/",
  plugins: [solid(), finish()],
  worker: { format: "es" },
  build: {
    target: "es2022",
    // The policy allows no data: in scripts and styles, and inline modules would be inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
