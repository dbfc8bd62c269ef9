import { counted } from "../counted";
import { area } from "../translation";

/** Dialogs, lists and the drawer: their code comes when they are opened, and so do these. */
export const dialogs = area("dialogs", {
  combo: {
    filter: (label: string) => `Filter ${label.toLowerCase()}`,
    noMatch: "No match",
  },

  /** How steps were found. */
  stepRules: {
    profiler_step: "ProfilerStep marks",
    inference_engine: "marks of an inference engine",
    training_framework: "marks of a training framework",
    repeated_annotation: "a repeated annotation",
    optimizer: "optimizer steps",
    repeated_module: "model calls",
    repeated_kernels: "a repeated sequence of kernels",
    whole_trace: "the whole trace as one step",
    pattern: "your pattern",
  },

  /** In place of how they were found, where they were not. */
  noStepMarks: {
    whole_trace: "No step marks; the whole trace counts as one step",
    none: "No steps",
  },

  palette: {
    results: "Results",
    kinds: {
      view: "View",
      action: "Action",
      run: "Run",
      worker: "Worker",
      span: "Span",
      step: "Step",
      op: "Operator",
      kernel: "Kernel",
      mod: "Module",
    },
    nothing: "No matches.",
    all: (n: number) => counted(n, "entry", "entries"),
    some: (shown: string, total: string) => `The best ${shown} of ${total}`,
    loading: "names are still loading",
    copyLink: "Copy a link to this page",
    openFile: "Open a trace or a memory snapshot…",
    refresh: "Refresh: look for new traces and load the answers again",
    theme: (name: string) => `Theme: ${name}`,
    language: (name: string) => `Language: ${name}`,
    notes: "Notes on this trace",
    report: "Save a report of this trace as one file",
  },

  inspector: {
    label: "Selected",
    close: "Clear the selection",
    width: "Width of the drawer",
    kinds: { op: "Operator", kernel: "Kernel", mod: "Module", step: "Step" },
    places: "Show in",
    showIn: (view: string) => `Show in ${view}`,
    onlyStep: "Only this step in all views",
    copyName: "Copy name",
  },

  notes: {
    title: "Trace health",
    none: "Nothing unusual was noticed in this trace.",
    capture: "Recorded with",
  },

  keys: {
    everywhere: "Everywhere",
    title: "Keyboard",
    view: (name: string) => `Go to ${name}`,
    or: "or",
    palette: "Search views, runs, operators, kernels, actions",
    more: "Once they have the focus, tables, charts, the step selector and the edges of the menu and the drawer follow the arrow keys.",
    filter: "Filter the table",
    escape: "Clear the selection",
    help: "Show this list",
  },

  /** In place of a view, where there are no traces. */
  noRuns: {
    title: "No traces found",
    scanning: "Looking for traces…",
    scanned:
      "This directory was searched for .json, .json.gz and .json.zst files that contain a trace:",
    drop: "Drop traces or memory snapshots of this machine here, or choose them with “Open a trace or a memory snapshot” in the palette.",
    how: "Record one like this; it appears here automatically:",
    howRemote:
      "Record one like this and copy the files into the log directory; they appear here automatically:",
  },
});
