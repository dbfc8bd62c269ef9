/** How steps are to be found, as the address says it. Pure. */
import type { StepChoice } from "../api";
import type { Dropped } from "./resolve";

/** The server's rules, in the order in which it tries them. */
export const STEP_RULES = [
  "profiler_step",
  "inference_engine",
  "training_framework",
  "repeated_annotation",
  "optimizer",
  "repeated_module",
  "repeated_kernels",
  "whole_trace",
] as const;
type StepRule = (typeof STEP_RULES)[number];

function isStepRule(text: string | undefined): text is StepRule {
  return STEP_RULES.some((rule) => rule === text);
}

/** A pattern wins over a rule. What cannot be meant is left out, so that the views still show something. */
export function stepChoice(
  rule: string | null,
  pattern: string | null,
): { choice: StepChoice; dropped: Dropped[] } {
  if (pattern !== null) {
    return patternError(pattern) === null
      ? { choice: { step_pattern: pattern }, dropped: [] }
      : { choice: {}, dropped: [{ kind: "pattern", value: pattern }] };
  }
  if (rule === null) return { choice: {}, dropped: [] };
  return isStepRule(rule)
    ? { choice: { steps: rule }, dropped: [] }
    : { choice: {}, dropped: [{ kind: "rule", value: rule }] };
}

/** What Python's regular expressions have and ours do not, put into what ours understand. */
const PYTHON_ONLY: readonly [RegExp, string][] = [
  [/\(\?#[^)]*\)/g, ""],
  [/^\(\?[aiLmsux]+\)/, ""],
  [/\(\?[aiLmsux]*(?:-[imsx]+)?:/g, "(?:"],
  [/\(\?>/g, "(?:"],
  [/\(\?P=(\w+)\)/g, "\\k<$1>"],
  [/\(\?P</g, "(?<"],
  [/\(\?\(\w+\)/g, "(?:"],
  [/([*+?}])\+/g, "$1"],
];

/**
 * What is wrong with a pattern, or null. The server has the last word: its regular expressions are
 * Python's, and this only finds what is wrong in both.
 */
export function patternError(text: string): string | null {
  const ours = PYTHON_ONLY.reduce((pattern, [python, js]) => pattern.replace(python, js), text);
  try {
    new RegExp(ours);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // "Invalid regular expression: /(/: Unterminated group": what is wrong comes last.
    return message.slice(message.lastIndexOf(": ") + 1).trim();
  }
}
