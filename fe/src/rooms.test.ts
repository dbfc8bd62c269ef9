import { parseSync } from "vite";
import { describe, expect, it } from "vitest";

/** What each folder of `src` may import, besides itself. Views may import everything but each other. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  host: [],
  // and the sentences of the server in Chinese
  i18n: ["host", "torch_tb_profiler"],
  format: ["i18n"],
  api: ["i18n", "format"],
  state: ["host", "i18n", "format", "api"],
  draw: ["host", "i18n", "format"],
  ui: ["host", "i18n", "format", "api", "draw"],
  table: ["host", "i18n", "format", "api", "draw", "ui"],
  charts: ["host", "i18n", "format", "draw", "ui"],
  timeline: ["host", "i18n", "format", "api", "draw", "ui"],
  shell: ["host", "i18n", "format", "api", "state", "draw", "ui", "table"],
  answers: ["host", "i18n", "format", "api", "state", "draw", "ui", "table", "charts", "shell"],
};
const ROOMS = Object.keys(MAY_IMPORT);

const SOURCES = import.meta.glob<string>("./**/*.{ts,tsx}", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** What a module names in imports and exports, as the bundler reads it. */
function importsOf(file: string, source: string): string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
  return [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start + 1, end - 1)),
  ].filter((target) => target.startsWith("."));
}

/** `views/x` for a view; "" for the doors and what joins the rooms. */
function roomOf(path: string): string {
  const [room = "", view = "", ...rest] = path.split("/");
  if (room !== "views") return view === "" ? "" : room;
  return rest.length > 0 ? `views/${view}` : "";
}

/** The path of an import, from `src`. */
function pathOf(file: string, target: string): string {
  const parts = file.split("/").slice(0, -1);
  for (const part of target.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** Rooms that a file imports, but must not. */
function forbidden(file: string, source: string): string[] {
  const room = roomOf(file);
  if (room === "") return [];
  const allowed = room.startsWith("views/") ? ROOMS : (MAY_IMPORT[room] ?? []);
  return importsOf(file, source)
    .map((target) => {
      const path = pathOf(file, target);
      // The door of a room is the room.
      return ROOMS.includes(path) ? path : roomOf(path.startsWith("views/") ? `${path}/` : path);
    })
    .filter((other) => other !== room && !allowed.includes(other));
}

describe("imports between rooms", () => {
  const files = Object.entries(SOURCES).map(([path, source]) => ({ path: path.slice(2), source }));

  it("go downwards only", () => {
    expect(files.length).toBeGreaterThan(300);
    const wrong = files.flatMap(({ path, source }) =>
      forbidden(path, source).map((room) => `${path} → ${room === "" ? "src" : room}`),
    );
    expect(wrong).toEqual([]);
  });

  it("know every room", () => {
    const rooms = new Set(files.map(({ path }) => roomOf(path)).filter((room) => room !== ""));
    expect([...rooms].filter((room) => !room.startsWith("views/")).sort()).toEqual(
      ROOMS.toSorted(),
    );
  });

  it.each([
    ["ui/Panel.tsx", 'import { useTrace } from "../state";', ["state"]],
    ["shell/Shell.tsx", 'import { VIEWS } from "../views/registry";', ["views/registry"]],
    ["views/a/index.tsx", 'import { b } from "../b/columns";', ["views/b"]],
    ["views/a/index.tsx", 'const b = import("../b");', ["views/b"]],
    ["views/a/parts/x.ts", 'import { y } from "../y"; import { t } from "../../../i18n";', []],
    ["charts/flame/Flame.tsx", 'import { useTree } from "../../table/tree";', ["table"]],
    ["timeline/tip.ts", 'export { PointerTip } from "../draw";', []],
  ])("of %s: %s", (file, source, expected) => {
    expect(forbidden(file, source)).toEqual(expected);
  });
});
