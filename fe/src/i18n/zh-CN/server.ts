import { texts } from "./serverTexts";

/** What the server writes before them in a comparison, and what stands for it here. */
const SIDES = [
  ["Baseline ", "基线 "],
  ["Experiment ", "实验 "],
  ["Δ ", "Δ "],
  ["Baseline: ", "基线："],
  ["Experiment: ", "实验："],
  ["Experiment − baseline: ", "实验 − 基线："],
] as const;

/**
 * What the server says in English and always in the same words: labels and definitions of columns. Found by the English
 * text, so that one that has changed is shown in English and not wrongly.
 */
export const server: Record<string, string> = {
  ...texts,
  ...Object.fromEntries(
    SIDES.flatMap(([side, ours]) =>
      Object.entries(texts).map(([text, translated]) => [side + text, ours + translated]),
    ),
  ),
};
