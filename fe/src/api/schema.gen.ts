// Made by `npm run types` from docs/openapi.json. Not to be edited.

/** What a cell of a table holds. */
export type Cell = string | number | boolean | null;

/** By column key: a list each, all of the same length. */
export interface Rows { [key: string]: (string | number | boolean | null)[] }

/** One column of a table. */
export interface Column {
  /** its name in rows, with the unit at its end */
  key: string;
  /** what a page calls it */
  label: string;
  /** of its values */
  type: "bool" | "number" | "string";
  /** of its values, null where they have none */
  unit: "bytes" | "bytes_per_second" | "count" | "fraction" | "ns" | "percent" | null;
  /** definition and formula */
  help: string;
  /** of label and help, for saying them in another language; see `Definition` */
  id: string;
  /** what shares of this column refer to, in `unit` */
  total?: number;
  /** makes sense divided by calls */
  average?: boolean;
  /** largest magnitude, in `unit`; of tables of more than 20,000 rows */
  largest?: number;
  /** of all rows, in `unit`; of tables of more than 20,000 rows */
  sum?: number;
}

/** The trace on one page. */
export interface OverviewAnswer {
  /** which trace */
  meta: TraceMeta;
  /** each step and its parts */
  steps: StepParts;
  /** of the steps */
  average: AverageStep;
  /** null when the steps have no length */
  verdict: Verdict | null;
  /** those that ran kernels */
  devices: DeviceUse[];
  /** all of these together */
  device: DeviceSummary;
  /** how many the run has */
  workers: number;
  /** what bounds the steps, by replay */
  bound: Bound;
  /** where the time of the average step went; the parts add up to the mean of the steps exactly */
  waterfall: Part[];
  /** causes with the largest saving first, then those without a number, then warnings */
  findings: Finding[];
  /** what all findings with a saving save of the average step together; null without any */
  together_ns: number | null;
  /** ids of the rules that were applied and found nothing */
  checked: string[];
  /** rules that need something that was not recorded */
  not_evaluated: NotEvaluated[];
  /** ids of rules that are not shown */
  muted: string[];
  /** those with most self time */
  top_operators: LargestOperator[];
  /** those with most time */
  top_kernels: TopKernel[];
  /** what each number means, by its key */
  definitions: { [key: string]: string };
}

/** Which trace an answer is about. */
export interface TraceMeta {
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
}

/** Something that a user should know about a trace. */
export interface Note {
  /** what it is about, of `docs/health.md` */
  kind: string;
  /** error: something is lost or wrong; warning: numbers are probably wrong; info: good to know */
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
  /** how long each lasts */
  duration_ns: number[];
  /** that the trace can have, by priority */
  categories: string[];
  /** of each step by category; they add up to duration_ns */
  category_ns: { [key: string]: number[] };
  /** what devices did in each step; null when none ran kernels */
  use: StepUses | null;
}

/** What devices did in each step, mean over the devices that ran kernels. Not a partition: parts overlap. */
export interface StepUses {
  /** a kernel, copy or fill ran */
  busy_ns: number[];
  /** a compute kernel ran */
  computing_ns: number[];
  /** a communication kernel ran; null where communication is only known from calls on the host */
  communicating_ns: number[] | null;
  /** a communication kernel ran and no compute kernel; null likewise */
  exposed_communication_ns: number[] | null;
}

/** Arithmetic means over the steps; 0 without steps. */
export interface AverageStep {
  /** length of a step */
  step_ns: number;
  /** by category; they add up to step_ns */
  category_ns: { [key: string]: number };
}

/** What the average step is mostly made of, and the largest other part of it that is not the work itself. */
export interface Verdict {
  /** the one with most time, as in `StepParts` */
  category: string;
  /** its part of the average step, 0…1 */
  share: number;
  /** the largest other category that is not the work */
  largest_loss: string;
  /** its part of the average step, 0…1 */
  largest_loss_share: number;
  /** its time in the average step */
  largest_loss_ns: number;
}

/** One device that ran kernels. Fractions 0…1, None where the trace does not say enough. */
export interface DeviceUse {
  /** number of the device */
  id: number;
  /** as its vendor calls it */
  name: string | null;
  /** memory of the device */
  memory_bytes: number | null;
  /** major.minor, as CUDA or HIP numbers it */
  compute_capability: string | null;
  /** share of step time in which a kernel, copy or fill ran, 0…1 */
  busy: number | null;
  /** share of step time in which a compute kernel ran, 0…1 */
  computing: number | null;
  /** share of step time in which a communication kernel ran, 0…1 */
  communicating: number | null;
  /** share of step time in which a communication kernel ran and no compute kernel, 0…1 */
  exposed_communication: number | null;
  /** estimated part of the multiprocessors that compute kernels could fill, over step time, 0…1 */
  sm_efficiency: number | null;
  /** estimated occupancy of the compute kernels of which it is known, 0…1 */
  achieved_occupancy: number | null;
  /** part of the time of compute kernels that these are, 0…1 */
  occupancy_known_share: number | null;
  /** parts of the time of compute kernels; None without such time */
  tensor_cores: TensorCores | null;
}

/** Parts of the time of compute kernels, 0…1; the three add up to 1. */
export interface TensorCores {
  /** part of kernels known to use tensor cores, 0…1 */
  yes: number;
  /** part of kernels known not to, 0…1 */
  no: number;
  /** part of kernels of which it is not known, 0…1 */
  unknown: number;
}

/** The devices of a trace together. Fractions 0…1, None where the trace does not say enough. */
export interface DeviceSummary {
  /** share of step time in which a kernel, copy or fill ran: over all steps, mean over the devices that ran kernels, 0…1 */
  busy: number | null;
  /** the same of compute kernels, 0…1 */
  computing: number | null;
  /** the same of communication kernels, 0…1 */
  communicating: number | null;
  /** the same of communication kernels while no compute kernel ran, 0…1 */
  exposed_communication: number | null;
  /** parts of the time of all compute kernels that are selected, of every device */
  tensor_cores: TensorCores | null;
  /** of all compute kernels that are selected, of every device */
  occupancy: Occupancy;
}

/** Estimated achieved occupancy of compute kernels, 0…1. */
export interface Occupancy {
  /** over the kernels of which it is known, weighted by duration, 0…1; None when it is known of none */
  mean: number | null;
  /** time of these ÷ time of all compute kernels, 0…1; None without compute kernels */
  known_share: number | null;
}

/** What bounds the steps of a trace. */
export interface Bound {
  /** the resource; `unknown` where the trace does not say */
  kind: "communication" | "compute" | "host" | "input" | "launch" | "memory" | "sync" | "unknown";
  /** which part of the steps its relief would save, by replay, 0…1; null for `unknown` */
  share: number | null;
  /** what bounds the steps after that; null where nothing stands out */
  next: "communication" | "compute" | "host" | "input" | "launch" | "memory" | "sync" | "unknown" | null;
  /** which part of the steps has a cause in the trace, 0…1; null without steps */
  explained: number | null;
  /** `low` where more than 10 % is not explained */
  confidence: string;
  /** the same in words */
  sentence: string;
  /** of all resources, the largest first */
  reliefs: Relief[];
  /** what the sentence says beyond the kind, for saying it in another language */
  values: { [key: string]: string | number | boolean };
}

/** What relieving one resource would save. */
export interface Relief {
  /** the resource */
  kind: "communication" | "compute" | "host" | "input" | "launch" | "memory" | "sync" | "unknown";
  /** of the steps, 0…1; null where the change is refused */
  share: number | null;
}

/** A part of the average step. */
export interface Part {
  /** why the time passed */
  cause: string;
  /** mean over the steps and the devices that ran kernels; the parts add up to the mean step time exactly (nanoseconds) */
  ns: number;
}

/** A cause of lost time, or a warning, for one trace. Plain text. */
export interface Finding {
  /** name of the rule */
  id: string;
  /** name of this finding: the id, with a number from the second of one rule on */
  key: string;
  /** how much it matters: by `saving` from 10 % (high) and 3 % (medium) of the step on */
  severity: "high" | "low" | "medium";
  /** how sure the rule is */
  confidence: "high" | "low" | "medium";
  /** the cause in a few words */
  title: string;
  /** what was found */
  detail: string;
  /** what to do, with the code to write */
  advice: string;
  /** where in the program; null when that cannot be told */
  where: Where | null;
  /** what it costs; null of a warning, which has no time */
  saving: FindingSaving | null;
  /** the numbers behind it */
  evidence: Evidence[];
  /** where it can be seen in the trace, the longest first */
  instances: Instance[];
  /** how many such places there are */
  count: number;
  /** a page that says more */
  links: Link[];
  /** what title, detail and advice say beyond the id, for saying it in another language */
  values: { [key: string]: string | number | boolean };
}

/** A place in the program. What was not recorded is null. */
export interface Where {
  /** in words, as `aten::copy_ at train.py:12 (train_step)` */
  text: string;
  /** the innermost operator */
  operator: string | null;
  /** of the innermost Python frame of the user's own code; the line is the one that the profiler recorded */
  file: string | null;
  /** of the innermost Python frame of the user's own code; the line is the one that the profiler recorded */
  line: number | null;
  /** of that frame */
  function: string | null;
  /** the innermost nn.Module */
  module: string | null;
  /** the innermost annotation that does not mark steps */
  annotation: string | null;
  /** which part of the instances, by time, is there, 0…1 (0…1) */
  share: number;
  /** the setting of the profiler that would give the line; null when the line is known */
  missing: string | null;
}

/** What removing the cause would save in the average step, by replay (docs/replay.md). Null where it is refused. */
export interface FindingSaving {
  /** when nothing else is changed */
  alone_ns: number | null;
  /** beyond the findings listed before this one; these add up to what all save together */
  after_others_ns: number | null;
  /** beyond all other findings */
  last_in_ns: number | null;
  /** an interval of `after_others_ns`; null with fewer than two steps */
  low_ns: number | null;
  /** an interval of `after_others_ns`; null with fewer than two steps */
  high_ns: number | null;
  /** the most that any remedy can save */
  bound: boolean;
  /** why there is no number */
  refused: string | null;
}

/** A number behind a finding, and where it can be seen. */
export interface Evidence {
  /** what the label says, for saying it in another language */
  key: string;
  /** what the number is */
  label: string;
  /** the number, in `unit` */
  value: number;
  /** ns, bytes, fraction (0…1) or count */
  unit: "bytes" | "count" | "fraction" | "ns";
  /** id of the view that shows it */
  view: string;
  /** what to choose in that view */
  select: string | null;
  /** number of the device that the label names */
  gpu: number | null;
}

/** One place in the trace where a finding can be seen. */
export interface Instance {
  /** number of the event (number of an event in its file) */
  row: number;
  /** of the event */
  name: string;
  /** since the start of the trace (nanoseconds) */
  start_ns: number;
  /** of the event (nanoseconds) */
  duration_ns: number;
  /** name of the step that it begins in; null outside of the steps */
  step: string | null;
}

/** A page that says more. */
export interface Link {
  /** what the text says, for saying it in another language */
  key: string;
  /** its title */
  text: string;
  /** its address */
  url: string;
}

/** A rule that could not be applied. */
export interface NotEvaluated {
  /** of the rule */
  id: string;
  /** what is missing */
  needs: string;
  /** the same in words */
  text: string;
}

/** An operator that took much time. */
export interface LargestOperator {
  /** of the operator */
  name: string;
  /** time on the host less that of operators below it (nanoseconds) */
  host_self_ns: number;
  /** time of device work that it launched itself, null where no device was recorded */
  device_self_ns: number | null;
  /** how often it ran */
  calls: number;
}

/** A kernel that took much time. */
export interface TopKernel {
  /** of the kernel */
  name: string;
  /** the name that a page has room for */
  short_name: string;
  /** Σ of its durations */
  total_ns: number;
  /** how often it ran */
  calls: number;
}

/** Beside a table of operators. */
export interface OperatorsMeta {
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** how many rows the table has */
  total: number;
  /** how many rows pass the filter */
  matched: number;
  /** how many rows are before the first of this page */
  offset: number;
  /** what makes a row: name, name_shape or name_stack */
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

/** Device work that no operator launched, by its owner. */
export interface Unattributed {
  /** in words, such as `graph replay of aten::mm`, `module: Linear_3`, or why there is none */
  owner: string;
  /** how the owner is known: compiled, graph_node, annotation, module, frame, thread, inferred or none */
  how: string;
  /** the owner's name alone; null for none */
  name: string | null;
  /** why there is none: host_not_recorded, before_recording, no_correlation or launch_lost; null for others */
  reason: string | null;
  /** the API call in parentheses, or that it is not in the trace */
  launcher: string;
  /** how many pieces of work */
  calls: number;
  /** Σ of their durations */
  device_ns: number;
}

/** Beside a table of kernels. */
export interface KernelsMeta {
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** how many rows the table has */
  total: number;
  /** how many rows pass the filter */
  matched: number;
  /** how many rows are before the first of this page */
  offset: number;
  /** what makes a row: name or name_op_launch */
  group_by: string;
  /** Σ durations of kernels, copies and fills (nanoseconds) */
  device_ns: number;
  /** always null: kernels have no time on the host */
  host_ns: null;
  /** Σ durations of kernels (nanoseconds) */
  kernel_ns: number;
  /** Σ durations of kernels that are not communication's (nanoseconds) */
  compute_ns: number;
  /** parts of compute_ns; null when that is 0 */
  tensor_cores: TensorCores | null;
  /** of compute kernels */
  occupancy: Occupancy;
  /** copies by kind */
  memcpy: Transfers[];
  /** fills by kind */
  memset: Transfers[];
  /** of devices for each other, for events and for the host, by kind: no work */
  waits: Transfers[];
}

/** Copies, fills or waits of one name. */
export interface Transfers {
  /** of the copy, fill or wait */
  name: string;
  /** how many there were */
  calls: number;
  /** Σ of their durations */
  total_ns: number;
  /** Σ of their sizes in bytes, None when the trace does not say */
  bytes: number | null;
}

/** What was recorded, and what is wrong with it. */
export interface HealthAnswer {
  /** which trace */
  meta: TraceMeta;
  /** all there are, also of what was not recorded */
  notes: Note[];
  /** lines of the profiler's own log, by level */
  log: { [key: string]: string[] };
  /** the recording and its file */
  capture: RecordedCapture;
}

/** One recording and its file. */
export interface RecordedCapture {
  /** how many the file has */
  events: number;
  /** of the uncompressed JSON */
  text_bytes: number;
  /** how many lanes of events: host threads and device streams */
  tracks: number;
  /** UTC, ISO 8601; None when the times of the file count from something unknown */
  recorded_at: string | null;
  /** from the first event to the end of the last */
  duration_ns: number;
  /** most events first */
  categories: CategoryCount[];
  /** by which the steps were found */
  step_rule: string;
  /** how many there are */
  steps: number;
  /** what the header says of each profiler option; None when it does not name it */
  options: { [key: string]: boolean | null };
  /** per option that adds something to a trace, how many events have what it adds */
  found: { [key: string]: number };
  /** of the format, drivers and libraries, as the header says */
  versions: { [key: string]: string | number | boolean };
  /** other entries of the header, such as the program's own */
  metadata: { [key: string]: string | number | boolean };
  /** of the machine, None when the file does not say */
  host_name: string | null;
  /** of a program of several processes, None without it in the header */
  distributed: Distributed | null;
  /** of the machine, and whatever else did some work */
  devices: RecordedDevice[];
  /** of the file as stored (bytes) */
  bytes: number;
}

/** How many events are of a category. */
export interface CategoryCount {
  /** name in small letters */
  category: string;
  /** how many events are of it */
  events: number;
}

/** `distributedInfo`; None is what it does not say. */
export interface Distributed {
  /** number of the process among all */
  rank: number | null;
  /** how many processes there were */
  world_size: number | null;
  /** library of collectives, e.g. nccl */
  backend: string | null;
  /** how many process groups are listed */
  groups: number | null;
}

/** A device of the machine (`deviceProperties`) or one that did some work; None where the file does not say. */
export interface RecordedDevice {
  /** number of the device */
  id: number;
  /** as its vendor calls it */
  name: string | null;
  /** memory of the device */
  memory_bytes: number | null;
  /** major.minor, as CUDA or HIP numbers it */
  compute_capability: string | null;
  /** whether it did some work */
  used: boolean;
}

/** The figures of one trace. */
export interface FiguresAnswer {
  /** which trace */
  meta: TraceMeta;
  /** one row of numbers */
  figures: Figures;
}

/** One trace in a row of numbers; None where it does not say, or has no steps. */
export interface Figures {
  /** those that ran kernels, by name */
  devices: string;
  /** how many steps the means are made of */
  steps: number;
  /** mean length of a step, ns */
  step: number | null;
  /** the longest step */
  slowest_step_ns: number | null;
  /** part of the step time in which a device did anything, 0…1 */
  busy: number | null;
  /** part in which a compute kernel ran, 0…1 */
  computing: number | null;
  /** part in which a communication kernel ran, 0…1 */
  communicating: number | null;
  /** part in which one ran and no compute kernel, 0…1 */
  exposed_communication: number | null;
  /** the same of a step */
  exposed_communication_ns: number | null;
  /** estimated part of the multiprocessors that compute kernels could fill, 0…1 */
  sm_efficiency: number | null;
  /** estimated occupancy of the compute kernels where it is known, 0…1 */
  achieved_occupancy: number | null;
  /** part of the time of compute kernels whose occupancy is known, 0…1 */
  occupancy_known_share: number | null;
  /** part of that time known to use tensor cores, 0…1 */
  tensor_cores_yes: number | null;
  /** part of that time of which it is not known, 0…1 */
  tensor_cores_unknown: number | null;
  /** ns of a step in compute kernels */
  kernel: number | null;
  /** ns of a step in copies, of what no category before has */
  memcpy: number | null;
  /** ns in fills, likewise */
  memset: number | null;
  /** ns in communication, likewise */
  communication: number | null;
  /** ns in calls of the runtime or driver, likewise */
  runtime: number | null;
  /** ns of waiting for the next batch, likewise */
  dataloader: number | null;
  /** ns in operators on the host, likewise */
  cpu_exec: number | null;
  /** ns in none of these */
  other: number | null;
  /** most memory in use at once */
  peak_bytes: number | null;
  /** name of the operator with most self time */
  top_operator: string | null;
  /** name of the kernel with most time */
  top_kernel: string | null;
}

/** A trace in a few numbers. Every key is always there; keys are added, never changed. */
export interface SummaryAnswer {
  /** which one */
  trace: SummaryTrace;
  /** how long they take */
  steps: SummarySteps;
  /** where the time of the average step went: the parts add up to `steps.mean_ns` exactly; empty without steps */
  waterfall: Part[];
  /** how devices were used */
  device: SummaryDevice;
  /** what is known of who started device work */
  owners: SummaryOwners;
  /** what bounds the steps, by replay; `unknown` where the trace does not say */
  bound: "communication" | "compute" | "host" | "input" | "launch" | "memory" | "sync" | "unknown";
  /** which part of the steps has a cause in the trace, 0…1; null without steps */
  explained: number | null;
  /** causes with the largest saving first, then those without a number, then warnings */
  findings: SummaryFinding[];
  /** what is wrong with the recording */
  notes: Note[];
}

/** Which trace, and how much was recorded. */
export interface SummaryTrace {
  /** name of the run */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** size of the file as stored (bytes) */
  file_bytes: number;
  /** how many events the file has */
  events: number;
  /** from the first event to the end of the last (nanoseconds) */
  duration_ns: number;
  /** names of the devices that did some work, by number; null where the file does not name one */
  devices: (string | null)[];
}

/** The steps. A period is the step time: from the end of the step before to the end of the step. */
export interface SummarySteps {
  /** by which the steps were found */
  rule: string;
  /** how many there are */
  count: number;
  /** median of the periods; null without steps */
  median_ns: number | null;
  /** arithmetic mean of the periods; null without steps */
  mean_ns: number | null;
  /** of the steps */
  names: string[];
  /** of each step, in order */
  period_ns: number[];
}

/** How devices were used. The first four are shares of the step time over all steps, 0…1: means over the devices that ran kernels; null where the trace does not say. */
export interface SummaryDevice {
  /** a kernel, copy or fill ran */
  busy: number | null;
  /** a compute kernel ran */
  computing: number | null;
  /** a communication kernel ran */
  communicating: number | null;
  /** one ran and no compute kernel */
  exposed_communication: number | null;
  /** of compute kernels */
  tensor_cores: SummaryTensorCores;
  /** of compute kernels, weighted by duration */
  occupancy: Occupancy;
}

/** Parts of the time of compute kernels, 0…1, that add up to 1; null without compute kernels. */
export interface SummaryTensorCores {
  /** of kernels known to use tensor cores */
  yes: number | null;
  /** of kernels known not to */
  no: number | null;
  /** of kernels of which it is not known */
  unknown: number | null;
}

/** Whether device work has an owner: shares of the device time, 0…1, that add up to 1; null without device time. */
export interface SummaryOwners {
  /** follows from a launch that was recorded */
  linked: number | null;
  /** was launched before the recording; its like in the recording has an owner */
  inferred: number | null;
  /** neither */
  unowned: number | null;
}

/** A cause of lost time, or a warning. */
export interface SummaryFinding {
  /** name of the rule */
  id: string;
  /** the cause in a few words */
  title: string;
  /** what was found */
  detail: string;
  /** what to do */
  advice: string;
  /** where in the program; null when that cannot be told */
  where: string | null;
  /** what it costs; null of a warning */
  saving: SummarySaving | null;
  /** where it can be seen, the longest first */
  evidence: SummaryEvidence[];
}

/** What removing a cause would save of the average step, by replay. Null where that is refused. */
export interface SummarySaving {
  /** when nothing else is changed */
  alone_ns: number | null;
  /** beyond the findings before this one */
  after_others_ns: number | null;
  /** an interval of it; null with fewer than two steps */
  low_ns: number | null;
  /** an interval of it; null with fewer than two steps */
  high_ns: number | null;
  /** the most that any remedy can save */
  bound: boolean;
  /** why there is no number; null where there is one */
  refused: string | null;
}

/** One place in the trace where a finding can be seen. */
export interface SummaryEvidence {
  /** number of the event (number of an event in its file) */
  row: number;
  /** of the event */
  name: string;
  /** since the start of the trace (nanoseconds) */
  start_ns: number;
  /** of the event (nanoseconds) */
  duration_ns: number;
  /** name of the step that it begins in; null outside of the steps */
  step: string | null;
}

/** Where the time of the steps went. */
export interface WaterfallAnswer {
  /** which trace */
  meta: TraceMeta;
  /** devices: the time of the devices that ran kernels; host: that of the main thread where none did */
  basis: "devices" | "host";
  /** names of the steps */
  steps: string[];
  /** their periods */
  step_ns: number[];
  /** those that occur, with their definitions */
  causes: CauseMeaning[];
  /** the average step, mean over devices: the parts add up to the mean step time exactly */
  average: Part[];
  /** of each step by cause, mean over devices: they add up to step_ns exactly */
  step_parts: { [key: string]: number[] };
  /** the average step of each device; empty for a host */
  devices: DeviceParts[];
  /** share of the idle time, 0…1, that is due to launching and in gaps below 100 µs; null without idle time */
  launch_bound_score: number | null;
  /** of the cause that was asked for; null without one */
  pieces: Pieces | null;
}

/** A cause that occurs. */
export interface CauseMeaning {
  /** its id; what stands before a dot is a group of causes */
  cause: string;
  /** its definition */
  help: string;
}

/** The average step of one device. */
export interface DeviceParts {
  /** number of the device */
  device: number;
  /** that add up to the mean step time exactly */
  parts: Part[];
}

/** The pieces of a cause. */
export interface Pieces {
  /** which one */
  cause: string;
  /** how many pieces it has in all steps */
  total: number;
  /** Σ of their durations, over all steps and devices (nanoseconds) */
  total_ns: number;
  /** the longest of them, the longest first */
  largest: Piece[];
}

/** A stretch of time with one cause, within one step. Texts and rows are null where the trace does not tell. */
export interface Piece {
  /** why the time passed */
  cause: string;
  /** name of the step */
  step: string;
  /** number of the device; null of the main thread */
  device: number | null;
  /** since the start of the trace (nanoseconds) */
  start_ns: number;
  /** how long it lasts (nanoseconds) */
  duration_ns: number;
  /** length of the whole gap that it is a part of, from the end of work to the start of work; of work its own duration (nanoseconds) */
  gap_ns: number;
  /** name of the kernel, copy or fill that ended the gap, or that ran */
  work: string | null;
  /** its event */
  work_row: number | null;
  /** name of the call that launched it */
  launch: string | null;
  /** its event */
  launch_row: number | null;
  /** the operator, annotation or Python frame that launched it */
  owner: string | null;
  /** its event */
  owner_row: number | null;
  /** what ran on the thread when the piece began: the innermost call, operator or annotation; of waiting for a batch or a collective, that; of work what ran when it was launched */
  host: string | null;
  /** its event */
  host_row: number | null;
  /** the innermost Python frame of the user's own code then, as `file(line): function` */
  frame: string | null;
  /** its event */
  frame_row: number | null;
  /** the innermost nn.Module then */
  module: string | null;
}

/** What the steps of a trace did, by name: sums over all steps. */
export interface StepNames {
  /** which trace */
  meta: TraceMeta;
  /** how many there are */
  steps: number;
  /** a row for each operator, or each kernel */
  names: Columns;
}

/** Rows as parallel lists. */
export interface Columns {
  /** what the columns are, in order */
  columns: Definition[];
  /** by column key: a list each, all of the same length */
  rows: { [key: string]: Cell[] };
}

/** One reported quantity: the key of the HTTP interface, how to show it, and what it is. */
export interface Definition {
  /** its name in answers, with the unit at its end */
  key: string;
  /** what a page calls it */
  label: string;
  /** of its values */
  type: "bool" | "number" | "string";
  /** of its values, null where they have none */
  unit: "bytes" | "bytes_per_second" | "count" | "fraction" | "ns" | "percent" | null;
  /** definition and formula */
  help: string;
  /** of label and help, for saying them in another language: `operators.calls`; put together of a word and of texts that exist: `baseline operators.calls`; empty where they are said in English alone */
  id: string;
}

/** Memory in use over time. */
export interface MemoryCurveAnswer {
  /** which trace */
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
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
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
  /** how many allocations and releases the whole trace has */
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
  /** which trace */
  meta: TraceMeta;
  /** where they are */
  steps: TimelineSteps;
}

/** The steps, in order, as parallel lists. */
export interface TimelineSteps {
  /** by which they were found */
  rule: string;
  /** of the steps */
  names: string[];
  /** where each begins */
  start_ns: number[];
  /** how long each lasts */
  duration_ns: number[];
}

/** Beside a table of kernels that one operator launched. */
export interface LaunchedMeta {
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** how many rows the table has */
  total: number;
  /** how many rows pass the filter */
  matched: number;
  /** how many rows are before the first of this page */
  offset: number;
  /** what makes a row: always name */
  group_by: string;
  /** Σ of their durations (nanoseconds) */
  device_ns: number;
  /** always null: kernels have no time on the host */
  host_ns: null;
}

/** Blocks in use at a time, the largest first. */
export interface MemoryAliveAnswer {
  /** what the columns are, in order */
  columns: Definition[];
  /** by column key: a list each, all of the same length */
  rows: { [key: string]: Cell[] };
  /** which trace, device and time */
  meta: MemoryAliveMeta;
}

/** Beside the blocks in use at a time; the last three fields are not there where no memory was recorded. */
export interface MemoryAliveMeta {
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** whose memory was recorded: accelerators, then the CPU */
  devices: string[];
  /** which the answer is about, null where no memory was recorded */
  device: string | null;
  /** how many blocks are in use; the rows are the largest */
  total: number;
  /** always null: a row is one block */
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
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** how many rows the table has */
  total: number;
  /** how many rows pass the filter */
  matched: number;
  /** how many rows are before the first of this page */
  offset: number;
  /** whose memory was recorded: accelerators, then the CPU */
  devices: string[];
  /** what makes a row: always name */
  group_by: string;
  /** which the table is about, null where no memory was recorded */
  device: string | null;
  /** what happened outside of operators; not there where no memory was recorded */
  unattributed?: MemoryChange;
  /** everything that happened on the device; not there where no memory was recorded */
  all?: MemoryChange;
}

/** Sums over records. */
export interface MemoryChange {
  /** bytes allocated − bytes released */
  size_increase: number;
  /** how many allocations */
  allocation_count: number;
  /** bytes allocated */
  allocation_size: number;
}

/** Beside a table of allocations. */
export interface MemoryEventsMeta {
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** how many rows the table has */
  total: number;
  /** how many rows pass the filter */
  matched: number;
  /** how many rows are before the first of this page */
  offset: number;
  /** whose memory was recorded: accelerators, then the CPU */
  devices: string[];
  /** always null: a row is one allocation */
  group_by: null;
}

/** Call stacks as a tree in a table: `parent` is a row, -1 at the top. */
export interface StacksAnswer {
  /** what the columns are, in order */
  columns: Definition[];
  /** by column key: a list each, all of the same length */
  rows: { [key: string]: Cell[] };
  /** which trace, and how its stacks were put together */
  meta: StacksMeta;
}

/** Beside call stacks. */
export interface StacksMeta {
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** whose time the stacks are weighted by */
  weight: "device" | "host";
  /** by whose time stacks of this trace can be weighted, the one that matters most first */
  weights: ("device" | "host")[];
  /** top_down: callers above what they call; bottom_up: the reverse */
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
  /** how many different stacks have time of this weight, shown or not */
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
  /** which trace, and where the names come from */
  meta: ModulesMeta;
  /** Lightning's hooks by name; null where none were recorded */
  hooks: Columns | null;
}

/** Beside modules. */
export interface ModulesMeta {
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** who named them */
  source: "lightning" | "nn";
  /** who named modules or hooks in this trace */
  sources: ("lightning" | "nn")[];
  /** how many modules there are */
  total: number;
}

/** A page of events, the longest first. */
export interface SlicesAnswer {
  /** what the columns are, in order */
  columns: Definition[];
  /** by column key: a list each, all of the same length */
  rows: { [key: string]: Cell[] };
  /** which trace, and which of its events */
  meta: SlicesMeta;
}

/** Beside a page of events. */
export interface SlicesMeta {
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** how many events are meant, on all pages */
  total: number;
  /** always null: a row is one event */
  group_by: null;
  /** how many events are before the first of this page */
  offset: number;
  /** when the last event of the trace ends, since the start of the trace (nanoseconds) */
  duration_ns: number;
  /** those that have events in the trace, most events first */
  categories: CategorySlices[];
}

/** How many slices a category has: in the whole trace, or in the chosen steps. */
export interface CategorySlices {
  /** name in small letters */
  category: string;
  /** how many slices it has */
  slices: number;
}

/** What the steps could not have been shorter without. Sums are over all steps that were asked about. */
export interface CriticalPathAnswer {
  /** which trace */
  meta: ReplayMeta;
  /** the path of each step */
  steps: StepsOnPath;
  /** all steps together (nanoseconds) */
  total_ns: number;
  /** one of them; null without steps */
  mean_step_ns: number | null;
  /** the resource with most time on the path; null without any time */
  largest: "communication" | "compute" | "copies" | "host" | "input" | "launch" | "sync" | "unknown" | null;
  /** what can limit a step, in a fixed order */
  resources: ResourceOnPath[];
  /** operators and annotations on the path, the longest first */
  operators: NameOnPath[];
  /** kernels, copies and sets on the path */
  kernels: NameOnPath[];
  /** Python functions on the path: the innermost of the user's own code, else the innermost */
  functions: NameOnPath[];
  /** modules (nn.Module) on the path */
  modules: NameOnPath[];
}

/** Which trace was replayed, and how far the answer can be trusted. */
export interface ReplayMeta {
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** share of the time of the steps whose cause is in the trace; null without steps */
  explained: number | null;
  /** low: 10 % or more is not explained; none: 40 % or more, and savings are refused */
  confidence: "low" | "none" | "normal";
  /** what is not answered, and why */
  refused: Refused[];
}

/** Something that the trace is too poor to answer. */
export interface Refused {
  /** what is wrong with the trace */
  id: string;
  /** what is refused: everything, all savings, changes of host time, changes of work on devices */
  scope: "device" | "everything" | "host" | "savings";
  /** why, in one sentence */
  text: string;
  /** the measure that decided, where there is one */
  share: number | null;
}

/** The critical path of each step. Parallel lists. */
export interface StepsOnPath {
  /** of the steps */
  names: string[];
  /** when each period begins, since the start of the trace */
  start_ns: number[];
  /** how long each takes */
  step_ns: number[];
  /** by part: what the path of each step spends on it; the parts of a step add up to it. Parts without any time are left out. */
  part_ns: { [key: string]: number[] };
}

/** Something that can limit a step, with all steps together. */
export interface ResourceOnPath {
  /** input, host, launch, sync, communication, copies, compute, or unknown */
  resource: "communication" | "compute" | "copies" | "host" | "input" | "launch" | "sync" | "unknown";
  /** of the path that are its time, those that have any */
  parts: string[];
  /** time of the path; those of all resources add up to the steps (nanoseconds) */
  on_path_ns: number;
  /** were it free; null for unknown */
  if_free: Saved | null;
  /** were it 20 % faster; null for unknown */
  if_faster: Saved | null;
  /** the resource with most time on the path when this one is free; null where nothing would be saved */
  next: "communication" | "compute" | "copies" | "host" | "input" | "launch" | "sync" | "unknown" | null;
  /** its share of that path */
  next_share: number | null;
}

/** What a change saves in all steps together, replayed; null where that is refused or means nothing. */
export interface Saved {
  /** after the change the steps take so much less */
  saved_ns: number | null;
  /** the least, with the spread of the steps and the error of the model; null with fewer than two steps */
  low_ns: number | null;
  /** the most */
  high_ns: number | null;
  /** the most that any remedy can save: something is made free */
  bound: boolean;
  /** id of the reason in meta.refused; "waits": a wait ends with what it waits for, and cannot be faster */
  refused: string | null;
}

/** What the path spends on an operator, a kernel, a function or a module, in all steps together. */
export interface NameOnPath {
  /** its name */
  name: string;
  /** operator, annotation, kernel, copy, communication, function or module */
  what: "annotation" | "communication" | "copy" | "function" | "kernel" | "module" | "operator";
  /** time of the path: host_ns + device_ns (nanoseconds) */
  total_ns: number;
  /** host time inside it, without what lies deeper and has a row of its own (nanoseconds) */
  host_ns: number;
  /** work on devices that belongs to it (nanoseconds) */
  device_ns: number;
  /** how many of its calls, or pieces of work, are on the path for some time */
  calls: number;
  /** how many there are */
  all_calls: number;
  /** median over all of them: how much later one could come, or how much longer the host could take for it, without the end of any step moving; null where it is not known */
  slack_ns: number | null;
}

/** What stands beside a page of a table about one trace: `TraceMeta` and `PageMeta`. */
export interface TableMeta {
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** GPU when a device or a call of its API was recorded */
  device_type: "CPU" | "GPU";
  /** what a person should know about this answer */
  notes: Note[];
  /** how many rows the table has */
  total: number;
  /** how many rows pass the filter */
  matched: number;
  /** how many rows are before the first of this page */
  offset: number;
}

/** How long the steps take after some changes. Sums are over all steps that were asked about. */
export interface WhatIfAnswer {
  /** which trace */
  meta: ReplayMeta;
  /** what is changed */
  changes: ChangeAsked[];
  /** what of the changes could not be done, in sentences */
  notes: string[];
  /** the time of collectives is changed, and holds the waiting for other ranks */
  with_waiting: boolean;
  /** of the steps */
  names: string[];
  /** how long each step takes, as recorded */
  step_before_ns: number[];
  /** after the changes; null where they are refused */
  step_after_ns: number[] | null;
  /** all steps together (nanoseconds) */
  before_ns: number;
  /** all of them after the changes; null where they are refused */
  after_ns: number | null;
  /** what the changes save together */
  saved: Saved;
  /** time of the recorded path by part */
  parts_before: { [key: string]: number };
  /** time of the path after the changes by part; null where they are refused */
  parts_after: { [key: string]: number } | null;
  /** the resource with most time on the recorded path */
  limit_before: "communication" | "compute" | "copies" | "host" | "input" | "launch" | "sync" | "unknown" | null;
  /** the resource with most time on the path after the changes */
  limit_after: "communication" | "compute" | "copies" | "host" | "input" | "launch" | "sync" | "unknown" | null;
}

/** One of the changes. */
export interface ChangeAsked {
  /** as the parameter `changes` has it, in its normal form */
  text: string;
  /** what is changed */
  kind: string;
  /** the operator, annotation, module, function, kernel or copy that it is about; null for everything */
  name: string | null;
  /** what durations are multiplied with (0: they vanish; 1: 100 %); null where something is taken away */
  factor: number | null;
  /** how many events have the name; null without one. A change whose name nothing has is left out. */
  found: number | null;
  /** id of the reason in meta.refused; null where the change is made */
  refused: string | null;
}

/** A part of two traces. */
export interface CompareAnswer {
  /** which traces, and which part of them */
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
  /** name of the run, as in `/api/status` */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
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
  /** how many steps the baseline has */
  steps: number;
  /** how many steps the experiment has */
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
  /** which run */
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
  /** name of the run, as in `/api/status` */
  run: string;
  /** which recording of the workers it is */
  span: string;
  /** what a person should know about this answer */
  notes: Note[];
}

/** One rank; null where its trace does not say. */
export interface RankAnswer {
  /** name of the process that was recorded */
  worker: string;
  /** its number among all */
  rank: number | null;
  /** how many ranks the program had */
  world_size: number | null;
  /** from the trace, else from the name of the worker, else counted */
  node: string;
  /** from the trace, else from the name of the worker, else counted */
  process: string;
  /** library of collectives, e.g. nccl */
  backend: string | null;
  /** those that did some work */
  devices: RankDevice[];
  /** how they were spent */
  steps: RankSteps;
}

/** A device that did some work; null where the trace does not say. */
export interface RankDevice {
  /** number of the device */
  id: number;
  /** as its vendor calls it */
  name: string | null;
  /** memory of the device */
  memory_bytes: number | null;
  /** major.minor, as CUDA or HIP numbers it */
  compute_capability: string | null;
}

/** How the steps of a rank were spent, as parallel lists. `definitions` of the answer says what the times are. */
export interface RankSteps {
  /** of the steps */
  names: string[];
  /** length of each step */
  duration_ns: number[];
  /** of each step, computing without communicating */
  computation_ns: number[];
  /** of each step, computing and communicating */
  overlap_ns: number[];
  /** of each step, communicating only */
  communication_only_ns: number[];
  /** of each step, neither */
  other_ns: number[];
  /** of each step, a communication kernel ran on a device and no compute kernel: mean over the devices; null where communication is only known from calls on the host */
  exposed_communication_ns: number[] | null;
  /** of each step, operations that moved data; null where none could be matched */
  transfer_ns: (number | null)[];
  /** of each step, operations that waited for other ranks; null like transfer_ns */
  wait_ns: (number | null)[];
  /** of each step, only operations that could not be matched with another rank's */
  unmatched_ns: number[];
  /** operations outside of all steps */
  outside: Outside;
}

/** Operations outside of all steps. */
export interface Outside {
  /** time in which they moved data; null where none could be matched with another rank's */
  transfer_ns: number | null;
  /** time in which they waited for other ranks; null like transfer_ns */
  wait_ns: number | null;
  /** time in which only operations ran that could not be matched (nanoseconds) */
  unmatched_ns: number;
}

/** A process group. */
export interface GroupAnswer {
  /** of the group, unique in the program */
  name: string;
  /** what it is for, as the program says */
  description: string;
  /** number of each of its members; empty when the traces do not say */
  ranks: number[];
  /** how many it has; null when the traces do not say */
  size: number | null;
  /** how many of them are among the traces */
  present: number;
}

/** What bounds a run, and its findings, with all loaded ranks replayed together. */
export interface RunFindingsAnswer {
  /** which run */
  meta: RunMeta;
  /** how many ranks were replayed together */
  loaded: number;
  /** how many the run has, as far as the traces say. With fewer loaded, what communication costs includes waiting for the others */
  world: number;
  /** how many were found on several ranks */
  collectives: number;
  /** what bounds the steps of all ranks */
  bound: Bound;
  /** causes with the largest saving first, then those without a number, then warnings */
  findings: RunFinding[];
  /** the mean of the steps of all ranks; null without steps */
  step_ns: number | null;
  /** what all findings with a saving save of it together; null without any */
  together_ns: number | null;
  /** ids of the rules that were applied and found nothing */
  checked: string[];
}

/** A cause of lost time in a run of several ranks. Plain text. As `Finding`, with the ranks that it is about. */
export interface RunFinding {
  /** name of the rule */
  id: string;
  /** name of this finding: the id, with a number from the second of one rule on */
  key: string;
  /** how much it matters: by `saving` from 10 % (high) and 3 % (medium) of the step on */
  severity: "high" | "low" | "medium";
  /** how sure the rule is */
  confidence: "high" | "low" | "medium";
  /** the cause in a few words */
  title: string;
  /** what was found */
  detail: string;
  /** what to do, with the code to write */
  advice: string;
  /** the ranks that have to change; empty when it is all of them */
  workers: string[];
  /** of the average step of all ranks, when all are replayed together; null of a warning */
  saving: FindingSaving | null;
  /** the numbers behind it */
  evidence: Evidence[];
  /** where it can be seen, the most costly first */
  instances: RunInstance[];
  /** how many such places there are */
  count: number;
  /** a page that says more */
  links: Link[];
  /** what title, detail and advice say beyond the id, for saying it in another language */
  values: { [key: string]: string | number | boolean };
}

/** One place in the trace of a rank. */
export interface RunInstance {
  /** whose trace */
  worker: string;
  /** number of the event (number of an event in its file) */
  row: number;
  /** of the event */
  name: string;
  /** since the start of the trace (nanoseconds) */
  start_ns: number;
  /** of the part that shows the finding (nanoseconds) */
  duration_ns: number;
  /** name of the step that it begins in; null outside of the steps */
  step: string | null;
}

/** Beside a table of traces. */
export interface TracesMeta {
  /** how many rows the table has */
  total: number;
  /** how many rows pass the filter */
  matched: number;
  /** how many rows are before the first of this page */
  offset: number;
  /** which traces were meant */
  of: string;
  /** which of them are not in the table */
  notes: Note[];
}

/** Beside a table of names. */
export interface NamesMeta {
  /** how many rows the table has */
  total: number;
  /** how many rows pass the filter */
  matched: number;
  /** how many rows are before the first of this page */
  offset: number;
  /** which traces were meant */
  of: string;
  /** which of them are not in the table */
  notes: Note[];
  /** what the rows are: operators or kernels */
  what: string;
  /** the number of each cell */
  measure: string;
  /** step where the numbers are divided by the steps of their trace */
  per: "all" | "step";
  /** of the columns t0, t1, … */
  traces: TraceNames[];
  /** how many traces there was no column for */
  left_out: number;
}

/** Which trace. */
export interface TraceNames {
  /** name of the run */
  run: string;
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
}

/** What a page needs before it asks for tiles. */
export interface TimelineAnswer {
  /** which trace */
  meta: TraceMeta;
  /** where they are */
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
  /** levels of detail that tiles can be asked for */
  levels: TimelineLevel[];
  /** in the order in which they are drawn, a parent before its parts */
  tracks: Track[];
  /** the lanes of all tracks */
  lanes: LaneColumns;
  /** counters that can be asked for */
  counters: CounterSeries[];
}

/** How many events of the file are where; all but `total` add up to it. */
export interface EventAccount {
  /** how many events the file has */
  total: number;
  /** how many slices are on lanes */
  slices: number;
  /** how many events without a duration are on lanes */
  instants: number;
  /** how many ends of arrows */
  flows: number;
  /** how many counter events */
  counters: number;
  /** how many names of processes and threads */
  metadata: number;
  /** how many are below the last lane of a band */
  too_deep: number;
  /** how many others, e.g. a begin without its end */
  other: number;
}

/** How coarse tiles can be. */
export interface TimelineLevel {
  /** number of the level; 0: every slice as it is */
  level: number;
  /** slices shorter than this are merged into cells (nanoseconds) */
  width_ns: number;
  /** the length of a tile (nanoseconds) */
  tile_ns: number;
}

/** A process, or a thread or stream of the one above it. */
export interface Track {
  /** its position in the list */
  id: number;
  /** id of its process, null for a process */
  parent: number | null;
  /** process, thread, stream or other */
  kind: string;
  /** that a person reads */
  name: string;
  /** as in the file; tid is null for a process */
  pid: number | string | null;
  /** as in the file; tid is null for a process */
  tid: number | string | null;
  /** number of the GPU, null on the host */
  device: number | null;
  /** how many stand on it */
  slices: number;
  /** how many instant events stand on it */
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
  /** what each lane shows */
  band: ("annotation" | "device" | "host" | "instant" | "overhead" | "python" | "span" | "sync")[];
  /** how many lanes of its band are above it */
  depth: number[];
  /** how many slices and instants */
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
  /** what is counted */
  kind: "busy" | "computing" | "exposed_communication" | "kernels_running" | "memcpy_bandwidth" | "memory_allocated" | "memory_reserved" | "queue_length" | "sm_efficiency";
  /** that a person reads */
  name: string;
  /** whose counter it is */
  device: string;
  /** of its values */
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
  /** number of each of the names here */
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
  /** of the slice */
  name: string;
  /** name in small letters, as in `trace/schema.py` */
  category: string;
  /** when it begins (nanoseconds) */
  start_ns: number;
  /** how long it lasts (nanoseconds) */
  duration_ns: number;
  /** of a kernel its name without what does not tell what it does; null of all others */
  short_name: string | null;
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
  /** of device work whom it belongs to, and how that is known */
  owner: Owner | null;
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
  /** of the slice */
  name: string;
  /** name in small letters, as in `trace/schema.py` */
  category: string;
  /** when it begins (nanoseconds) */
  start_ns: number;
  /** how long it lasts (nanoseconds) */
  duration_ns: number;
  /** of a kernel its name without what does not tell what it does; null of all others */
  short_name: string | null;
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
  /** how many pieces of it there are */
  total: number;
  /** Σ of durations of all of it */
  total_ns: number;
  /** the longest of it, at most 100 */
  slices: SliceReference[];
}

/** Whom device work belongs to. */
export interface Owner {
  /** operator, compiled, graph_node, annotation, module, frame, thread, inferred or none */
  how: string;
  /** why there is none: host_not_recorded, before_recording, no_correlation or launch_lost; null for others */
  reason: string | null;
  /** the owner in words */
  text: string;
  /** its name alone; null for none */
  name: string | null;
  /** the operator, annotation or frame; null for none, and for what is not drawn */
  slice: SliceReference | null;
  /** of a node of a graph the call that captured it, of what is inferred the work it is like; else null */
  evidence: SliceReference | null;
}

/** One arrow. */
export interface Flow {
  /** launch: from a call to its device work; forward_backward: from an operator to its backward */
  kind: "forward_backward" | "launch";
  /** where the arrow begins */
  source: SliceReference;
  /** where it ends */
  target: SliceReference;
}

/** All slices of one name. */
export interface SameName {
  /** how many there are */
  count: number;
  /** Σ of their durations */
  total_ns: number;
  /** mean duration */
  mean_ns: number;
  /** the shortest duration */
  min_ns: number;
  /** median duration */
  median_ns: number;
  /** 95th percentile of the durations */
  p95_ns: number;
  /** the longest duration */
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
  /** how many slices each bin has */
  counts: number[];
}

/** The arguments of an event, as they stand in the file. */
export interface EventArguments {
  /** number of an event in its file */
  row: number;
  /** JSON text, at most 200,000 characters; null when the event has none */
  args: string | null;
  /** how many characters all of it has */
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
  /** how many slices all of them have */
  count: number;
  /** Σ of durations of all of them (nanoseconds) */
  total_ns: number;
  /** the first ones in time */
  hits: HitColumns;
  /** how all of them are spread over the trace */
  density: HitDensity;
}

/** A name that matches. */
export interface FoundName {
  /** number of the name */
  name_id: number;
  /** as in the file */
  name: string;
  /** how many slices and instants have it */
  count: number;
  /** Σ of their durations (nanoseconds) */
  total_ns: number;
  /** row of the longest of them, of equals the first (number of an event in its file) */
  longest_row: number;
}

/** Slices whose names match, in order of time, as parallel lists. */
export interface HitColumns {
  /** event of each */
  row: number[];
  /** number of the lane that each stands on */
  lane: number[];
  /** number of each name */
  name_id: number[];
  /** when each begins */
  start_ns: number[];
  /** how long each lasts */
  duration_ns: number[];
}

/** How many hits begin in each of equal parts of the trace. */
export interface HitDensity {
  /** where the trace begins, where it ends (nanoseconds) */
  from_ns: number;
  /** where the trace begins, where it ends (nanoseconds) */
  to_ns: number;
  /** how many hits begin in each part */
  counts: number[];
}

/** Sums of the parts of slices that lie in a window. */
export interface WindowTotals {
  /** where the window begins (nanoseconds) */
  from_ns: number;
  /** where it ends (nanoseconds) */
  to_ns: number;
  /** how many touch the window */
  slices: number;
  /** how many touch the window */
  instants: number;
  /** by name and category, most time first, at most 1,000 */
  by_name: NameTotal[];
  /** how many names and categories there are */
  names_total: number;
  /** of those that `by_name` leaves out */
  rest: RestTotal;
  /** by category, most time first */
  by_category: CategoryTotal[];
  /** of which a lane was chosen */
  devices: DeviceTotal[];
}

/** Slices of one name and category. */
export interface NameTotal {
  /** number of the name */
  name_id: number;
  /** of the slices */
  name: string;
  /** name in small letters, as in `trace/schema.py` */
  category: string;
  /** how many slices touch the window */
  count: number;
  /** Σ of their parts in the window; nested ones count each (nanoseconds) */
  total_ns: number;
  /** row of the one with the largest part in the window (number of an event in its file) */
  longest_row: number;
}

/** What is left out of a list. */
export interface RestTotal {
  /** how many slices are left out */
  count: number;
  /** Σ of their parts in the window (nanoseconds) */
  total_ns: number;
}

/** Slices of one category, whatever encloses what. */
export interface CategoryTotal {
  /** name in small letters, as in `trace/schema.py` */
  category: string;
  /** how many slices touch the window */
  count: number;
  /** Σ of their parts in the window */
  total_ns: number;
}

/** What one device did in the window. Definitions: `analysis.shared.quantities`. */
export interface DeviceTotal {
  /** number of the device */
  device: number;
  /** `BUSY`: a kernel, copy or fill ran */
  busy_ns: number;
  /** the rest of the window */
  idle_ns: number;
  /** `COMPUTING`: a compute kernel ran */
  computing_ns: number;
  /** `COMMUNICATING`: a communication kernel ran */
  communicating_ns: number;
  /** `EXPOSED_COMMUNICATION`: one ran and no compute kernel */
  exposed_communication_ns: number;
  /** a copy ran; fills do not count */
  memcpy_ns: number;
}

/** Arrows, as parallel lists. */
export interface FlowColumns {
  /** how many there are; the lists may be shorter */
  total: number;
  /** how many arrows of these kinds in the trace touch no slice */
  loose: number;
  /** of each arrow */
  kind: ("forward_backward" | "launch")[];
  /** event where each begins */
  from_row: number[];
  /** number of the lane where each begins */
  from_lane: number[];
  /** when each begins */
  from_ns: number[];
  /** event where each ends */
  to_row: number[];
  /** number of the lane where each ends */
  to_lane: number[];
  /** when each ends */
  to_ns: number[];
}

/** Lanes that are computed. */
export interface DerivedAnswer {
  /** their position is the number of the lane */
  lanes: DerivedLaneAnswer[];
  /** what pieces are, by the codes that tiles have; most time first */
  parts: string[];
  /** why what comes behind a piece could not come earlier, by the codes that tiles have */
  edges: string[];
  /** why there are none; null when there are */
  refused: NoLanes | null;
  /** share of the time of the steps that nothing in the trace explains; null where it is not known */
  unexplained: number | null;
  /** how long the longest step takes; 0 without steps (nanoseconds) */
  longest_step_ns: number;
  /** whether `/api/timeline/slack` can be asked */
  has_slack: boolean;
}

/** A lane that is computed. */
export interface DerivedLaneAnswer {
  /** number of the device, null for a lane of the whole trace */
  device: number | null;
  /** how many stand on it */
  pieces: number;
  /** where the first begins, where the last one ends (nanoseconds) */
  begin_ns: number;
  /** where the first begins, where the last one ends (nanoseconds) */
  end_ns: number;
}

/** Why there are no such lanes. */
export interface NoLanes {
  /** names the reason */
  id: string;
  /** says it */
  text: string;
}

/** The event of the next or previous piece of the critical path. */
export interface PieceFound {
  /** null when there is none */
  slice: SliceReference | null;
  /** of the piece, from where to go on; null without one */
  start_ns: number | null;
  /** of the piece, from where to go on; null without one */
  end_ns: number | null;
}

/** All ranks of a run. */
export interface RunOverview {
  /** name of the run */
  run: string;
  /** which recording of the workers it is */
  span: string;
  /** where the first rank begins, where the last one ends (nanoseconds) */
  begin_ns: number;
  /** where the first rank begins, where the last one ends (nanoseconds) */
  end_ns: number;
  /** whether offsets come from the clocks of the files; else every rank begins at 0 */
  aligned: boolean;
  /** of those that can be asked */
  workers: RankOverview[];
  /** those that cannot be asked */
  absent: AbsentTrace[];
}

/** One rank. */
export interface RankOverview {
  /** name of the process that was recorded */
  worker: string;
  /** number of its process, null when neither the trace nor its name says */
  rank: number | null;
  /** of its machine, as the trace says; empty when it does not */
  host_name: string;
  /** always ready */
  state: "ready";
  /** of its timeline */
  version: string;
  /** how many the file has */
  events: number;
  /** how many the timeline has */
  slices: number;
  /** to be added to a time of this worker for one of the overview (nanoseconds) */
  offset_ns: number;
  /** in the worker's time (nanoseconds) */
  begin_ns: number;
  /** in the worker's time (nanoseconds) */
  end_ns: number;
  /** part of each bin in which device work ran, 0…255 for 0…1 */
  device: number[];
  /** the same of operators, 0…255 */
  host: number[];
  /** the same of communication kernels, 0…255 */
  communication: number[];
  /** starts of steps, in the worker's time */
  step_ns: number[];
}

/** A trace of the run that cannot be asked. */
export interface AbsentTrace {
  /** name of the process that was recorded */
  worker: string;
  /** as in `/api/status` */
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
  /** name of the rank's worker */
  worker: string;
  /** number of the event and of the lane of its first kernel, else of its call; null where that is no slice */
  row: number | null;
  /** number of the event and of the lane of its first kernel, else of its call; null where that is no slice */
  lane: number | null;
  /** when it begins (nanoseconds) */
  start_ns: number;
  /** how long it lasts (nanoseconds) */
  duration_ns: number;
}

/** What there is, and how far it is. */
export interface StatusAnswer {
  /** of the program */
  version: string;
  /** the log directory, as it was given */
  logdir: string;
  /** true until the log directory has been listed for the first time */
  scanning: boolean;
  /** why it could not be listed the last time */
  error: string | null;
  /** the same as `error`, for saying it in another language */
  why: Why | null;
  /** in natural order of their names */
  runs: RunProgress[];
  /** JSON files outside of all runs that are no traces, and why */
  skipped: SkippedFile[];
}

/** What a reason says, for saying it in another language. */
export interface Why {
  /** which reason it is; `other` is said in English alone */
  kind: string;
  /** what the sentence says beyond its kind */
  values: { [key: string]: string | number | boolean };
}

/** A run. */
export interface RunProgress {
  /** of the run */
  name: string;
  /** failed when all traces are, loading while one is not read, else ready */
  state: "failed" | "loading" | "ready";
  /** by worker, then span */
  traces: TraceProgress[];
  /** JSON files of the run that are no traces, and why */
  skipped: SkippedFile[];
}

/** A trace and how far it is. */
export interface TraceProgress {
  /** name of the process that was recorded */
  worker: string;
  /** which recording of the worker it is */
  span: string;
  /** its name within the directory of the run */
  file: string;
  /** of the file (bytes) */
  size: number;
  /** how far it is */
  state: "failed" | "loading" | "queued" | "ready";
  /** how much of it was read (bytes) */
  bytes_done: number;
  /** of the file (bytes) */
  bytes_total: number;
  /** how many were read, null until something is known */
  events: number | null;
  /** why it failed, a sentence that goes on after the name of the file */
  reason: string | null;
  /** the same as `reason`, for saying it in another language */
  why: Why | null;
  /** how many trace-health notes it has */
  notes: number;
  /** that have data */
  views: string[];
  /** number of the process: as the trace says, else its name */
  rank: number | null;
  /** how many processes there were, null when the trace does not say */
  world_size: number | null;
  /** null when the trace does not say */
  host_name: string | null;
}

/** A JSON file that is no trace, or a directory that could not be listed. */
export interface SkippedFile {
  /** path of the file or name of the directory */
  file: string;
  /** why, a sentence that goes on after the name of the file */
  reason: string;
  /** the same as `reason`, for saying it in another language */
  why: Why | null;
  /** a directory */
  unlisted: boolean;
}

/** The JSON answer of each route below `/api/`. */
export interface Answers {
  "compare": CompareAnswer;
  "critical_path": CriticalPathAnswer;
  "critical_path/pieces": {
    /** what stands beside the table */
    meta: TableMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "distributed": DistributedAnswer;
  "figures": FiguresAnswer;
  "figures/names": StepNames;
  "health": HealthAnswer;
  "kernels": {
    /** what stands beside the table */
    meta: KernelsMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "memory/alive": MemoryAliveAnswer;
  "memory/curve": MemoryCurveAnswer;
  "memory/events": {
    /** what stands beside the table */
    meta: MemoryEventsMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "memory/operators": {
    /** what stands beside the table */
    meta: MemoryOperatorsMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "modules": ModulesAnswer;
  "openapi.json": { [key: string]: unknown };
  "operators": {
    /** what stands beside the table */
    meta: OperatorsMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "operators/kernels": {
    /** what stands beside the table */
    meta: LaunchedMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "operators/stacks": {
    /** what stands beside the table */
    meta: OperatorsMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "overview": OverviewAnswer;
  "run_findings": RunFindingsAnswer;
  "stacks": StacksAnswer;
  "status": StatusAnswer;
  "summary": SummaryAnswer;
  "timeline": TimelineAnswer;
  "timeline/args": EventArguments;
  "timeline/collective": SharedCollective;
  "timeline/derived": DerivedAnswer;
  "timeline/flows": FlowColumns;
  "timeline/names": NamesOfSlices;
  "timeline/next": Neighbour;
  "timeline/overview": RunOverview;
  "timeline/path/next": PieceFound;
  "timeline/range": WindowTotals;
  "timeline/search": SearchResult;
  "timeline/slice": SliceDetails;
  "timeline/steps": TimelineStepsAnswer;
  "trace/slices": SlicesAnswer;
  "trace/window": { [key: string]: unknown };
  "traces": {
    /** what stands beside the table */
    meta: TracesMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "traces/names": {
    /** what stands beside the table */
    meta: NamesMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "waterfall": WaterfallAnswer;
  "what_if": WhatIfAnswer;
}
