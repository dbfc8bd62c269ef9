/** The views there are, in the order of the rail; the position is the number key. */
export const VIEW_IDS = ["overview", "operators", "kernels"] as const;
export type ViewId = (typeof VIEW_IDS)[number];

export const FIRST_VIEW: ViewId = "overview";

export function isViewId(text: string | undefined): text is ViewId {
  return VIEW_IDS.some((id) => id === text);
}
