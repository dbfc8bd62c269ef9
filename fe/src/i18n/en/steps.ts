import { area } from "../translation";

export const steps = area("steps", {
  chart: "Time of each step",
  chartHelp:
    "The wall time of each step by category, as in the overview: the categories add up to the step. A triangle marks an outlier. Drag over the chart to zoom in.",
  sentence: (n: string, median: string, longest: string, time: string, because: string) =>
    n === "1"
      ? `The step takes ${time}.`
      : `The median of ${n} steps is ${median}; the longest, step ${longest}, takes ${time}${because ? ` (${because})` : ""}.`,
  step: "Step",
  what: "steps",
  mode: "Scale",
  absolute: "Absolute",
  percent: "Percent",
  order: "Order",
  byTime: "Time",
  byDuration: "Duration",

  histogram: "Distribution of step times",
  histogramHelp: (width: string) =>
    `How many steps take how long; a bar is ${width} wide. Steps far above the median share the last bar. Click a bar to see its steps in the chart, ordered by duration.`,
  histogramFrom: "Time from",
  usualSteps: "Usual steps",

  tiles: {
    count: "Steps",
    countHelp: "Steps that are shown.",
    median: "Median",
    medianHelp:
      "Half of the steps are longer, half are shorter. A click selects the step nearest to it.",
    p95: "p95",
    p95Help: "95 of 100 steps are shorter. A click selects the step nearest to it.",
    min: "Min",
    minHelp: "Duration of the shortest step.",
    maxHelp: "Duration of the longest step.",
    max: "Max",
    outliers: "Outliers",
    lost: (time: string, share: string) => `${time} lost, ${share} of all steps`,
    none: "no outlier",
    few: "needs three steps or more",
    ofStep: (name: string) => `step ${name}`,
    spread: (share: string) => `${share} above the median`,
  },

  outliers: "Outliers",
  outliersHelp: (deviations: string, least: string) =>
    `A step is an outlier when it takes longer than median + the larger of ${deviations} × 1.4826 × MAD and ${least} of the median. MAD is the median of the distances from the median. The category next to it is the one that exceeds its own median over all steps by most.`,
  outliersShort: (n: string, limit: string) =>
    n === "1" ? `1 step took longer than ${limit}` : `${n} steps took longer than ${limit}`,
  outliersMore: (n: string) => `${n} more in the table`,
  noOutliers: (limit: string, least: string, most: string) =>
    `No outlier: the steps take ${least} to ${most}, and one of more than ${limit} would be an outlier.`,
  tooFew: "With fewer than three steps there is no usual step to compare with.",
  because: (category: string, time: string) => `${category} +${time}`,
  longer: (time: string, share: string) => `+${time} (${share})`,

  table: "Steps",
  tableShown: (n: string, all: string) =>
    `The ${n} of ${all} steps that the chart shows. Show all steps again with “Show all” there.`,
  columns: {
    kind: "Kind",
    delta: "Δ to median",
    deltaHelp: "Duration − median duration of all steps.",
    deltaPercent: "Δ %",
    deltaPercentHelp: "Duration ÷ median duration of all steps − 1.",
    outlier: "Outlier",
    outlierHelp:
      "For outliers, the category that exceeds its own median the most. See the panel of outliers for the definition.",
    percent: (category: string) => `${category} %`,
    percentHelp: (category: string) => `${category} ÷ duration of the step.`,
    uses: {
      busy: "Device busy",
      computing: "Computing",
      communicating: "Communicating",
      exposed_communication: "Exposed communication",
    },
  },

  empty: "No steps were found in this trace",
  emptyReason: "Nothing in it has a duration, so there is nothing to divide into steps.",
  wholeTrace:
    "No steps are marked in this trace, so it is shown as one step. Mark the steps, or choose above how to find them.",
  one: "There is one step, so there is nothing to compare it with.",
  remedy: "prof.step()  # at the end of each iteration",

  inspector: {
    gone: "This trace has no step of this name.",
    byCategory: "By category",
    category: "Category",
    time: "Time",
    share: "Share",
    delta: "Δ median",
    isOutlier: (category: string, time: string) =>
      `An outlier: ${category} takes ${time} more than in the median step.`,
    isSlow: "An outlier: longer than usual.",
  },
});
