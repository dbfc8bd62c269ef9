/**
 * The answers of the server, exactly as docs/api.md describes them.
 *
 * Unit names are types so that a signature says what a number is. Tables are parallel columns:
 * `rows.name[i]` and `rows.calls[i]` belong to the same row.
 */
import type { Values } from "../i18n";

/** Integer or averaged nanoseconds. */
export type Nanoseconds = number;
export type Bytes = number;
/** 0…1. */
export type Fraction = number;

/** How steps are to be found: by one rule, or by names of annotations; neither is the server's choice. */
export interface StepChoice {
  steps?: string;
  step_pattern?: string;
}

/** One trace in the log directory, and how to look at it. The strings are those of `/api/status`. */
export interface TraceKey extends StepChoice {
  run: string;
  worker: string;
  span: string;
  /** Names of the first and the last step to look at, of `Steps.names`; both are included. */
  from_step?: string;
  to_step?: string;
}

// --- status -------------------------------------------------------------------------------------

export type TraceState = "queued" | "loading" | "ready" | "failed";
export type RunState = "loading" | "ready" | "failed";

export interface TraceStatus {
  worker: string;
  span: string;
  file: string;
  size: Bytes;
  state: TraceState;
  /** Compressed bytes of the file read so far. */
  bytes_done: Bytes;
  bytes_total: Bytes;
  /** Null until the trace has been read. */
  events: number | null;
  /** Why it failed, a sentence. */
  reason: string | null;
  why?: Why | null;
  /** Number of trace-health notes. */
  notes: number;
  /** Ids of views that have data in this trace. */
  views: string[];
  /** Of its process, as the trace says, else its name; null when neither does. */
  rank?: number | null;
  /** Null when the trace does not say, or until it has been read. */
  world_size?: number | null;
  host_name?: string | null;
}

/** What a reason says, for saying it in another language. */
export interface Why {
  kind: string;
  values: Values;
}

export interface SkippedFile {
  file: string;
  reason: string;
  why?: Why | null;
  /** It is a directory that could not be listed: there may be traces in it. */
  unlisted: boolean;
}

export interface RunStatus {
  name: string;
  state: RunState;
  traces: TraceStatus[];
  skipped: SkippedFile[];
}

export interface Status {
  version: string;
  logdir: string;
  scanning: boolean;
  /** The log directory itself could not be listed, and why. */
  error: string | null;
  why?: Why | null;
  runs: RunStatus[];
  /** Files that belong to no run. */
  skipped?: SkippedFile[];
}

// --- envelope -----------------------------------------------------------------------------------

export type NoteSeverity = "info" | "warning" | "error";

export interface Note {
  kind: string;
  severity: NoteSeverity;
  count: number;
  text: string;
  /** What `text` says beyond the kind. */
  values: Values;
  /** Ids of the views this note touches. */
  touches: string[];
  /** A line of code that would record what is missing. */
  remedy: string | null;
  /** Where it was first seen, in bytes of the uncompressed text. */
  first_offset?: number | null;
}

export type DeviceType = "GPU" | "CPU";

export interface Meta extends TraceKey {
  device_type: DeviceType;
  notes: Note[];
}

// --- overview -----------------------------------------------------------------------------------

export type Category =
  | "kernel"
  | "memcpy"
  | "memset"
  | "communication"
  | "runtime"
  | "dataloader"
  | "cpu_exec"
  | "other";

export interface Steps {
  /** How the steps were found: one of `rules`, `pattern` or `none`. */
  rule: string;
  /** The rules there are, in the order in which they are tried. */
  rules?: string[];
  /** The annotations that mark the steps. */
  labels?: string[];
  names: string[];
  /** Relative to the start of the trace. */
  start_ns: Nanoseconds[];
  duration_ns: Nanoseconds[];
  /** Only those that occur in this kind of trace, in order of priority. */
  categories: Category[];
  /** `category_ns[c][i]` belongs to `names[i]`; the categories of a step add up to its duration. */
  category_ns: Partial<Record<Category, Nanoseconds[]>>;
  /** Time in which at least one kernel ran; null in a trace without kernels. */
  gpu_busy_ns?: Nanoseconds[] | null;
}

export interface AverageStep {
  step_ns: Nanoseconds;
  category_ns: Partial<Record<Category, Nanoseconds>>;
}

export interface Verdict {
  category: Category;
  share: Fraction | null;
  /** The largest category other than `category` and the work itself: `kernel`, without a device `cpu_exec`. */
  largest_loss: Category | null;
  largest_loss_share: Fraction | null;
  largest_loss_ns: Nanoseconds | null;
}

export interface Device {
  id: number;
  name: string | null;
  memory_bytes: Bytes | null;
  compute_capability: string | null;
  utilization: Fraction | null;
  sm_efficiency: Fraction | null;
  achieved_occupancy: Fraction | null;
  tensor_core_share: Fraction | null;
}

export type Unit = "ns" | "bytes" | "bytes_per_second" | "percent" | "fraction" | "count";

export interface Evidence {
  key: string;
  label: string;
  value: number;
  unit: Unit | null;
  /** Where it can be seen: a view id and a selection of that view. */
  view: string | null;
  select: string | null;
  gpu: number | null;
}

export interface Finding {
  id: string;
  severity: "high" | "medium" | "low" | "info";
  title: string;
  detail: string;
  /** What `detail` says beyond the id. */
  values: Values;
  saving_ns: Nanoseconds | null;
  evidence: Evidence[];
  links: { text: string; url: string }[];
}

/** What the numbers of the overview mean: categories, `step`, and the numbers of devices. */
export type Definitions = Readonly<
  Record<
    | Category
    | "step"
    | "utilization"
    | "sm_efficiency"
    | "achieved_occupancy"
    | "tensor_core_share",
    string
  >
>;

export interface Overview {
  meta: Meta;
  steps: Steps;
  average: AverageStep;
  verdict: Verdict | null;
  /** Empty on traces without device work. */
  devices: Device[];
  workers: number;
  findings: Finding[];
  top_operators: {
    name: string;
    host_self_ns: Nanoseconds;
    device_self_ns: Nanoseconds | null;
    calls: number;
  }[];
  top_kernels: { name: string; total_ns: Nanoseconds; calls: number }[];
  definitions: Definitions;
}

// --- tables -------------------------------------------------------------------------------------

export type Cell = string | number | boolean | null;

export interface Column {
  key: string;
  label: string;
  type: "string" | "number" | "bool";
  unit: Unit | null;
  /** Definition and formula, as in the docs. */
  help: string | null;
  /** What shares of it refer to. */
  total?: number | null;
  /** It makes sense divided by calls. */
  average?: boolean;
  /** The largest magnitude, where the answer has not all rows. */
  largest?: number;
  /** Of all rows, where the answer has not all of them. */
  sum?: number;
}

export interface TableMeta extends Meta {
  total: number;
  /** Rows that pass the filter of the request. */
  matched?: number;
  group_by: string;
  /** The totals that percentages refer to. */
  device_ns: Nanoseconds | null;
  host_ns: Nanoseconds | null;
}

export interface Table<M extends Meta = TableMeta> {
  meta: M;
  columns: Column[];
  rows: Record<string, Cell[]>;
}

export type OperatorGroup = "name" | "name_shape" | "name_stack";
export type KernelGroup = "name" | "name_op_launch";

export interface OperatorsMeta extends TableMeta {
  /** Device time that no operator launched. */
  unattributed_device_ns: Nanoseconds | null;
}

export interface Copies {
  name: string;
  calls: number;
  total_ns: Nanoseconds;
  bytes: Bytes | null;
}

export interface KernelsMeta extends TableMeta {
  tensor_core_ns: Nanoseconds | null;
  kernel_ns: Nanoseconds | null;
  /** Of kernels whose names leave open whether they use tensor cores. */
  undecided_ns: Nanoseconds | null;
  memcpy: Copies[];
  memset: Copies[];
}

export type OperatorsTable = Table<OperatorsMeta>;
export type KernelsTable = Table<KernelsMeta>;

// --- health -------------------------------------------------------------------------------------

export interface CategoryCount {
  /** Our name of it, in small letters. */
  category: string;
  events: number;
}

export interface RecordedDevice {
  id: number;
  name: string | null;
  memory_bytes: Bytes | null;
  compute_capability: string | null;
  /** It did some work in this trace. */
  used: boolean;
}

export interface DistributedInfo {
  rank: number | null;
  world_size: number | null;
  backend: string | null;
  groups: number | null;
}

export interface Capture {
  events: number;
  /** Of the file as stored, and of its uncompressed text. */
  bytes: Bytes;
  text_bytes: Bytes;
  /** Host threads and device streams. */
  tracks: number;
  /** UTC, ISO 8601; null when the times of the file count from something unknown. */
  recorded_at: string | null;
  duration_ns: Nanoseconds;
  /** Most events first. */
  categories: CategoryCount[];
  step_rule: string;
  steps: number;
  /** What the header says of each profiler option; null where it does not name it. */
  options: Record<string, boolean | null>;
  /** How many events have what an option adds. */
  found: Record<string, number>;
  versions: Record<string, Cell>;
  /** Other entries of the header. */
  metadata: Record<string, Cell>;
  host_name: string | null;
  distributed: DistributedInfo | null;
  devices: RecordedDevice[];
}

export interface Health {
  meta: Meta;
  notes: Note[];
  /** Lines of the profiler's own log that the file holds. */
  log?: Record<"error" | "warning" | "info", string[]>;
  capture: Capture;
}
