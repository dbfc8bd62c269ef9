import { parseSync } from "vite";
import { describe, expect, it } from "vitest";
import { allViews, page } from "../state";
import type { ParamSet } from "../state/address";

const SOURCES = import.meta.glob<string>("../**/*.{ts,tsx}", {
  query: "?raw",
  import: "default",
  eager: true,
});

const VIEWS = allViews().flatMap(({ id, params }) => (params ? [{ id, params }] : []));
const ALL: readonly { id: string; params: ParamSet }[] = [{ id: "page", params: page }, ...VIEWS];
const EACH = ALL.flatMap(({ id, params }) =>
  Object.entries(params).map(([name, param]) => ({ of: `${id}.${name}`, param })),
);

/**
 * Letters as links have had them since they exist. A letter that is here may not come to mean something else: old links
 * would show something that nobody asked for.
 */
const LETTERS: Readonly<Record<string, string>> = {
  page: "b k r s sel sp sr st v z",
  overview: "f m u x y",
  steps: "c m o q t y",
  criticalpath: "g m n o o2 q q2 t w",
  operators: "c g m n o o2 q q2 w",
  kernels: "c g n o q",
  roofline: "g o q",
  program: "c f g m o q x",
  trace: "a c d e f from g h i j l m mark mem n o o2 p q q2 t u w x y",
  stacks: "c f g m o p q t w x",
  memory: "c d g m o q t x",
  snapshot: "c d g m o p q t u x y",
  distributed: "c d f g h m o o2 o3 o4 o5 o6 p q q2 q3 q4 q5 q6 t x",
  modules: "f g m o q x",
  lightning: "f g m o q x",
  query: "m o q x",
  compare: "a c d f g h m n o o2 o3 o4 o5 p q q2 q3 q4 q5 x",
};

describe("parameters of the address", () => {
  it("have the letters that links have had", () => {
    const letters = ALL.map(({ id, params }) => [
      id,
      Object.values(params)
        .map(({ key }) => key)
        .sort()
        .join(" "),
    ]);
    expect(Object.fromEntries(letters)).toEqual(LETTERS);
  });

  it.each(VIEWS)("of $id: no letter twice, and none of the page", ({ params }) => {
    const keys = [...Object.values(page), ...Object.values(params)].map(({ key }) => key);
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
  });

  // A type cannot say that something is used.
  it("are each read by some component", () => {
    const unread = ALL.flatMap(({ id, params }) => {
      const folder = id === "page" ? "" : `./${id === "lightning" ? "modules" : id}/`;
      const object = id === "page" ? "page" : "params";
      const read = new Set<string>();
      for (const [path, source] of Object.entries(SOURCES))
        if (path.startsWith(folder) && !path.includes(".test.") && source.includes(`${object}.`))
          addMembers(parseSync(path, source).program, object, read);
      return Object.keys(params)
        .filter((name) => !read.has(name))
        .map((name) => `${id}.${name}`);
    });
    expect(unread).toEqual([]);
  });
});

/** Adds the names of the members of an object that a program mentions. */
function addMembers(node: object, object: string, into: Set<string>): void {
  const { type, object: of, property } = node as Record<string, { name?: string } | string>;
  if (type === "MemberExpression" && typeof of === "object" && of.name === object) {
    if (typeof property === "object") into.add(property.name ?? "");
    return;
  }
  for (const part of Object.values(node))
    if (typeof part === "object" && part !== null) addMembers(part, object, into);
}

/** The same texts in every run. */
function* random(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    yield state / 2 ** 32;
  }
}

const PIECES =
  "0 1 7 12 007 999999 123456789012345 9999999999999999 - ~ , % %2C %25 m : . a B ä 中 < op: longest: all none absolute percent name name_shape duration_ns device host regex off time rank slowest run many two step events".split(
    " ",
  );

/** Arbitrary addresses: meaningful pieces in any combination. */
function texts(count: number): string[] {
  const next = random(20_260_101);
  const draw = (n: number) => Math.floor(next.next().value * n);
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + draw(5) }, () => PIECES[draw(PIECES.length)]).join(""),
  );
}

describe("the codec", () => {
  const written = [...PIECES, ...texts(3_000)];

  it.each(EACH)("of $of reads back what it writes", ({ param }) => {
    for (const text of ["", ...written]) {
      const value = param.parse(text);
      const again = param.format(value);
      expect(param.parse(again), text).toEqual(value);
      expect(param.format(param.parse(again)), text).toBe(again);
    }
  });

  it.each(EACH)("of $of never writes its default", ({ param }) => {
    expect(param.format(param.parse(""))).toBe("");
  });
});
