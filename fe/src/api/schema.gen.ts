// Made by `npm run types` from docs/openapi.json. Not to be edited.

/** What a cell of a table holds. */
export type Cell = string | number | boolean | null;

/** By column key: a list each, all of the same length. */
export interface Rows { [key: string]: (string | number | boolean | null)[] }

/** One column of a table. */
export interface Column {
  /** its name in rows, with the unit at its end */
  key: string;
  label: string;
  type: "bool" | "number" | "string";
  unit: "bytes" | "bytes_per_second" | "count" | "fraction" | "ns" | "percent" | null;
  /** definition and formula */
  help: string;
  /** what shares of this column refer to */
  total?: number;
  /** makes sense divided by calls */
  average?: boolean;
  /** largest magnitude, of tables of more than 20,000 rows */
  largest?: number;
  /** of all rows, of tables of more than 20,000 rows */
  sum?: number;
}

/** The trace on one page. */
export interface OverviewAnswer {
  meta: TraceMeta;
  steps: StepParts;
  /** of the steps */
  average: AverageStep;
  /** null when the steps have no length */
  verdict: Verdict | null;
  devices: DeviceUse[];
  /** of the run */
  workers: number;
  /** the most severe first */
  findings: Finding[];
  /** those with most self time */
  top_operators: LargestOperator[];
  /** those with most time */
  top_kernels: TopKernel[];
  /** what each number means, by its key */
  definitions: { [key: string]: string };
}

/** Which trace an answer is about. */
export interface TraceMeta {
  run: string;
  worker: string;
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
}

/** Something that a user should know about a trace. */
export interface Note {
  kind: string;
  severity: "error" | "info" | "warning";
  /** a sentence */
  text: string;
  /** how often it occurred */
  count: number;
  /** the analyses whose numbers it affects */
  touches: string[];
  /** the code that would record what is missing */
  remedy: string | null;
  /** the byte in the uncompressed text where it was first seen */
  first_offset: number | null;
  /** the values in the sentence, for translations */
  values: { [key: string]: string | number | boolean };
}

/** The steps and how each is shared out, as parallel lists. */
export interface StepParts {
  /** by which the steps were found */
  rule: string;
  /** that can be asked for */
  rules: string[];
  /** annotations that mark the steps */
  labels: string[];
  /** of the steps */
  names: string[];
  /** since the start of the trace */
  start_ns: number[];
  duration_ns: number[];
  /** that the trace can have, by priority */
  categories: string[];
  /** of each step by category; they add up to duration_ns */
  category_ns: { [key: string]: number[] };
  /** time of each step in which a kernel ran on any device; null without kernels */
  gpu_busy_ns: number[] | null;
}

/** Arithmetic means over the steps, ns; 0 without steps. */
export interface AverageStep {
  step_ns: number;
  category_ns: { [key: string]: number };
}

/** What the average step is mostly made of, and the largest other part of it that is not the work itself. */
export interface Verdict {
  category: string;
  share: number;
  largest_loss: string;
  largest_loss_share: number;
  largest_loss_ns: number;
}

/** One device that ran kernels. Fractions 0…1, None where the trace does not say enough. */
export interface DeviceUse {
  id: number;
  name: string | null;
  memory_bytes: number | null;
  compute_capability: string | null;
  utilization: number | null;
  sm_efficiency: number | null;
  achieved_occupancy: number | null;
  tensor_core_share: number | null;
}

/** Advice for one trace, as plain text. */
export interface Finding {
  id: string;
  severity: "high" | "low" | "medium";
  title: string;
  detail: string;
  saving_ns: number | null;
  evidence: Evidence[];
  links: Link[];
  values: { [key: string]: string | number | boolean };
}

/** A number behind a finding, and the view (and the row in it) where it can be seen. */
export interface Evidence {
  key: string;
  label: string;
  value: number;
  unit: "bytes" | "count" | "fraction" | "ns";
  view: string;
  select: string | null;
  gpu: number | null;
}

export interface Link {
  text: string;
  url: string;
}

/** An operator that took much time. */
export interface LargestOperator {
  name: string;
  /** nanoseconds */
  host_self_ns: number;
  /** null where no device was recorded */
  device_self_ns: number | null;
  calls: number;
}

export interface TopKernel {
  name: string;
  total_ns: number;
  calls: number;
}

/** Beside a table of operators. */
export interface OperatorsMeta {
  run: string;
  worker: string;
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** rows of the table */
  total: number;
  /** rows that pass the filter */
  matched: number;
  /** rows before the first of this page */
  offset: number;
  group_by: string;
  /** Σ of device work, null where none was recorded */
  device_ns: number | null;
  /** Σ of host time of operators (nanoseconds) */
  host_ns: number;
  /** Σ of device work that no operator launched, null where none was recorded */
  unattributed_device_ns: number | null;
  /** the same by why */
  unattributed: Unattributed[];
}

/** Device work that no operator launched, by what did. Times in ns. */
export interface Unattributed {
  launcher: string;
  calls: number;
  device_ns: number;
}

/** Beside a table of kernels. */
export interface KernelsMeta {
  run: string;
  worker: string;
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** rows of the table */
  total: number;
  /** rows that pass the filter */
  matched: number;
  /** rows before the first of this page */
  offset: number;
  group_by: string;
  /** Σ durations of kernels, copies and fills (nanoseconds) */
  device_ns: number;
  host_ns: null;
  /** Σ durations of kernels (nanoseconds) */
  kernel_ns: number;
  /** of kernels known to use tensor cores (nanoseconds) */
  tensor_core_ns: number;
  /** of kernels of which it is not known (nanoseconds) */
  undecided_ns: number;
  /** copies by kind */
  memcpy: Transfers[];
  /** fills by kind */
  memset: Transfers[];
}

/** Copies or fills of one name. `bytes` is None when the trace does not say. */
export interface Transfers {
  name: string;
  calls: number;
  total_ns: number;
  bytes: number | null;
}

/** What was recorded, and what is wrong with it. */
export interface HealthAnswer {
  meta: TraceMeta;
  /** all there are, also of what was not recorded */
  notes: Note[];
  /** lines of the profiler's own log, by level */
  log: { [key: string]: string[] };
  capture: RecordedCapture;
}

/** One recording and its file. */
export interface RecordedCapture {
  events: number;
  text_bytes: number;
  tracks: number;
  recorded_at: string | null;
  duration_ns: number;
  categories: CategoryCount[];
  step_rule: string;
  steps: number;
  options: { [key: string]: boolean | null };
  found: { [key: string]: number };
  versions: { [key: string]: string | number | boolean };
  metadata: { [key: string]: string | number | boolean };
  host_name: string | null;
  distributed: Distributed | null;
  devices: RecordedDevice[];
  /** of the file as stored (bytes) */
  bytes: number;
}

/** How many events are of a category, by its name in small letters. */
export interface CategoryCount {
  category: string;
  events: number;
}

/** `distributedInfo`; None is what it does not say. */
export interface Distributed {
  rank: number | null;
  world_size: number | null;
  backend: string | null;
  groups: number | null;
}

/** A device of the machine (`deviceProperties`) or one that did some work; `used` tells the latter. */
export interface RecordedDevice {
  id: number;
  name: string | null;
  memory_bytes: number | null;
  compute_capability: string | null;
  used: boolean;
}

/** The figures of one trace. */
export interface FiguresAnswer {
  meta: TraceMeta;
  figures: Figures;
}

/** One trace in a row of numbers; None where it does not say, or has no steps. */
export interface Figures {
  devices: string;
  steps: number;
  step: number | null;
  slowest_step_ns: number | null;
  gpu_busy_ns: number | null;
  utilization: number | null;
  sm_efficiency: number | null;
  achieved_occupancy: number | null;
  tensor_core_share: number | null;
  kernel: number | null;
  memcpy: number | null;
  memset: number | null;
  communication: number | null;
  runtime: number | null;
  dataloader: number | null;
  cpu_exec: number | null;
  other: number | null;
  computation_ns: number | null;
  overlap_ns: number | null;
  exposed_ns: number | null;
  peak_bytes: number | null;
  top_operator: string | null;
  top_kernel: string | null;
}

/** Memory in use over time. */
export interface MemoryCurveAnswer {
  meta: MemoryMeta;
  /** where the window begins (nanoseconds) */
  start_ns: number;
  /** where it ends (nanoseconds) */
  end_ns: number;
  /** of each device whose memory in use was recorded */
  devices: DeviceMemory[];
}

/** Beside an answer about memory. */
export interface MemoryMeta {
  run: string;
  worker: string;
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** whose memory was recorded: accelerators, then the CPU */
  devices: string[];
}

/** The memory of one device in a window of time, in pieces: parallel lists, each piece holds until the next begins. */
export interface DeviceMemory {
  /** name of the device */
  device: string;
  /** allocations and releases in the whole trace */
  records: number;
  /** when most was in use in the whole trace */
  peak: MemoryInUse;
  /** when most was in use in the window */
  peak_in_range: MemoryInUse;
  /** what holds until the first piece */
  before: MemoryHeld;
  /** what the device has, null where the file does not say and for the CPU */
  device_bytes: number | null;
  /** in use before the first record (bytes) */
  baseline: number;
  /** what changed without a record (bytes) */
  unrecorded: number;
  /** where each piece begins */
  time_ns: number[];
  /** least in use in each piece */
  allocated_min: number[];
  /** most in use in each piece */
  allocated_max: number[];
  /** in use at the end of each piece */
  allocated: number[];
  /** most reserved in each piece */
  reserved_max: number[];
  /** reserved at the end of each piece */
  reserved: number[];
}

/** How much memory is in use and reserved at a time. */
export interface MemoryInUse {
  /** in use by tensors (bytes) */
  allocated: number;
  /** what the caching allocator holds of the device, in use or not (bytes) */
  reserved: number;
  /** since the start of the trace (nanoseconds) */
  time_ns: number;
}

/** How much memory is in use and reserved. */
export interface MemoryHeld {
  /** in use by tensors (bytes) */
  allocated: number;
  /** what the caching allocator holds of the device, in use or not (bytes) */
  reserved: number;
}

/** The steps of a trace. */
export interface TimelineStepsAnswer {
  meta: TraceMeta;
  steps: TimelineSteps;
}

/** The steps, in order, as parallel lists. */
export interface TimelineSteps {
  /** by which they were found */
  rule: string;
  names: string[];
  /** where each begins */
  start_ns: number[];
  /** how long each lasts */
  duration_ns: number[];
}

/** Beside a table of kernels that one operator launched. */
export interface LaunchedMeta {
  run: string;
  worker: string;
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** rows of the table */
  total: number;
  /** rows that pass the filter */
  matched: number;
  /** rows before the first of this page */
  offset: number;
  group_by: string;
  /** Σ of their durations (nanoseconds) */
  device_ns: number;
  host_ns: null;
}

/** Blocks in use at a time, the largest first. */
export interface MemoryAliveAnswer {
  /** what the columns are, in order */
  columns: Definition[];
  /** by column key: a list each, all of the same length */
  rows: { [key: string]: Cell[] };
  meta: MemoryAliveMeta;
}

/** One reported quantity: the key of the HTTP interface, how to show it, and what it is. */
export interface Definition {
  key: string;
  label: string;
  type: "bool" | "number" | "string";
  unit: "bytes" | "bytes_per_second" | "count" | "fraction" | "ns" | "percent" | null;
  help: string;
}

/** Beside the blocks in use at a time; the last three fields are not there where no memory was recorded. */
export interface MemoryAliveMeta {
  run: string;
  worker: string;
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** whose memory was recorded: accelerators, then the CPU */
  devices: string[];
  /** which the answer is about, null where no memory was recorded */
  device: string | null;
  /** blocks in use, of which the rows are the largest */
  total: number;
  group_by: null;
  /** the time, and what was in use then */
  at?: MemoryInUse;
  /** of the blocks whose allocations were recorded (bytes) */
  known_bytes?: number;
  /** of what was allocated before the recording began (bytes) */
  unknown_bytes?: number;
}

/** Beside a table of operators that changed the memory of a device. */
export interface MemoryOperatorsMeta {
  run: string;
  worker: string;
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** rows of the table */
  total: number;
  /** rows that pass the filter */
  matched: number;
  /** rows before the first of this page */
  offset: number;
  /** whose memory was recorded: accelerators, then the CPU */
  devices: string[];
  group_by: string;
  /** which the table is about, null where no memory was recorded */
  device: string | null;
  /** what happened outside of operators; not there where no memory was recorded */
  unattributed?: MemoryChange;
  /** everything that happened on the device; not there where no memory was recorded */
  all?: MemoryChange;
}

/** Sums over records: bytes allocated − bytes released, how many allocations, and their bytes. */
export interface MemoryChange {
  size_increase: number;
  allocation_count: number;
  allocation_size: number;
}

/** Beside a table of allocations. */
export interface MemoryEventsMeta {
  run: string;
  worker: string;
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** rows of the table */
  total: number;
  /** rows that pass the filter */
  matched: number;
  /** rows before the first of this page */
  offset: number;
  /** whose memory was recorded: accelerators, then the CPU */
  devices: string[];
  group_by: null;
}

/** Call stacks as a tree in a table: `parent` is a row, -1 at the top. */
export interface StacksAnswer {
  /** what the columns are, in order */
  columns: Definition[];
  /** by column key: a list each, all of the same length */
  rows: { [key: string]: Cell[] };
  meta: StacksMeta;
}

/** Beside call stacks. */
export interface StacksMeta {
  run: string;
  worker: string;
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** whose time the stacks are weighted by */
  weight: "device" | "host";
  /** by whose time stacks of this trace can be weighted, the one that matters most first */
  weights: ("device" | "host")[];
  direction: "bottom_up" | "top_down";
  /** words by which frames were chosen */
  files: string;
  /** id of the only entry that is shown with what is below it, 0 for everything */
  root: number;
  /** time of what is shown (nanoseconds) */
  whole_ns: number;
  /** time of all stacks (nanoseconds) */
  all_ns: number;
  /** of the device time what was launched outside of all frames, operators and annotations (nanoseconds) */
  no_stack_ns: number;
  /** different stacks with any time of this weight, shown or not */
  entries: number;
  /** entries with less are folded together (nanoseconds) */
  limit_ns: number;
  /** whether Python frames were recorded */
  has_frames: boolean;
  /** the entries around `root`, from the top down; null when everything is shown */
  above: { [key: string]: Cell[] } | null;
}

/** Modules as a tree in a table: `parent` is an `id`, -1 at the top. */
export interface ModulesAnswer {
  /** what the columns are, in order */
  columns: Definition[];
  /** by column key: a list each, all of the same length */
  rows: { [key: string]: Cell[] };
  meta: ModulesMeta;
  /** Lightning's hooks by name; null where none were recorded */
  hooks: Columns | null;
}

/** Beside modules. */
export interface ModulesMeta {
  run: string;
  worker: string;
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** who named them */
  source: "lightning" | "nn";
  /** who named modules or hooks in this trace */
  sources: ("lightning" | "nn")[];
  /** modules */
  total: number;
}

/** Rows as parallel lists. */
export interface Columns {
  /** what the columns are, in order */
  columns: Definition[];
  /** by column key: a list each, all of the same length */
  rows: { [key: string]: Cell[] };
}

/** A page of events, the longest first. */
export interface SlicesAnswer {
  /** what the columns are, in order */
  columns: Definition[];
  /** by column key: a list each, all of the same length */
  rows: { [key: string]: Cell[] };
  meta: SlicesMeta;
}

/** Beside a page of events. */
export interface SlicesMeta {
  run: string;
  worker: string;
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** events that are meant, on all pages */
  total: number;
  group_by: null;
  /** events before the first of this page */
  offset: number;
  /** when the last event of the trace ends, since the start of the trace (nanoseconds) */
  duration_ns: number;
  /** those that have events in the trace, most events first */
  categories: CategorySlices[];
}

/** How many slices a category has: in the whole trace, or in the chosen steps. */
export interface CategorySlices {
  category: string;
  slices: number;
}

/** A part of two traces. */
export interface CompareAnswer {
  meta: CompareMeta;
  /** its time */
  totals: CompareTotals;
  /** what it consists of */
  parts: Columns;
  /** by name */
  operators: Columns;
  /** by name */
  kernels: Columns;
}

/** Beside a comparison; the fields of one trace are of the baseline. */
export interface CompareMeta {
  run: string;
  worker: string;
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** the experiment */
  exp: TraceMeta;
  /** of the part: 0 is everything, 0-2 its third part */
  path: string;
  /** of the part in the baseline; null of everything, and when it has nothing there */
  name: string | null;
  /** the same in the experiment */
  exp_name: string | null;
  /** what the part is on both sides, or group; null of everything */
  kind: string | null;
  /** the parts from everything, which is left out, down to this one */
  trail: ComparePart[];
  /** steps of the baseline */
  steps: number;
  /** steps of the experiment */
  exp_steps: number;
}

/** A part around the one that is asked for. */
export interface ComparePart {
  /** where it is: 0-2 is the third part of everything */
  path: string;
  /** in the baseline, null when it has nothing there */
  name: string | null;
  /** in the experiment, null when it has nothing there */
  exp_name: string | null;
  /** what it is on both sides, or group */
  kind: string;
}

/** Time of a part in baseline and experiment, and experiment − baseline. */
export interface CompareTotals {
  /** Σ durations on the host (nanoseconds) */
  duration_ns: number;
  /** Σ durations on the host (nanoseconds) */
  exp_duration_ns: number;
  /** Σ durations on the host (nanoseconds) */
  delta_duration_ns: number;
  /** Σ durations of the device work launched in it (nanoseconds) */
  device_ns: number;
  /** Σ durations of the device work launched in it (nanoseconds) */
  exp_device_ns: number;
  /** Σ durations of the device work launched in it (nanoseconds) */
  delta_device_ns: number;
  /** of each node its device time, of nodes without any the duration (nanoseconds) */
  total_ns: number;
  /** of each node its device time, of nodes without any the duration (nanoseconds) */
  exp_total_ns: number;
  /** of each node its device time, of nodes without any the duration (nanoseconds) */
  delta_total_ns: number;
}

/** All ranks of a run. */
export interface DistributedAnswer {
  meta: RunMeta;
  /** one for each trace */
  workers: RankAnswer[];
  /** process groups */
  groups: GroupAnswer[];
  /** what the times of the steps mean */
  definitions: Definition[];
  /** of every rank, by name, process group and element type */
  operations: Columns;
}

/** Which traces an answer is about. */
export interface RunMeta {
  run: string;
  span: string;
  /** what a person should know about this answer */
  notes: Note[];
}

/** One rank; null where its trace does not say. */
export interface RankAnswer {
  worker: string;
  rank: number | null;
  world_size: number | null;
  /** from the trace, else from the name of the worker, else counted */
  node: string;
  /** from the trace, else from the name of the worker, else counted */
  process: string;
  backend: string | null;
  devices: RankDevice[];
  steps: RankSteps;
}

/** A device that did some work; null where the trace does not say. */
export interface RankDevice {
  id: number;
  name: string | null;
  memory_bytes: number | null;
  compute_capability: string | null;
}

/** How the steps of a rank were spent, as parallel lists. `definitions` of the answer says what the times are. */
export interface RankSteps {
  names: string[];
  duration_ns: number[];
  computation_ns: number[];
  overlap_ns: number[];
  exposed_communication_ns: number[];
  other_ns: number[];
  /** null in steps of which no operation could be matched with another rank's */
  transfer_ns: (number | null)[];
  /** null in steps of which no operation could be matched with another rank's */
  wait_ns: (number | null)[];
  unmatched_ns: number[];
  /** operations outside of all steps */
  outside: Outside;
}

/** Operations outside of all steps. */
export interface Outside {
  /** null where no operation could be matched with another rank's */
  transfer_ns: number | null;
  /** null where no operation could be matched with another rank's */
  wait_ns: number | null;
  /** nanoseconds */
  unmatched_ns: number;
}

/** A process group. */
export interface GroupAnswer {
  name: string;
  description: string;
  /** its members; empty when the traces do not say */
  ranks: number[];
  /** how many it has; null when the traces do not say */
  size: number | null;
  /** how many of them are among the traces */
  present: number;
}

/** Beside a table of traces. */
export interface TracesMeta {
  /** rows of the table */
  total: number;
  /** rows that pass the filter */
  matched: number;
  /** rows before the first of this page */
  offset: number;
  /** which traces were meant */
  of: string;
  /** which of them are not in the table */
  notes: Note[];
}

/** Beside a table of names. */
export interface NamesMeta {
  /** rows of the table */
  total: number;
  /** rows that pass the filter */
  matched: number;
  /** rows before the first of this page */
  offset: number;
  /** which traces were meant */
  of: string;
  /** which of them are not in the table */
  notes: Note[];
  what: string;
  /** the number of each cell */
  measure: string;
  /** step where the numbers are divided by the steps of their trace */
  per: "all" | "step";
  /** of the columns t0, t1, … */
  traces: TraceNames[];
  /** traces for which there was no column */
  left_out: number;
}

/** Which trace. */
export interface TraceNames {
  run: string;
  worker: string;
  span: string;
}

/** What a page needs before it asks for tiles. */
export interface TimelineAnswer {
  meta: TraceMeta;
  steps: TimelineSteps;
  /** for the parameter v */
  version: string;
  /** where the first slice begins, where the last one ends (nanoseconds) */
  begin_ns: number;
  /** where the first slice begins, where the last one ends (nanoseconds) */
  end_ns: number;
  /** of time 0, ns since the epoch or the file's own zero */
  origin_ns: string;
  /** where every event of the file is */
  events: EventAccount;
  /** how many distinct names of slices there are */
  names: number;
  /** by the code that binary answers have */
  categories: string[];
  levels: TimelineLevel[];
  /** in the order in which they are drawn, a parent before its parts */
  tracks: Track[];
  lanes: LaneColumns;
  counters: CounterSeries[];
}

/** Where every event of the file is; all but `total` add up to it. */
export interface EventAccount {
  total: number;
  slices: number;
  instants: number;
  /** ends of arrows */
  flows: number;
  /** counter events */
  counters: number;
  /** names of processes and threads */
  metadata: number;
  /** slices below the last lane of a band */
  too_deep: number;
  /** e.g. a begin without its end */
  other: number;
}

/** How coarse tiles can be. */
export interface TimelineLevel {
  /** 0: every slice as it is */
  level: number;
  /** slices shorter than this are merged into cells (nanoseconds) */
  width_ns: number;
  /** the length of a tile (nanoseconds) */
  tile_ns: number;
}

/** A process, or a thread or stream of the one above it. */
export interface Track {
  /** its place in the list */
  id: number;
  /** id of its process, null for a process */
  parent: number | null;
  kind: string;
  name: string;
  /** as in the file; tid is null for a process */
  pid: number | string | null;
  /** as in the file; tid is null for a process */
  tid: number | string | null;
  /** number of the GPU, null on the host */
  device: number | null;
  slices: number;
  instants: number;
  /** time in which at least one slice ran; of a process the sum of its parts (nanoseconds) */
  busy_ns: number;
  /** where its first slice begins, where its last one ends (nanoseconds) */
  begin_ns: number;
  /** where its first slice begins, where its last one ends (nanoseconds) */
  end_ns: number;
}

/** Parallel lists; the position is the number of the lane. */
export interface LaneColumns {
  /** id of the track it belongs to */
  track: number[];
  band: ("annotation" | "device" | "host" | "instant" | "overhead" | "python" | "span" | "sync")[];
  /** how many lanes of its band are above it */
  depth: number[];
  /** slices and instants */
  slices: number[];
  /** Σ of their durations */
  busy_ns: number[];
  /** where the first begins, where the last ends */
  begin_ns: number[];
  /** where the first begins, where the last ends */
  end_ns: number[];
}

/** A counter of one device. */
export interface CounterSeries {
  /** for the parameter `ids` */
  id: string;
  kind: "exposed_communication" | "gpu_utilization" | "kernels_running" | "memcpy_bandwidth" | "memory_allocated" | "memory_reserved" | "queue_length" | "sm_efficiency";
  name: string;
  device: string;
  unit: "bytes" | "bytes/s" | "count" | "fraction";
  /** over the whole trace, in `unit` */
  min: number;
  /** over the whole trace, in `unit` */
  max: number;
}

/** Names by number; those that do not exist are left out. */
export interface NamesOfSlices {
  /** how many names there are */
  total: number;
  /** numbers of the names here */
  ids: number[];
  /** parallel to ids */
  names: string[];
}

/** Everything about one slice, and its step. */
export interface SliceDetails {
  /** number of its event (number of an event in its file) */
  row: number;
  /** number of the lane it stands on */
  lane: number;
  name: string;
  category: string;
  /** nanoseconds */
  start_ns: number;
  /** nanoseconds */
  duration_ns: number;
  /** id of the track it stands on */
  track: number;
  /** number of its name */
  name_id: number;
  /** its duration less what its children in its own band cover */
  self_ns: number;
  /** what the columns hold of its arguments, by the names that the file uses */
  args: { [key: string]: unknown };
  /** the slices of its track that enclose it, outermost first */
  parents: SliceReference[];
  /** Python frames around it (of device work: around its launch), outermost first */
  stack: StackFrame[];
  /** frames of the argument `Call stack`, innermost first */
  call_stack: string[];
  /** nn.Module calls around it, outermost first */
  modules: string[];
  /** of device work the call that started it */
  launch: SliceReference | null;
  /** device work that was started inside of it */
  launched: LaunchedWork;
  /** of device work and of API calls the innermost operator around the call */
  operator: SliceReference | null;
  /** of an operator of the backward pass those that it belongs to */
  forward: SliceReference[];
  /** of an operator of the forward pass those that belong to it */
  backward: SliceReference[];
  /** arrows from it and to it, at most 200 */
  flows: Flow[];
  /** all slices of its name */
  same_name: SameName;
  /** the name of the step in which it begins */
  step: string | null;
}

/** A slice, as every answer names it. */
export interface SliceReference {
  /** number of its event (number of an event in its file) */
  row: number;
  /** number of the lane it stands on */
  lane: number;
  name: string;
  category: string;
  /** nanoseconds */
  start_ns: number;
  /** nanoseconds */
  duration_ns: number;
}

/** A Python frame around a slice. */
export interface StackFrame {
  /** number of the frame's event */
  row: number;
  /** file, line and function */
  frame: string;
}

/** Device work that was started inside of a slice. */
export interface LaunchedWork {
  /** how much of it there is */
  total: number;
  /** Σ of durations of all of it */
  total_ns: number;
  /** the longest of it, at most 100 */
  slices: SliceReference[];
}

/** One arrow. */
export interface Flow {
  kind: "forward_backward" | "launch";
  source: SliceReference;
  target: SliceReference;
}

/** All slices of one name. */
export interface SameName {
  count: number;
  /** Σ of their durations */
  total_ns: number;
  mean_ns: number;
  min_ns: number;
  median_ns: number;
  p95_ns: number;
  max_ns: number;
  /** row of the longest one, of equals the first */
  longest_row: number;
  /** how many begin before this one */
  position: number;
  /** of their durations; null when all are equally long */
  histogram: DurationHistogram | null;
}

/** Bins of equal width on a logarithmic scale. */
export interface DurationHistogram {
  /** where bins begin and end: one more than counts */
  edges_ns: number[];
  /** slices of each bin */
  counts: number[];
}

/** The arguments of an event, as they stand in the file. */
export interface EventArguments {
  /** number of an event in its file */
  row: number;
  /** JSON text, at most 200,000 characters; null when the event has none */
  args: string | null;
  /** characters of all of it */
  length: number;
}

/** The slice of the same name that begins next, or before. */
export interface Neighbour {
  /** null when there is none */
  slice: SliceReference | null;
}

/** What matches. */
export interface SearchResult {
  /** most total time first, at most 200 */
  names: FoundName[];
  /** how many names match */
  names_total: number;
  /** slices of all of them */
  count: number;
  /** Σ of durations of all of them (nanoseconds) */
  total_ns: number;
  /** the first ones in time */
  hits: HitColumns;
  density: HitDensity;
}

/** A name that matches. */
export interface FoundName {
  /** its number */
  name_id: number;
  name: string;
  /** slices and instants of that name */
  count: number;
  /** nanoseconds */
  total_ns: number;
  /** row of the longest of them, of equals the first (number of an event in its file) */
  longest_row: number;
}

/** Slices whose names match, in order of time, as parallel lists. */
export interface HitColumns {
  row: number[];
  lane: number[];
  name_id: number[];
  start_ns: number[];
  duration_ns: number[];
}

/** How many hits begin in each of equal parts of the trace. */
export interface HitDensity {
  /** where the trace begins, where it ends (nanoseconds) */
  from_ns: number;
  /** where the trace begins, where it ends (nanoseconds) */
  to_ns: number;
  counts: number[];
}

/** Sums of the parts of slices that lie in a window. */
export interface WindowTotals {
  /** nanoseconds */
  from_ns: number;
  /** nanoseconds */
  to_ns: number;
  /** that touch the window */
  slices: number;
  /** that touch the window */
  instants: number;
  /** by name and category, most time first, at most 1,000 */
  by_name: NameTotal[];
  /** how many names and categories there are */
  names_total: number;
  /** of those that `by_name` leaves out */
  rest: RestTotal;
  by_category: CategoryTotal[];
  /** of which a lane was chosen */
  devices: DeviceTotal[];
}

/** Slices of one name and category. */
export interface NameTotal {
  /** number of the name */
  name_id: number;
  name: string;
  category: string;
  /** slices that touch the window */
  count: number;
  /** Σ of their parts in the window; nested ones count each (nanoseconds) */
  total_ns: number;
  /** row of the one with the largest part in the window (number of an event in its file) */
  longest_row: number;
}

/** What is left out of a list. */
export interface RestTotal {
  count: number;
  /** nanoseconds */
  total_ns: number;
}

/** Slices of one category, whatever encloses what. */
export interface CategoryTotal {
  category: string;
  count: number;
  total_ns: number;
}

/** What one device did in the window, in ns; `busy_ns` + `idle_ns` is the window. */
export interface DeviceTotal {
  device: number;
  busy_ns: number;
  idle_ns: number;
  kernel_ns: number;
  memcpy_ns: number;
  communication_ns: number;
  exposed_communication_ns: number;
}

/** Arrows, as parallel lists. */
export interface FlowColumns {
  /** how many there are; the lists may be shorter */
  total: number;
  /** arrows of these kinds in the trace that touch no slice */
  loose: number;
  kind: ("forward_backward" | "launch")[];
  from_row: number[];
  from_lane: number[];
  /** where each begins */
  from_ns: number[];
  to_row: number[];
  to_lane: number[];
  /** where each ends */
  to_ns: number[];
}

/** All ranks of a run. */
export interface RunOverview {
  run: string;
  span: string;
  /** nanoseconds */
  begin_ns: number;
  /** nanoseconds */
  end_ns: number;
  /** whether offsets come from the clocks of the files; else every rank begins at 0 */
  aligned: boolean;
  /** of those that can be asked */
  workers: RankOverview[];
  absent: AbsentTrace[];
}

/** One rank. */
export interface RankOverview {
  worker: string;
  /** of its process, null when neither the trace nor its name says */
  rank: number | null;
  host_name: string;
  state: "ready";
  /** of its timeline */
  version: string;
  events: number;
  slices: number;
  /** to be added to a time of this worker for one of the overview (nanoseconds) */
  offset_ns: number;
  /** in the worker's time (nanoseconds) */
  begin_ns: number;
  /** in the worker's time (nanoseconds) */
  end_ns: number;
  /** part of each bin in which device work ran, 255 is all */
  device: number[];
  /** the same of operators */
  host: number[];
  /** the same of communication kernels */
  communication: number[];
  /** starts of steps, in the worker's time */
  step_ns: number[];
}

/** A trace of the run that cannot be asked. */
export interface AbsentTrace {
  worker: string;
  state: string;
  /** why it failed, null while it is being read */
  reason: string | null;
}

/** A communication on all its ranks. */
export interface SharedCollective {
  /** of the call */
  name: string;
  /** what it does, e.g. all_reduce */
  kind: string;
  /** its process group */
  group: string;
  /** how many members there are */
  total: number;
  /** at most 64, those of the asked rank first */
  members: CollectiveMember[];
}

/** What one rank did in a communication. */
export interface CollectiveMember {
  worker: string;
  /** of its first kernel, else of its call; null where that is no slice */
  row: number | null;
  /** of its first kernel, else of its call; null where that is no slice */
  lane: number | null;
  /** nanoseconds */
  start_ns: number;
  /** nanoseconds */
  duration_ns: number;
}

/** What there is, and how far it is. */
export interface StatusAnswer {
  /** of the program */
  version: string;
  logdir: string;
  /** true until the log directory has been listed for the first time */
  scanning: boolean;
  /** why it could not be listed the last time */
  error: string | null;
  why: Why | null;
  runs: RunProgress[];
  /** JSON files outside of all runs that are no traces, and why */
  skipped: SkippedFile[];
}

/** What a reason says, for saying it in another language. */
export interface Why {
  kind: string;
  values: { [key: string]: string | number | boolean };
}

/** A run. */
export interface RunProgress {
  name: string;
  state: "failed" | "loading" | "ready";
  /** by worker, then span */
  traces: TraceProgress[];
  /** JSON files of the run that are no traces, and why */
  skipped: SkippedFile[];
}

/** A trace and how far it is. */
export interface TraceProgress {
  worker: string;
  span: string;
  /** its name within the directory of the run */
  file: string;
  /** of the file (bytes) */
  size: number;
  state: "failed" | "loading" | "queued" | "ready";
  /** how much of it was read (bytes) */
  bytes_done: number;
  /** of the file (bytes) */
  bytes_total: number;
  /** null until something is known */
  events: number | null;
  /** why it failed, a sentence that goes on after the name of the file */
  reason: string | null;
  why: Why | null;
  /** number of trace-health notes */
  notes: number;
  /** that have data */
  views: string[];
  /** as the trace says, else its name */
  rank: number | null;
  /** null when the trace does not say */
  world_size: number | null;
  /** null when the trace does not say */
  host_name: string | null;
}

/** A JSON file that is no trace, or a directory that could not be listed. */
export interface SkippedFile {
  file: string;
  /** why, a sentence that goes on after the name of the file */
  reason: string;
  why: Why | null;
  /** a directory */
  unlisted: boolean;
}

/** The JSON answer of each route below `/api/`. */
export interface Answers {
  "compare": CompareAnswer;
  "distributed": DistributedAnswer;
  "figures": FiguresAnswer;
  "health": HealthAnswer;
  "kernels": {
    meta: KernelsMeta;
    columns: Column[];
    rows: Rows;
  };
  "memory/alive": MemoryAliveAnswer;
  "memory/curve": MemoryCurveAnswer;
  "memory/events": {
    meta: MemoryEventsMeta;
    columns: Column[];
    rows: Rows;
  };
  "memory/operators": {
    meta: MemoryOperatorsMeta;
    columns: Column[];
    rows: Rows;
  };
  "modules": ModulesAnswer;
  "openapi.json": { [key: string]: unknown };
  "operators": {
    meta: OperatorsMeta;
    columns: Column[];
    rows: Rows;
  };
  "operators/kernels": {
    meta: LaunchedMeta;
    columns: Column[];
    rows: Rows;
  };
  "operators/stacks": {
    meta: OperatorsMeta;
    columns: Column[];
    rows: Rows;
  };
  "overview": OverviewAnswer;
  "stacks": StacksAnswer;
  "status": StatusAnswer;
  "timeline": TimelineAnswer;
  "timeline/args": EventArguments;
  "timeline/collective": SharedCollective;
  "timeline/flows": FlowColumns;
  "timeline/names": NamesOfSlices;
  "timeline/next": Neighbour;
  "timeline/overview": RunOverview;
  "timeline/range": WindowTotals;
  "timeline/search": SearchResult;
  "timeline/slice": SliceDetails;
  "timeline/steps": TimelineStepsAnswer;
  "trace/slices": SlicesAnswer;
  "trace/window": { [key: string]: unknown };
  "traces": {
    meta: TracesMeta;
    columns: Column[];
    rows: Rows;
  };
  "traces/names": {
    meta: NamesMeta;
    columns: Column[];
    rows: Rows;
  };
}
