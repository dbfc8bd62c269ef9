/** The views there are, in the order of the rail; the position is the number key. */
export const VIEW_IDS = [
  "overview",
  "steps",
  "operators",
  "kernels",
  "trace",
  "stacks",
  "memory",
  "distributed",
  "modules",
  "lightning",
  "compare",
  "capture",
] as const;
export type ViewId = (typeof VIEW_IDS)[number];

/** The letter that goes there after `g`. */
export const JUMP_KEYS: Readonly<Record<ViewId, string>> = {
  overview: "o",
  steps: "s",
  operators: "p",
  kernels: "k",
  trace: "t",
  stacks: "f",
  memory: "m",
  distributed: "d",
  modules: "n",
  lightning: "l",
  compare: "v",
  capture: "c",
};

export type GroupId = "summary" | "time" | "memory" | "ranks" | "program" | "compare" | "about";

/** The same views by what they are about. */
export const VIEW_GROUPS: readonly { id: GroupId; views: readonly ViewId[] }[] = [
  { id: "summary", views: ["overview", "steps"] },
  { id: "time", views: ["operators", "kernels", "trace", "stacks"] },
  { id: "memory", views: ["memory"] },
  { id: "ranks", views: ["distributed"] },
  { id: "program", views: ["modules", "lightning"] },
  { id: "compare", views: ["compare"] },
  { id: "about", views: ["capture"] },
];

export const FIRST_VIEW: ViewId = "overview";

export function isViewId(text: string | undefined): text is ViewId {
  return VIEW_IDS.some((id) => id === text);
}
