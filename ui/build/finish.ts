// After the bundle is written: the licences of what is in it, every file compressed, and the size
// limits.

import { readdirSync, readFileSync, statSync, writeFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** gzip bytes of all files together, and of what the first page loads before it shows something. */
const LIMITS = { all: 400_000, first: 60_000 };

/** The folder of the package that a module belongs to, by its path in node_modules. */
function packageOf(module: string): string | undefined {
  const end = module.lastIndexOf("node_modules/");
  if (end < 0) return undefined;
  const parts = module.slice(end + "node_modules/".length).split("/");
  const name = parts[0]?.startsWith("@") ? `${parts[0]}/${parts[1]}` : parts[0];
  return module.slice(0, end) + "node_modules/" + name;
}

function licenceOf(folder: string): string {
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  const text = file ? readFileSync(join(folder, file), "utf8").trim() : "(no licence file in the package)";
  return `${about.name} ${about.version}\nLicence: ${about.license}\n\n${text}\n`;
}

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

export function finish(): Plugin {
  const packages = new Set<string>();
  let first: string[] = [];
  let root = "";
  return {
    name: "varve-finish",
    apply: "build",
    configResolved(config) {
      root = join(config.root, config.build.outDir);
    },
    moduleParsed(module) {
      const folder = packageOf(module.id.replace(/\0/g, "").split("?")[0] ?? "");
      if (folder && existsSync(join(folder, "package.json"))) packages.add(folder);
    },
    writeBundle(_, bundle) {
      const entry = Object.values(bundle).find((chunk) => chunk.type === "chunk" && chunk.isEntry);
      if (entry?.type !== "chunk") throw new Error("the bundle has no entry");
      const styles = [...(entry.viteMetadata?.importedCss ?? [])];
      first = ["index.html", entry.fileName, ...entry.imports, ...styles];
    },
    closeBundle() {
      const text = [...packages].sort().map(licenceOf).join(`\n${"-".repeat(80)}\n\n`);
      writeFileSync(join(root, "licenses.txt"), text);
      const sizes = new Map<string, number>();
      for (const file of files(root)) {
        const plain = readFileSync(file);
        const gzip = gzipSync(plain, { level: 9 });
        writeFileSync(`${file}.gz`, gzip);
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(`${file}.br`, brotliCompressSync(plain, { params: quality }));
        sizes.set(file.slice(root.length + 1), gzip.length);
      }
      const sum = (names: Iterable<string>) => [...names].reduce((all, name) => all + (sizes.get(name) ?? 0), 0);
      const found = { all: sum(sizes.keys()), first: sum(first) };
      console.log(`explorer: ${found.all} bytes of gzip in all, ${found.first} for the first page`);
      for (const what of ["all", "first"] as const) {
        if (found[what] > LIMITS[what]) throw new Error(`${what}: ${found[what]} bytes of gzip, at most ${LIMITS[what]}`);
      }
      if (statSync(join(root, "index.html")).size > 4096) throw new Error("index.html has grown: no inline code");
    },
  };
}
