import { counted } from "../counted";
/** The frame around the views: context bar, rail, status line, panels, dialogs. */
export const shell = {
  product: "PyTorch Profiler",
  skip: "Skip to the view",
  bar: {
    label: "What is shown",
    run: "Run",
    worker: "Worker",
    span: "Span",
    rank: (rank: number, of: number | null) =>
      of === null ? `rank ${rank}` : `rank ${rank} of ${of}`,
    none: "none",
    refresh: "Refresh",
    refreshHint: "Look for new traces and load the answers again",
    copyLink: "Copy link",
    linkCopied: "Link copied",
    copyFailed: "Copying is not allowed here; take the address from this box",
    keys: "Keyboard shortcuts",
    theme: (choice: string) => `Theme: ${choice}. Change`,
    themes: { auto: "automatic", light: "light", dark: "dark" },
  },

  rail: {
    label: "Views",
    width: "Width of the menu",
    jump: (letter: string) => `Keys: g ${letter}`,
    notRecorded: (n: number) => `Not recorded (${n})`,
    noData: (view: string) => `${view}: not recorded; the view says what to enable`,
    groups: {
      summary: "Summary",
      time: "Time",
      efficiency: "Efficiency",
      memory: "Memory",
      ranks: "Ranks",
      program: "Program",
      compare: "Compare",
      capture: "Recording",
    },
    collapse: "Collapse the menu",
    expand: "Expand the menu",
  },

  /** Which steps the views show. */
  range: {
    label: "Steps",
    first: "First step",
    last: "Last step",
    hint: "Drag to choose steps, click for one step; arrow keys move the ends. Every view shows only the chosen steps.",
    step: (name: string, time: string) => `Step ${name}, ${time}`,
    all: (n: string) => `all ${n}`,
    between: (first: string, last: string) => (first === last ? first : `${first}–${last}`),
    chip: (first: string, last: string, of: string) =>
      first === last ? `Step ${first} of ${of}` : `Steps ${first}–${last} of ${of}`,
    notHere: (range: string) => `Covers the whole file, not only steps ${range}`,
    clear: "Show all steps",
  },

  palette: {
    title: "Go to or do anything",
    hint: "A view, run, operator, kernel, module, step or action",
  },

  /** A page in one file, with the answers of the server. */
  report: {
    download: "Report",
    downloadHint: "Save this trace with all views as one file that opens without a server",
    made: (date: string) => `Report of ${date}`,
    missing: {
      title: "Not in this report",
      reason:
        "A report contains what the views show at first, for the whole trace. For the timeline, ranges of steps or time, and the details of smaller operators, open the profile itself:",
      remedy: "torch-tb-profiler serve LOGDIR",
    },
  },

  status: {
    events: (n: string) => counted(n, "event"),
    records: (n: string) => counted(n, "record"),
    notes: (n: number) => (n === 0 ? "no notes" : counted(n, "note")),
    files: "Files",
    loading: (traces: number, percent: string, done: string, total: string) =>
      `Loading ${counted(traces, "trace")}: ${percent} (${done} of ${total})`,
    scanning: "Looking for traces…",
    unlisted: "The log directory cannot be listed",
    unlistedDirectories: (n: number) =>
      counted(n, "directory cannot be listed", "directories cannot be listed"),
    failed: (n: number) => counted(n, "file could not be read", "files could not be read"),
    skipped: (n: number) => counted(n, "file skipped", "files skipped"),
    offline:
      "The server is not reachable. What you see is the last answer; the page goes on by itself when the server is back.",
    retry: "Retry",
    version: (v: string) => `torch-tb-profiler ${v}`,
  },

  /** What went wrong with a request. */
  request: {
    notJson: "The answer is not JSON. Is another server here?",
    noAnswer: "The server did not answer.",
    status: (status: number) => `The server answered with status ${status}.`,
  },

  traceState: {
    queued: "waiting",
    loading: "loading",
    ready: "ready",
    failed: "failed",
    skipped: "skipped",
    unlisted: "not listed",
  },

  panel: {
    help: (title: string) => `About “${title}”`,
    close: "Close",
    fullScreen: (title: string) => `Full screen: ${title}`,
    window: "Leave full screen",
    loading: "Loading…",
    refreshing: "Refreshing",
    waiting: "The trace is still being read",
    waitingProgress: (percent: string) => `The trace is still being read: ${percent}`,
    error: "This could not be loaded",
    request: "Request",
    retry: "Retry",
    empty: "Nothing to show",
    record: "To record it:",
    notes: (n: number) => counted(n, "note about this data", "notes about this data"),
    crashed: "This view stopped with an error",
    again: "Try again",
    report: "For a bug report",
    codeMissing: "This part of the page could not be loaded",
    codeMissingHelp:
      "The page loads again by itself when the server answers, with everything as you left it.",
    reload: "Load the page again",
  },

  severity: { info: "Note", warning: "Warning", error: "Error" },

  files: {
    title: "Files in the log directory",
    run: "Run",
    file: "File",
    size: "Size",
    state: "State",
    reason: "Remarks",
    none: "No trace files.",
    progress: (percent: string, done: string, total: string) => `${percent} – ${done} of ${total}`,
  },

  loading: {
    connecting: "Connecting…",
    title: (file: string) => `Loading ${file}`,
    queued: "Waiting in the queue.",
    bytes: (percent: string, done: string, total: string) =>
      `${percent} – ${done} of ${total} read`,
    ready: "Ready to view",
    others: "Other files",
    more: (n: string) => `${n} more: see “Files” below`,
    failedTitle: (file: string) => `${file} could not be read`,
    noEventsTitle: "No events were recorded",
    foreignTitle: "This is not a trace of torch.profiler",
    failedHelp:
      "It will be retried when the file changes or the problem is fixed. Other runs are not affected.",
    unreachable: "The server is not reachable",
    unreachableHelp: "The page could not ask for the list of traces. Is the server still running?",
  },

  dropped: {
    run: (value: string) => `Run “${value}” no longer exists; showing another run.`,
    worker: (value: string) => `There is no worker “${value}” in this run; showing another one.`,
    span: (value: string) => `There is no span “${value}” of this worker; showing another one.`,
    rule: (value: string) =>
      `There is no rule “${value}” for finding steps; the default rules are used.`,
    baseline: (value: string) =>
      `There is no trace “${value}” to compare with (any more); another one is suggested in Diff.`,
    pattern: (value: string) =>
      `“${value}” is not a regular expression; steps are found by the default rules.`,
    steps: (value: string) =>
      `There are no steps “${value.replace("~", "–")}” in this trace (any more); showing all steps.`,
    view: (value: string) => `There is no view “${value}”; showing the overview.`,
    schema: "This link was made by a newer version; parts of it may be ignored.",
    dismiss: "Dismiss",
  },

  copy: { copy: "Copy", copied: "Copied", refused: "Copying is not allowed here" },

  /** The comparison that every view shows. */
  comparison: {
    /** Where the span has to be told. */
    span: (span: string) => `span ${span}`,
    start: "Compare…",
    startHint: "Choose a trace to compare with",
    label: "Comparison",
    comparedWith: (trace: string) => `Compared with ${trace}`,
    versus: (trace: string) => `vs. ${trace}`,
    itself: (trace: string) => `Compared with ${trace}, the trace that is shown`,
    open: "Show in Diff",
    end: "End the comparison",
  },
};
