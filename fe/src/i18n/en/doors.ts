import { counted } from "../counted";
import { area } from "../translation";

/** What a number is made of, and where that is. */
export const doors = area("doors", {
  title: (category: string) => `What it is made of: ${category}`,
  titleOfStep: (category: string, step: string) =>
    `What it is made of: ${category} of step ${step}`,
  close: "Close",
  total: (time: string, names: string) =>
    `${time} in all steps shown, ${names}. Click an operator or kernel to see its row, a time to see it in the Trace view.`,
  names: (n: string) => (n === "1" ? "one name" : `${n} names`),
  nothing: "Nothing of this category is in these steps.",
  parts: "By name",
  stretches: "Longest intervals",
  name: "Name",
  time: "Time",
  share: "Share",
  count: "Intervals",
  longest: "Longest",
  step: "Step",
  unknown: "not recorded",
  more: (n: string) => `and ${counted(n, "more name")}`,
  open: (label: string, where: string) => `${label}: show in ${where}`,
  inTrace: (label: string, view: string) => `Show the longest of ${label} in ${view}`,
});
