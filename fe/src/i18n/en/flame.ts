import { area } from "../translation";

/** Flame graphs, in any view. */
export const flame = area("flame", {
  role: "flame graph",
  keys: "Arrow keys move between boxes, Enter zooms in, Escape zooms out by one level, Home shows everything.",
  zoom: "Zoom",
  everything: "Everything",
  between: (n: number) => `… ${n} more …`,
  legend: "Colours",
  kinds: {
    frame: "Python",
    builtin: "Python (built-in)",
    module: "Module",
    annotation: "Annotation",
    operator: "Operator",
    device: "Device work",
    communication: "Communication",
    copy: "Copy or fill",
    other: "Other",
    smaller: "Smaller ones, merged",
  },
  found: (n: string, share: string) => `${n} found, ${share} of what is shown`,
  foundNone: "Nothing found in what is shown",
});
