/** The views there are, in the order of the rail; the position is the number key. */
export const VIEW_IDS = ["overview", "operators", "kernels", "capture"] as const;
export type ViewId = (typeof VIEW_IDS)[number];

export type GroupId = "summary" | "time" | "about";

/** The same views by what they are about. */
export const VIEW_GROUPS: readonly { id: GroupId; views: readonly ViewId[] }[] = [
  { id: "summary", views: ["overview"] },
  { id: "time", views: ["operators", "kernels"] },
  { id: "about", views: ["capture"] },
];

export const FIRST_VIEW: ViewId = "overview";

export function isViewId(text: string | undefined): text is ViewId {
  return VIEW_IDS.some((id) => id === text);
}
