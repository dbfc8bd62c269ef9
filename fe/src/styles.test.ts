import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

// Vitest gives no contents of style sheets.
const SHEETS = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".css"))
  .map((file) => [file, readFileSync(join(import.meta.dirname, file), "utf8")] as const);

/** Where a part of another file stands and how large it is there; its custom properties are there to be set. */
const PLACES =
  /^(--|margin|(min-|max-)?(width|height)|flex(-basis)?:|grid-column|(align|justify)-self|inset|top|bottom|left|right|position|display|vertical-align|order|white-space: nowrap)/;

interface Rule {
  readonly selectors: readonly string[];
  readonly declarations: readonly string[];
}

/** The rules of a sheet, also those in at-rules. */
function rulesOf(sheet: string): Rule[] {
  const plain = sheet.replace(/\/\*[\s\S]*?\*\//g, "");
  return [...plain.matchAll(/([^{};]+)\{([^{}]*)\}/g)].map(([, selectors = "", body = ""]) => ({
    selectors: selectors.split(/,(?![^()]*\))/).map((each) => each.trim()),
    declarations: body
      .split(";")
      .map((each) => each.trim())
      .filter(Boolean),
  }));
}

/** The class that a selector is about: the first one of what it ends with; further ones are its states. */
function subjectOf(selector: string): string | undefined {
  let bare = selector.replace(/\[[^\]]*\]/g, "");
  while (/\([^()]*\)/.test(bare)) bare = bare.replace(/\([^()]*\)/g, "");
  const last = bare.split(/[\s>+~]+/).at(-1) ?? "";
  return /^[^.:]*\.([\w-]+)/.exec(last)?.[1];
}

it("styles a class in one file; others may say where it stands", () => {
  const files = new Map<string, Set<string>>();
  for (const [file, sheet] of SHEETS)
    for (const { selectors, declarations } of rulesOf(sheet))
      if (!declarations.every((each) => PLACES.test(each)))
        for (const name of selectors.flatMap((each) => subjectOf(each) ?? []))
          files.set(name, (files.get(name) ?? new Set()).add(file));
  const several = [...files].filter(([, { size }]) => size > 1);
  expect(several.map(([name, of]) => [name, ...of])).toEqual([]);
});

it("has gaps, fonts and layers from the theme", () => {
  const own = SHEETS.flatMap(([file, sheet]) =>
    rulesOf(sheet)
      .flatMap(({ declarations }) => declarations)
      .filter((each) =>
        /^((row-|column-)?gap:.*\dpx|font(-size)?: (?!clamp).*\dpx|z-index: \d)/.test(each),
      )
      .map((each) => `${file}: ${each}`),
  );
  expect(own).toEqual([]);
});
