/**
 * The notices of the packages whose code is in the built UI: their licences ask that copies carry them.
 *
 * As the module `virtual:licences`, which the page shows and a report has with all others, and as a file of the wheel.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const MODULE = "virtual:licences";
const RESOLVED = `\0${MODULE}`;
const HERE = fileURLToPath(new URL(".", import.meta.url));
/** Packages of types only, whose code is nowhere in the UI. */
const TYPES = /node_modules\/(@types\/.*|csstype)$/;

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
  optional?: boolean;
}

/** Name, version, licence and its text, for each package. Throws when one has no text. */
export function licences(): string {
  const lock = JSON.parse(readFileSync(`${HERE}package-lock.json`, "utf8")) as {
    packages: Record<string, Locked>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { dev, optional }]) => path !== "" && !dev && !optional && !TYPES.test(path))
    .map(([path, { version, license }]) => {
      const name = path.replace(/^.*node_modules\//, "");
      return `${name} ${version} (${license})\n\n${textsOf(`${HERE}${path}`, name)}`;
    })
    .join(`\n\n${"-".repeat(80)}\n\n`);
}

/** What a package says of its licence: the files that licences ask to be kept. */
function textsOf(folder: string, name: string): string {
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  const kept = files.filter((file) => /^(licen[cs]e|notice|copying)(\.(md|txt))?$/i.test(file));
  if (kept.length === 0) throw new Error(`${name} has no licence in node_modules: run npm ci`);
  return kept.map((file) => readFileSync(`${folder}/${file}`, "utf8").trim()).join("\n\n");
}

export function licencesPlugin(): Plugin {
  return {
    name: "licences",
    resolveId: (id) => (id === MODULE ? RESOLVED : null),
    load: (id) => (id === RESOLVED ? `export default ${JSON.stringify(licences())};` : null),
    generateBundle() {
      const source = `${licences()}\n`;
      this.emitFile({ type: "asset", fileName: "THIRD_PARTY_NOTICES.txt", source });
    },
  };
}
