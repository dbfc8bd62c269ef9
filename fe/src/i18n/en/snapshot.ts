import { counted } from "../counted";
import { area } from "../translation";

export const snapshot = area("snapshot", {
  boxesHead: ["Line", "Blocks"],
  none: "No memory snapshot",
  noneReason:
    "The current trace has none. Choose a snapshot of the log directory at the top of the page, like a worker.",
  noneRemedy:
    "torch.cuda.memory._record_memory_history(); …; torch.cuda.memory._dump_snapshot('snapshot.pickle')",

  title: "Memory snapshot",
  help: `What torch.cuda.memory._dump_snapshot wrote: every allocation and release with its stack, and the segments that the caching allocator held at the end.

Requested: bytes that the program requested. Blocks: what the allocator used for them, rounded up. Reserved: segments, which PyTorch has allocated from the device.

Only memory of the caching allocator is included: NCCL buffers, the CUDA context and other processes are not.`,
  device: "Device",
  peak: "Peak requested",
  atLeast: (size: string) => `at least ${size}`,
  reserved: "Peak reserved",
  notRecorded: "no history was recorded",
  reservedAtEnd: "Reserved at the end",
  segments: (n: string) => `in ${counted(n, "segment")}`,
  atEnd: "In use at the end",
  entries: "Records",
  fragmentation: "Fragmentation at the end",
  fragmentationHelp: "1 − largest free piece / Σ free pieces.",
  grows: "Grows per step",
  ofSteps: (steps: string) => `over ${counted(steps, "step")}; the first is not counted`,
  blocks: (size: string) => `${size} of blocks`,
  contradictions: (n: string) => `${counted(n, "contradiction")} in the file`,
  cutOff: "The file is cut off: memory in use counts from its first record.",
  overflowed: "The oldest records were overwritten: max_entries was reached.",
  missing: (actions: string) =>
    `The file has no ${actions} records, so other records are used in their place.`,
  findings: "What to change",
  severities: { high: "High", medium: "Medium", low: "Low" },
  showMoment: "Show the moment",
  sameProcess: {
    linked: (worker: string, offset: string, share: string) =>
      `The trace ${worker} is from the same process: ${share} of its records match, its clock differs by ${offset}.`,
    other: (worker: string) => `The trace ${worker} is not from the same process and time.`,
    open: "Open its memory",
    moment: (view: string) => `Show this moment in ${view}`,
    outside: "The moment is outside the trace.",
  },

  oom: "Out of memory",
  oomFacts: {
    requested: "Requested",
    free: "Free for it",
    largest: "Largest piece",
    deviceFree: "Free on the device",
    segment: "Segment it needed",
    otherStreams: "Free in other streams",
    otherPools: "Free in other pools",
    pending: "Waiting for a stream",
    inUse: "In use",
    reserved: "Reserved",
  },
  expandable:
    "With PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True there might have been room: the free pieces and the free memory of the device together are enough.",
  noPool: "The pool of the request is not recorded; the default pool is assumed.",
  holders: "What holds the segments with free pieces",
  holderColumns: ["Allocated at", "Requested", "Blocks", "Segments", "Would join"],

  ranks: "Snapshots of this run",
  ranksHelp:
    "Ranks or moments side by side, the one furthest from the median peak first, with the line of the program whose bytes at the peak differ most from those in the median snapshot.",
  ranksOrder: "Furthest from the median first",
  rankColumns: [
    "Snapshot",
    "Peak requested",
    "To the median",
    "Peak reserved",
    "At the end",
    "Out of memory",
    "Differs most at",
    "By",
  ],

  linked: {
    title: {
      module: "Live memory blocks by module of the trace",
      annotation: "Live memory blocks by annotation of the trace",
    },
    help: `Allocations that the trace of the same process recorded as well, matched by address and time. The module is the innermost one around the record; in a backward pass, that of the corresponding forward operator. What was allocated before or after the trace has no match.`,
    share: (share: string) => `${share} of the bytes were found in the trace.`,
    columns: ["Allocated in", "Requested", "Allocations"],
  },
  timeline: "Allocations over time",
  timelineHelp: `Each area is one allocation, from its allocation to its release, stacked in the order of allocation. If there are too many to draw one by one, those of one line of the program form one area. In every column the areas add up to the bytes in use at the highest record of that column, exactly.

Drag to zoom, double click to reset the zoom. A click sets the moment of the map and the tables below.`,
  noHistory: "No history was recorded",
  noHistoryReason: "The file holds what was in use when it was written, and nothing before that.",
  noHistoryRemedy: "torch.cuda.memory._record_memory_history()  # before the first step",
  timelineSaid: (columns: string, peak: string) =>
    `Allocations in ${columns} columns, at most ${peak}`,
  axis: "Axis",
  axes: { time: "Time", record: "Records" },
  allocationColumns: ["Allocated at", "Requested", "Allocations", "Allocated", "Released"],
  whole: "Everything",
  moment: "Moment",
  moments: {
    start: "Start",
    peak: "Peak",
    reserved_peak: "Peak reserved",
    snapshot: "Earlier snapshot",
    oom: "Out of memory",
    end: "End",
    record: (n: string) => `Record ${n}`,
  },
  compare: "Compared with",
  nothing: "nothing",
  other: "Other snapshot",
  againstHelp: `What is in use at the moment, and what was in the other snapshot: rows of the same name are joined. A line that moved within its file counts as another line; by module it is the same.`,
  againstSaid: (at: string, now: string, then: string, before: string, name: string) =>
    `${at}: ${now}. ${name}, ${then}: ${before}.`,
  againstPeak: (name: string, moment: string) =>
    `${name} has no moment “${moment}”: its peak is compared.`,
  tip: {
    size: "Requested",
    born: "Allocated",
    released: "Released",
    blocks: "Allocations",
    before: "before the recording",
    never: "not in the recording",
    record: (n: string) => `record ${n}`,
    inUse: "In use",
    reserved: "Reserved",
  },
  more: (n: string) => counted(n, "more line"),

  map: "Segments",
  mapHelp: `Each bar is one segment that the allocator held at the moment, by address; colours are lines of the program, grey is free. Pieces too small to be seen are merged.`,
  mapSaid: (segments: string, reserved: string, free: string) =>
    `${segments} segments with ${reserved}; ${free} of it free`,
  mapKeys:
    "Left and right arrow keys go from piece to piece, up and down to the row above and below.",
  pieceColumns: ["Allocated at", "Segment", "Offset", "Size", "Allocations", "In use"],
  inexact: "Not all block sizes are known at this moment: rounding counts as free.",
  leftOut: (n: string) => `${n} smaller segments are not drawn.`,
  freePiece: "Free",
  mixed: "Several",
  pools: "Pools",
  poolColumns: ["Pool", "Stream", "Blocks", "Segments", "Reserved", "Used", "Free", "Largest free"],
  small: "small",
  large: "large",
  defaultPool: "default",

  alive: "What was in use",
  aliveHelp: `Allocations that were made and not yet released at the moment. A line is the innermost frame of your own code in the stack of the allocation. Equal sizes suggest equal tensors. A module is the innermost function that nn.Module called, an annotation the innermost range of the program.

Compared with another moment, each row also shows its difference.`,
  tabs: {
    line: "By line",
    stack: "By stack",
    module: "By module",
    annotation: "By annotation",
    size: "By size",
    flame: "Flame graph",
    lifetimes: "Lifetimes",
  },
  show: "Show as",
  direction: "Order",
  directions: { top_down: "Top-down", bottom_up: "Bottom-up" },
  frames: "Frames",
  framesOf: { python: "Python", own: "Own code", all: "All" },
  flameTotal: "Total",
  flameSelf: "Self",
  spoken: (name: string, bytes: string) => `${name}: ${bytes}`,
});
