// Prints a stack trace of the page with places in its sources: `make ui-maps`, then `node fe/stack.mjs < trace.txt`.
import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";

const MAPS = new URL("../build/maps/", import.meta.url);
const PLACE = /[^\s(@]*?\/((?:assets\/)?[\w.-]+\.js):(\d+):(\d+)/g;

const text = readFileSync(0, "utf8").replace(PLACE, (place, file, line, column) => {
  const map = new URL(`${file}.map`, MAPS);
  if (!existsSync(map)) return place;
  const { originalSource, originalLine, originalColumn } = new SourceMap(
    JSON.parse(readFileSync(map, "utf8")),
  ).findEntry(line - 1, column - 1);
  if (originalSource === undefined) return place;
  return `${originalSource.replace(/^(\.\.\/)+/, "")}:${originalLine + 1}:${originalColumn + 1}`;
});
process.stdout.write(text);
