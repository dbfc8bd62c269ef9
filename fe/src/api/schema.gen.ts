// Made by `npm run types` from docs/openapi.json. Not to be edited.

/** What a cell of a table holds. */
export type Cell = string | number | boolean | null;

/** By column key: a list each, all of the same length. */
export interface Rows { [key: string]: (string | number | boolean | null)[] }

/** One column of a table. */
export interface Column {
  /** its name in answers, with the unit at its end */
  key: string;
  /** what a page calls it */
  label: string;
  /** of its values */
  type: "bool" | "number" | "string";
  /** of its values, null if they have none */
  unit: "bytes" | "bytes_per_second" | "count" | "flop" | "flop_per_second" | "fraction" | "ns" | "percent" | null;
  /** definition and formula */
  help: string;
  /** of label and help, for translating them: `operators.calls`; put together of a word and of texts that exist: `baseline operators.calls`; empty if they exist only in English */
  id: string;
  /** tables of people and agents leave it out until it is asked for */
  hidden?: boolean;
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
  /** causes, each the one that saves most beyond those before it; then what has no number, then warnings */
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
  top_operators: TopOperator[];
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
  /** the number of the step from its mark, otherwise counted from 0 */
  names: string[];
  /** the annotation that marks the step */
  labels: string[];
  /** time since the start of the trace */
  start_ns: number[];
  /** the period of the step: from the end of the previous step to its own end, which is that of its mark on the host or, if later, that of the last device work it launched */
  duration_ns: number[];
  /** by which the steps were found */
  rule: string;
  /** that can be asked for */
  rules: string[];
  /** what the steps of each kind take, where steps run unlike programs: means over all are over several programs; empty where all are of one kind */
  kinds: KindFigures[];
  /** of each step the position of its kind in `kinds`; empty where all are of one kind */
  kind: number[];
  /** that the trace can have, by priority */
  categories: string[];
  /** of each step by category; they add up to duration_ns */
  category_ns: { [key: string]: number[] };
  /** what devices did in each step; null if none ran kernels */
  use: StepUses | null;
  /** what the columns of names, labels, starts and durations are */
  columns: Definition[];
}

/** What the steps of one kind take. */
export interface KindFigures {
  /** what is known of their program: `training` has a backward pass or an optimizer step, `without_backward` has none while other steps do, `other` is only known to be another program */
  id: "decode" | "decode_image" | "denoise" | "draft" | "encode" | "mixed" | "other" | "prefill" | "training" | "validation" | "verify" | "without_backward";
  /** what marks the steps, without numbers, where marks tell kinds apart; else null */
  label: string | null;
  /** from 1 among kinds that have the same id and label; null of the only one */
  number: number | null;
  /** its name in English */
  title: string;
  /** how many steps */
  count: number;
  /** their names */
  steps: string[];
  /** the first of them, where they follow each other without others between; else null */
  from_step: string | null;
  /** the last of them, likewise */
  to_step: string | null;
  /** arithmetic mean of their periods (nanoseconds) */
  mean_ns: number;
  /** median of their periods (nanoseconds) */
  median_ns: number;
  /** of the average step of the kind, by category; they add up to `mean_ns` */
  category_ns: { [key: string]: number };
  /** where the time of the average step of the kind went; the parts add up to `mean_ns` exactly */
  waterfall: Part[];
}

/** A part of the average step. */
export interface Part {
  /** why the time passed */
  cause: string;
  /** mean over the steps and the devices that ran kernels; the parts add up to the mean step time exactly (nanoseconds) */
  ns: number;
}

/** What devices did in each step, mean over the devices that ran kernels. Not a partition: parts overlap. */
export interface StepUses {
  /** a kernel, copy or fill ran */
  busy_ns: number[];
  /** a compute kernel ran */
  computing_ns: number[];
  /** a communication kernel ran; null if communication is only known from calls on the host */
  communicating_ns: number[] | null;
  /** a communication kernel ran and no compute kernel; null likewise */
  exposed_communication_ns: number[] | null;
}

/** One reported quantity: the key of the HTTP interface, how to show it, and what it is. */
export interface Definition {
  /** its name in answers, with the unit at its end */
  key: string;
  /** what a page calls it */
  label: string;
  /** of its values */
  type: "bool" | "number" | "string";
  /** of its values, null if they have none */
  unit: "bytes" | "bytes_per_second" | "count" | "flop" | "flop_per_second" | "fraction" | "ns" | "percent" | null;
  /** definition and formula */
  help: string;
  /** of label and help, for translating them: `operators.calls`; put together of a word and of texts that exist: `baseline operators.calls`; empty if they exist only in English */
  id: string;
  /** tables of people and agents leave it out until it is asked for */
  hidden?: boolean;
}

/** Arithmetic means over the steps; 0 without steps. */
export interface AverageStep {
  /** length of a step */
  step_ns: number;
  /** by category; they add up to step_ns */
  category_ns: { [key: string]: number };
}

/** One device that ran kernels. Fractions 0…1, None if the trace does not contain it enough. */
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
  /** estimated occupancy of the compute kernels where it is known, 0…1 */
  achieved_occupancy: number | null;
  /** part of the time of compute kernels that these are, 0…1 */
  occupancy_known_share: number | null;
  /** parts of the time of compute kernels */
  tensor_cores: TensorCores;
}

/** Parts of the time of compute kernels, 0…1; what is not None adds up to 1. None if there is no such time. */
export interface TensorCores {
  /** part of kernels known to use tensor cores, 0…1; None if it is known of none */
  yes: number | null;
  /** part of kernels known not to, 0…1; None if it is known of none */
  no: number | null;
  /** part of kernels of which it is not known, 0…1 */
  unknown: number | null;
}

/** The devices of a trace together. Fractions 0…1, None if the trace does not contain it enough. */
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
  tensor_cores: TensorCores;
  /** of all compute kernels that are selected, of every device */
  occupancy: Occupancy;
}

/** Estimated achieved occupancy of compute kernels, 0…1. */
export interface Occupancy {
  /** over the kernels where it is known, weighted by duration, 0…1; None if it is known for none */
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
  /** what bounds the steps after that; null if nothing clearly does */
  next: "communication" | "compute" | "host" | "input" | "launch" | "memory" | "sync" | "unknown" | null;
  /** which part of the steps has a cause in the trace, both on the critical path and in the waterfall, 0…1; null without steps */
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
  /** of the steps, 0…1; null if the change is refused */
  share: number | null;
}

/** A cause of lost time, or a warning, for one trace. */
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
  /** what it costs the average step; null of a warning, which has no time */
  saving: FindingSaving | null;
  /** the numbers that support it */
  evidence: Evidence[];
  /** how many places there are where it can be seen */
  count: number;
  /** a page that says more */
  links: Link[];
  /** what title, detail and advice say beyond the id, for saying it in another language */
  values: { [key: string]: string | number | boolean };
  /** where in the program; null if it is not known */
  where: Where | null;
  /** where it can be seen in the trace, the longest first: the first of `count` */
  instances: Instance[];
}

/** What removing the cause would save in the average step, by replay (docs/replay.md). Null where it is refused. */
export interface FindingSaving {
  /** when nothing else is changed */
  alone_ns: number | null;
  /** beyond the findings that are counted before this one; these add up to what all save together */
  after_others_ns: number | null;
  /** beyond all other findings; those that come after all of these by their nature are left out */
  last_in_ns: number | null;
  /** an interval of `after_others_ns`; null with fewer than two steps */
  low_ns: number | null;
  /** an interval of `after_others_ns`; null with fewer than two steps */
  high_ns: number | null;
  /** the most that any remedy can save */
  bound: boolean;
  /** why there is no number */
  refused: string | null;
  /** the same as a name, for saying it in another language */
  refused_id: string | null;
  /** the measure that decided, 0…1, where there is one */
  refused_share: number | null;
}

/** A number that supports a finding, and where it is shown. */
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

/** A page that says more. */
export interface Link {
  /** what the text says, for saying it in another language */
  key: string;
  /** its title */
  text: string;
  /** its address */
  url: string;
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
  /** the setting of the profiler that would give the line; null if the line is known, or it was set */
  missing: string | null;
}

/** One place in the trace where a finding can be seen. */
export interface Instance {
  /** number of the event (number of an event in its file) */
  row: number;
  /** of the event */
  name: string;
  /** since the start of the trace (nanoseconds) */
  start_ns: number;
  /** of the event, or of the idle time that it ended (nanoseconds) */
  duration_ns: number;
  /** name of the step that most of it lies in; null outside of the steps */
  step: string | null;
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

/** An operator that took a lot of time. */
export interface TopOperator {
  /** of the operator */
  name: string;
  /** whether it is a call of torch.distributed */
  is_communication: boolean;
  /** time on the host less that of operators below it (nanoseconds) */
  host_self_ns: number;
  /** time of device work that it launched itself, null if no device was recorded */
  device_self_ns: number | null;
  /** how often it ran */
  calls: number;
}

/** A kernel that took a lot of time. */
export interface TopKernel {
  /** of the kernel */
  name: string;
  /** the name that a page has room for */
  short_name: string;
  /** what it computes, as among kernels; null if the name is of no known family */
  kind: string | null;
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
  /** Σ of device work, null if none was recorded */
  device_ns: number | null;
  /** Σ of host time of operators (nanoseconds) */
  host_ns: number;
  /** Σ of device work that no operator launched, null if none was recorded */
  unattributed_device_ns: number | null;
  /** the same by why */
  unattributed: Unattributed[];
  /** part of the time of autograd nodes whose forward is not known, 0…1: of their device time, otherwise of their host time; null without any, and in answers about one operator */
  unlinked_backward: number | null;
  /** share of step time in which devices were busy, 0…1; null without devices, and in answers about one operator */
  device_busy: number | null;
  /** what the columns of `unattributed` are */
  unattributed_columns: Definition[];
}

/** Device work that no operator launched, by its owner. */
export interface Unattributed {
  /** what the work belongs to, such as `graph replay of aten::mm` or `module: Linear_3`, or why that is not known */
  owner: string;
  /** how the owner is known: by what ran around the launch (compiled, annotated, annotation, module, frame, thread), the capture of the graph (graph_node), the same work in a recorded step (inferred), or none */
  how: string;
  /** only the owner's name; null for none */
  name: string | null;
  /** why there is none: host_not_recorded, before_recording, no_correlation, launch_lost or ambiguous; null for others */
  reason: string | null;
  /** the API call in parentheses, or that it is not in the trace */
  launcher: string;
  /** how many kernels, copies and memsets */
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
  /** parts of compute_ns */
  tensor_cores: TensorCores;
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
  /** Σ of their sizes in bytes, None if the trace does not contain it */
  bytes: number | null;
}

/** What was recorded, and what problems it has. */
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
  /** UTC, ISO 8601; None if the times of the file count from something unknown */
  recorded_at: string | null;
  /** from the first event to the end of the last */
  duration_ns: number;
  /** most events first */
  categories: CategoryCount[];
  /** by which the steps were found */
  step_rule: string;
  /** how many there are */
  steps: number;
  /** what the header says of each profiler option; None if it does not name it */
  options: { [key: string]: boolean | null };
  /** per option that adds something to a trace, how many events have what it adds */
  found: { [key: string]: number };
  /** of the format, drivers and libraries, as the header says */
  versions: { [key: string]: string | number | boolean };
  /** other entries of the header, such as those of the program itself */
  metadata: { [key: string]: string | number | boolean };
  /** of the machine, None if the file does not contain it */
  host_name: string | null;
  /** of a program of several processes, None without it in the header */
  distributed: Distributed | null;
  /** those of the machine, and anything else that did some work */
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

/** A device of the machine (`deviceProperties`) or one that did some work; null if the file does not contain it. */
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

/** One trace in a row of numbers; None if it is not in the trace, or the trace has no steps. */
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
  /** part of that time known to use tensor cores, 0…1; None if it is known of none */
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
  /** what the average step did: `exposed_ns` of all phases adds up to `steps.mean_ns` exactly; empty without steps */
  phases: PhaseMean[];
  /** how the program infers; null if nothing shows that it does */
  engine: EngineSummary | null;
  /** how devices were used */
  device: DeviceSummary;
  /** what is known about what started device work */
  owners: SummaryOwners;
  /** FLOP of the average step */
  flops: SummaryFlops;
  /** model FLOP utilization, 0…1; null if too little is known */
  mfu: number | null;
  /** hardware FLOP utilization, 0…1; null if too little is known */
  hfu: number | null;
  /** the operators that lose most, at most 20; empty if peaks or shapes are not known */
  lost: SummaryLost[];
  /** what bounds the steps, by replay; `unknown` where the trace does not say */
  bound: "communication" | "compute" | "host" | "input" | "launch" | "memory" | "sync" | "unknown";
  /** the same in words, with the reason of `unknown` */
  bound_sentence: string;
  /** which part of the steps has a cause in the trace, 0…1; null without steps */
  explained: number | null;
  /** by what they save after those counted before them, the largest first; then what has no number, then warnings. Of a run these, `bound` and `explained` are of all ranks, `where` names ranks; causes in the program of this rank are among them */
  findings: SummaryFinding[];
  /** what is wrong with the recording; of a run, what is wrong with the ranks together is among them */
  notes: Note[];
  /** all ranks of the run; null if the question is about one of several workers */
  ranks: RanksSummary | null;
  /** files of the run that could not be read or are no traces; empty if the question names a worker */
  skipped: SummarySkipped[];
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
  /** names of the devices that did some work, by number; null if the file does not name one */
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
  /** what the steps of each kind take, where steps run unlike programs: the median and the mean are over several programs then; empty where all are of one kind */
  kinds: KindFigures[];
}

/** A phase of the average step. */
export interface PhaseMean {
  /** which one */
  name: "backward" | "capture" | "compile" | "data" | "decode" | "decode_image" | "denoise" | "draft" | "encode" | "forward" | "logging" | "loss" | "mixed" | "no_launch" | "optimizer" | "other" | "prefill" | "recompute" | "sample" | "schedule" | "validation" | "verify" | "zero_grad";
  /** time of the main thread, mean over the steps (nanoseconds) */
  host_ns: number;
  /** Σ durations of the device work that the phase launched, mean over the steps (nanoseconds) */
  device_ns: number;
  /** its part of the step: over all phases they add up to the mean step time exactly (nanoseconds) */
  exposed_ns: number;
  /** the part of `host_ns` that no range, frame or autograd node marks (nanoseconds) */
  inferred_ns: number;
}

/** How a program infers. */
export interface EngineSummary {
  /** vllm, sglang, atom, tensorrt_llm, xdit; loop (ranges of the program's own), model (calls of a model), diffusion */
  kind: string;
  /** how its steps were found */
  how: "embedding" | "modules" | "names" | "ranges" | "stages";
  /** the phases that occur */
  steps: EnginePhase[];
  /** how many new tokens all steps compute; null if it is unknown for some step */
  tokens: number | null;
  /** how many tokens steps generate, one for each request; null if it is unknown for some step, or a step checks draft tokens */
  generated: number | null;
  /** generated, without the last step ÷ time from the first step to the last; null like it, and with one step */
  tokens_per_second: number | null;
  /** time per output token: mean from the beginning of a step that generates to that of the next, weighted by its requests if they are known for all steps; null with fewer than two steps, and with draft tokens, because it is not recorded how many of them were accepted */
  tpot_ns: number | null;
  /** Σ of the gaps between steps, on the host; null if their ends are not known, and with one step */
  gap_ns: number | null;
  /** part of the device time of the steps that replays of graphs have, 0…1; null without device time */
  graph_share: number | null;
}

/** The steps of one phase. Means and medians are of one step; null if no step says it. */
export interface EnginePhase {
  /** which phase */
  name: "backward" | "capture" | "compile" | "data" | "decode" | "decode_image" | "denoise" | "draft" | "encode" | "forward" | "logging" | "loss" | "mixed" | "no_launch" | "optimizer" | "other" | "prefill" | "recompute" | "sample" | "schedule" | "validation" | "verify" | "zero_grad";
  /** how many */
  steps: number;
  /** median from the beginning of a step to the beginning of the next */
  period_ns: number | null;
  /** mean duration on the host (nanoseconds) */
  host_ns: number;
  /** mean Σ of durations of the device work launched in it (nanoseconds) */
  device_ns: number;
  /** mean number of requests */
  requests: number | null;
  /** how many new tokens, over the steps for which this is known */
  tokens: number | null;
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

/** FLOP by the shapes of operators. Shares are parts of the time of compute kernels, copies and fills, 0…1. */
export interface SummaryFlops {
  /** FLOP that the model needs in the average step; null if none are known */
  per_step: number | null;
  /** FLOP of the average step, what is computed again in the backward pass too; null like it */
  executed: number | null;
  /** of which matrix FLOP are known, also where there are none; null if nothing took time */
  coverage: number | null;
  /** time with FLOP ÷ the same with that of which FLOP are not known; null if there is neither */
  matrix_coverage: number | null;
  /** of which bytes are known; null if nothing took time */
  bytes_coverage: number | null;
  /** whose FLOP or bytes are not known, by reason */
  unknown: { [key: string]: number };
}

/** What the calls of an operator take longer than the least time on their device, over the whole recording. */
export interface SummaryLost {
  /** its name */
  operator: string;
  /** lost (nanoseconds) */
  ns: number;
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
  /** where in the program; null if it is not known */
  where: string | null;
  /** what it costs; null of a warning */
  saving: FindingSaving | null;
  /** where it can be seen, the longest first */
  evidence: RunInstance[];
}

/** One place in the trace of a rank. */
export interface RunInstance {
  /** number of the event (number of an event in its file) */
  row: number;
  /** of the event */
  name: string;
  /** since the start of the trace (nanoseconds) */
  start_ns: number;
  /** of the part that shows the finding (nanoseconds) */
  duration_ns: number;
  /** name of the step that most of it lies in; null outside of the steps */
  step: string | null;
  /** whose trace */
  worker: string;
}

/** `ranks` of `summary --json` and `ingest --json`. */
export interface RanksSummary {
  /** how many ranks were read */
  present: number;
  /** how many ranks the job has; null if the traces do not contain it */
  expected: number | null;
  /** those that are named; where none is, the slower of two peers (`named` false, `doubt` few_peers) */
  stragglers: Straggler[];
  /** groups or pairs whose transfers take longer */
  slow_links: SlowLink[];
  /** how many were matched */
  collectives: Matched;
  /** collectives that a member of their group lacks, at most 20 */
  missing: MissingCollective[];
  /** offsets of the clocks */
  clock: Clock;
}

/** A rank that works longer than its peers, by its own time between collectives: no waiting is in it. */
export interface Straggler {
  /** number of the rank; null if its trace does not contain it */
  rank: number | null;
  /** name of its trace */
  worker: string;
  /** where it ran; null if the trace does not contain it */
  host: string | null;
  /** how much longer than its peers, of a step: in own time of the step or before one collective, in its kernels or on its host, whichever is the clearest evidence (nanoseconds) */
  late_ns: number;
  /** how many robust deviations of the peers that is, where it is largest; null with fewer than three peers */
  z: number | null;
  /** what takes longer */
  cause: "allocator" | "input" | "late_launches" | "more_work" | "network" | "slow_compute" | "slow_operator" | "unknown";
  /** the operator, kernel or collective that takes longer; null if no single one does */
  operator: string | null;
  /** the part of it, of a step; null like operator */
  operator_ns: number | null;
  /** collective before which the rank is late; null if it is late in many places */
  position: string | null;
  /** how much shorter a step would be without it: replay over all ranks; null if it is not known */
  saving_ns: number | null;
  /** in how many steps it is clearly late */
  steps: number;
  /** how many steps were compared */
  of_steps: number;
  /** with how many ranks it was compared */
  peers: number;
  /** whether it is surely slow; otherwise it is only listed, for `doubt` */
  named: boolean;
  /** why it is not named: few_steps, few_peers, small, loading; empty if it is named */
  doubt: "" | "few_peers" | "few_steps" | "loading" | "small";
}

/** A process group whose transfers are slower than those of groups of the same kind and size. */
export interface SlowLink {
  /** label of the group */
  group: string;
  /** the number of each of its members that are here, at most 64 */
  ranks: number[];
  /** where they run */
  hosts: string[];
  /** the two ranks between which it is slow; null if only the group is known */
  pair: Cell[] | null;
  /** collective that is slower */
  kind: string;
  /** how much longer its transfers take than the median group's, of a step (nanoseconds) */
  extra_ns: number;
  /** how many times as long as those of the median group its transfers take */
  ratio: number;
  /** how many robust deviations of the groups that is */
  z: number;
  /** how many other groups or pairs it was compared with */
  compared: number;
}

/** How many collectives several ranks have. */
export interface Matched {
  /** how many are on several ranks */
  matched: number;
  /** how many are on one, although its group has more here or it is point-to-point */
  unmatched: number;
}

/** A collective that some present member of its group does not have: a hint that ranks diverged. */
export interface MissingCollective {
  /** label of the process group */
  group: string;
  /** number of the collective in its group; null if the traces do not contain it */
  sequence: number | null;
  /** of the call */
  name: string;
  /** in which the others called it; null outside of steps */
  step: string | null;
  /** the number of each rank that lacks it, at most 64 */
  ranks: (number | null)[];
  /** how many have it */
  having: number;
  /** false: one of several equal neighbours is missing, not surely this one */
  exact: boolean;
  /** whether the ranks have nothing more of the group after it: it may hang there */
  stops: boolean;
}

/** What to add to the times of each rank (since its own start) to have them by one clock, as parallel lists. */
export interface Clock {
  /** names of the traces */
  workers: string[];
  /** by which the clock differs from that of the lowest rank at the middle of its trace, once times since the epoch are compared; null if it shares no clock with it */
  offset_ns: (number | null)[];
  /** what to add to a time since the start of the trace for one since the start of the first trace: from times since the epoch, with the offset where `corrected`; null likewise */
  shift_ns: (number | null)[];
  /** how many parts in a million faster it runs; null likewise */
  drift_ppm: (number | null)[];
  /** median distance of the ends of collectives from the lines; null if nothing was fitted */
  residual_ns: number | null;
  /** whether the offsets are larger than their uncertainty; otherwise times since the epoch are used unchanged */
  corrected: boolean;
  /** how many sets of ranks there are between which clocks are known */
  components: number;
}

/** A file of the run that the summary is not about. */
export interface SummarySkipped {
  /** its name */
  file: string;
  /** why it was not read, or is no trace */
  reason: string;
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
  /** its id; the part before a dot is a group of causes */
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

/** A stretch of time with one cause, within one step. Texts and rows are null if the trace does not show it. */
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

/** What the time of a category was spent with, in all steps that are chosen. */
export interface CategoryAnswer {
  /** which trace */
  meta: TraceMeta;
  /** which category */
  category: "communication" | "cpu_exec" | "dataloader" | "kernel" | "memcpy" | "memset" | "other" | "runtime";
  /** Σ over the steps: what /api/overview says of it (nanoseconds) */
  total_ns: number;
  /** how many names there are */
  names: number;
  /** by name, the most time first */
  parts: CategoryPart[];
  /** the longest stretches of time, the longest first */
  stretches: CategoryStretch[];
}

/** What the events of one name have of a category. */
export interface CategoryPart {
  /** of the events; null for time in which it is not known what ran */
  name: string | null;
  /** for a kernel, its short name; otherwise the name */
  short_name: string | null;
  /** what they are: an operator, a kernel, or something else */
  kind: "kernel" | "operator" | "other";
  /** Σ of their time in the category, over all steps (nanoseconds) */
  ns: number;
  /** how many stretches of time that is */
  stretches: number;
  /** start of the longest of them (nanoseconds) */
  start_ns: number;
  /** how long that is (nanoseconds) */
  duration_ns: number;
  /** the event of the longest; null if there is none */
  row: number | null;
}

/** A stretch of time of one event within one step. */
export interface CategoryStretch {
  /** name of the step */
  step: string;
  /** of the event; null if the trace does not show what ran */
  name: string | null;
  /** for a kernel, its short name; otherwise the name */
  short_name: string | null;
  /** since the start of the trace (nanoseconds) */
  start_ns: number;
  /** how long it lasts (nanoseconds) */
  duration_ns: number;
  /** the event; null if there is none */
  row: number | null;
}

/** The metadata of a page of a table about one trace: `TraceMeta` and `PageMeta`. */
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

/** FLOP of the average step, and which part of the peak that is. */
export interface FlopsAnswer {
  /** how many steps there are */
  steps: number;
  /** the mean of the step times, which utilizations refer to (nanoseconds) */
  time_ns: number;
  /** while a compute kernel ran, in an average step (nanoseconds) */
  busy_ns: number;
  /** FLOP that the model needs in an average step: without what is computed again in the backward pass (FLOP) */
  per_step: number;
  /** FLOP that are executed in an average step (FLOP) */
  executed: number;
  /** what attention over concatenated sequences needs in addition to per_step: their lengths were not recorded, so it lies between two numbers; null without such attention */
  packed: PackedFlops | null;
  /** model FLOP utilization: per_step ÷ peak of the element types ÷ time ÷ devices */
  mfu: Utilization;
  /** hardware FLOP utilization: the same for the FLOP executed */
  hfu: Utilization;
  /** per_step ÷ peak ÷ busy: what kernels reach while they run */
  busy_mfu: Utilization;
  /** by element type, the most FLOP first */
  elements: OfElement[];
  /** its parts by phase; empty if phases are not known */
  phases: OfPhase[];
  /** how much of the time is known; null if nothing took time */
  coverage: Coverage | null;
  /** which trace */
  meta: TraceMeta;
  /** code that would record what is unknown, by reason */
  remedies: { [key: string]: string };
  /** what they can do */
  devices: DeviceRoofs[];
}

/** FLOP of attention over concatenated sequences whose lengths were not recorded. */
export interface PackedFlops {
  /** FLOP there are at least */
  least: number;
  /** FLOP there are at most */
  most: number;
}

/** A part of the peak, 0…1. */
export interface Utilization {
  /** what is known about it; None if that is nothing */
  value: number | null;
  /** not less than that; None: not known */
  low: number | null;
  /** not more than that, if all that is not known ran at the peak; None: not known */
  high: number | null;
  /** how to say it */
  shown: "at_least" | "exact" | "hidden" | "range";
  /** why there is no value; None if there is one */
  why: "coverage" | "no_device" | "no_peak" | "no_products" | "no_steps" | null;
}

/** Products of one element type in the steps. */
export interface OfElement {
  /** what they multiply */
  element: string;
  /** FLOP of an average step */
  flops: number;
  /** time of their kernels in an average step */
  time_ns: number;
  /** FLOP/s of the device for the type; None: not known */
  rate: number | null;
}

/** A part of the average step. */
export interface OfPhase {
  /** which, as the view Program knows it */
  phase: "backward" | "capture" | "compile" | "data" | "decode" | "decode_image" | "denoise" | "draft" | "encode" | "forward" | "logging" | "loss" | "mixed" | "no_launch" | "optimizer" | "other" | "prefill" | "recompute" | "sample" | "schedule" | "validation" | "verify" | "zero_grad";
  /** FLOP that are executed */
  flops: number;
  /** time of all kernels, copies and fills that are no communication */
  time_ns: number;
}

/** Parts of the time of compute kernels, copies and fills, 0…1; on the host of the time of operators by themselves. */
export interface Coverage {
  /** all of it */
  time_ns: number;
  /** of what matrix FLOP are known, also where there are none (0…1) */
  flops: number;
  /** time with FLOP ÷ the same with that of which FLOP are not known; None if there is neither */
  matrix: number | null;
  /** of what bytes are known by arguments, or recorded (0…1) */
  bytes: number;
  /** a further part, of which bytes are estimated by the grids of kernels (0…1) */
  bytes_estimated: number;
  /** parts whose FLOP or bytes are not known, by reason */
  unknown: { [key: string]: number };
}

/** What a device can do at most. */
export interface DeviceRoofs {
  /** number of the device */
  device: number;
  /** as recorded; empty if it was not recorded */
  name: string;
  /** FLOP/s by element type; empty if nothing is known */
  flops: { [key: string]: number };
  /** of its memory, bytes/s; null if not known */
  bandwidth: number | null;
  /** to another device, bytes/s in each direction; null if not known */
  link: number | null;
  /** to the host, bytes/s in each direction; null if not known */
  host: number | null;
  /** whether it has some */
  tensor_cores: boolean;
  /** FLOP/s by element type that long products of this trace reach; without those of fewer than 3 */
  reached_flops: { [key: string]: number };
  /** bytes/s that its large elementwise kernels reach; null with fewer than 10 */
  reached_bandwidth: number | null;
  /** how far `flops` may be off either way: of a device that is not listed they are an estimate (0…1) */
  spread: number;
  /** where the values are from; null if nothing is known */
  source: "architecture" | "data_sheet" | "tables" | "user" | null;
}

/** Beside a roofline. */
export interface RooflineMeta {
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
  /** what makes a row */
  group_by: string;
  /** Σ of all kernels, copies and fills without communication; on the host of operators by themselves (nanoseconds) */
  total_ns: number;
  /** Σ of what is lost; null if the time at the roof is known for nothing */
  lost_ns: number | null;
  /** what they can do */
  devices: DeviceRoofs[];
  /** whether the trace has modules to group by */
  modules: boolean;
  /** whether it has Python frames to group by */
  lines: boolean;
}

/** What the steps did. */
export interface PhasesAnswer {
  /** which trace */
  meta: TraceMeta;
  /** name of the thread that runs the program; null without one */
  main_thread: string | null;
  /** names of the steps */
  steps: string[];
  /** their periods */
  step_ns: number[];
  /** how long the marks of the steps last on the host */
  host_ns: number[];
  /** of the average step; those that occur */
  phases: PhaseRow[];
  /** of each step */
  step_phases: StepPhases;
  /** part of the host time whose phase no mark says, 0…1; null without host time */
  inferred: number | null;
  /** computing again what was not kept */
  recompute: Recomputation;
  /** whether backward is linked to its forward; empty without a backward pass */
  backward: BackwardShare[];
  /** a row for each backward pass */
  micro_batches: Columns;
  /** how many backward passes each step has */
  per_step: number[];
  /** by class and turn in the step */
  optimizers: Columns;
  /** of the memory of each device, in the whole trace; empty if none was recorded */
  peaks: PhaseAtPeak[];
  /** the longest of the phase that was asked for; empty without one */
  stretches: Stretch[];
}

/** A phase of the average step, with everything known about it. */
export interface PhaseRow {
  /** which one */
  name: "backward" | "capture" | "compile" | "data" | "decode" | "decode_image" | "denoise" | "draft" | "encode" | "forward" | "logging" | "loss" | "mixed" | "no_launch" | "optimizer" | "other" | "prefill" | "recompute" | "sample" | "schedule" | "validation" | "verify" | "zero_grad";
  /** time of the main thread, mean over the steps (nanoseconds) */
  host_ns: number;
  /** Σ durations of the device work that the phase launched, mean over the steps (nanoseconds) */
  device_ns: number;
  /** its part of the step: over all phases they add up to the mean step time exactly (nanoseconds) */
  exposed_ns: number;
  /** the part of `host_ns` that no range, frame or autograd node marks (nanoseconds) */
  inferred_ns: number;
  /** the part of `exposed_ns` in which a collective runs and no compute kernel (nanoseconds) */
  communication_ns: number;
  /** Σ of its allocations over all steps; null if none were recorded */
  allocated_bytes: number | null;
  /** number of FLOP of its operators over all steps; null if none are known */
  flops: number | null;
}

/** Time of each step by phase; parallel to the steps. */
export interface StepPhases {
  /** of the main thread: adds up to the mark of the step exactly */
  host: { [key: string]: number[] };
  /** Σ durations of device work */
  device: { [key: string]: number[] };
  /** of the step: adds up to its period exactly */
  exposed: { [key: string]: number[] };
}

/** Computing again in the backward pass what was not kept: shares of the backward pass with it; null without one. */
export interface Recomputation {
  /** of the time of the main thread */
  host: number | null;
  /** of the device time */
  device: number | null;
  /** of the exposed time */
  exposed: number | null;
}

/** A part of the time of autograd nodes. */
export interface BackwardShare {
  /** linked: it is known which operator they are the backward of; otherwise why not: script (TorchScript), no_number (none was recorded), no_forward (it is not in the trace) */
  link: "linked" | "no_forward" | "no_number" | "script";
  /** part of their host time, 0…1; null without any */
  host: number | null;
  /** part of the time of the device work that they launched, 0…1; null without any */
  device: number | null;
}

/** When most memory of a device was in use in the whole trace. */
export interface PhaseAtPeak {
  /** which one */
  device: string;
  /** of the thread that allocated then */
  phase: "backward" | "capture" | "compile" | "data" | "decode" | "decode_image" | "denoise" | "draft" | "encode" | "forward" | "logging" | "loss" | "mixed" | "no_launch" | "optimizer" | "other" | "prefill" | "recompute" | "sample" | "schedule" | "validation" | "verify" | "zero_grad";
  /** how the phase is known */
  evidence: string;
  /** since the start of the trace (nanoseconds) */
  time_ns: number;
  /** in use then (bytes) */
  bytes: number;
}

/** A stretch of the main thread in one phase. */
export interface Stretch {
  /** name of the step that it begins in; null outside steps */
  step: string | null;
  /** since the start of the trace (nanoseconds) */
  start_ns: number;
  /** how long it lasts (nanoseconds) */
  duration_ns: number;
  /** how the phase is known */
  evidence: string;
}

/** How a program infers; all but meta is null or empty if nothing shows that it does. */
export interface EngineAnswer {
  /** which trace */
  meta: TraceMeta;
  /** figures of all steps */
  engine: EngineSummary | null;
  /** the time between steps, by what the host did; null if it is not known */
  gaps: EngineGaps | null;
  /** Σ durations of device work by phase and kind of kernel */
  families: { [key: string]: { [key: string]: number } };
  /** a row for each step */
  steps: Columns | null;
}

/** Time of the host between the end of a step and the beginning of the next, over all steps, by what it did then. */
export interface EngineGaps {
  /** all of it (nanoseconds) */
  total_ns: number;
  /** in ranges of sampling (nanoseconds) */
  sample_ns: number;
  /** in ranges of scheduling (nanoseconds) */
  schedule_ns: number;
  /** in ranges of detokenizing (nanoseconds) */
  detokenise_ns: number;
  /** in calls that wait for a device (nanoseconds) */
  wait_ns: number;
  /** the rest (nanoseconds) */
  other_ns: number;
}

/** What torch.compile did. */
export interface CompiledAnswer {
  /** which trace */
  meta: TraceMeta;
  /** over all regions; null if neither a region nor a compilation was recorded */
  totals: RegionTotals | null;
  /** a row for each compiled code */
  regions: Columns;
  /** a row for each compilation */
  compilations: Columns;
  /** a row for each kernel that Inductor generated */
  kernels: Columns;
  /** a row for each operator outside compiled code; empty if nothing compiled runs */
  eager: Columns;
}

/** Over all compiled regions of the steps that are chosen. Device times are Σ of durations. */
export interface RegionTotals {
  /** how many calls of outermost regions */
  calls: number;
  /** host time of these, including what is inside them (nanoseconds) */
  outer_ns: number;
  /** checking guards before regions (nanoseconds) */
  lookup_ns: number;
  /** the longest of these checks (number of an event in its file); null without any */
  lookup_row: number | null;
  /** compiling (nanoseconds) */
  compile_ns: number;
  /** how many, frame by frame */
  compilations: number;
  /** how many of these compile a frame again; null if a trace does not name them */
  again: number | null;
  /** device work that was launched in compiled code: regions, and backward passes of their graphs (nanoseconds) */
  inside_device_ns: number;
  /** the eager remainder: device work launched elsewhere (nanoseconds) */
  outside_device_ns: number;
  /** how often a call of compiled code goes on in other compiled code: each is a graph break */
  breaks: number;
  /** `function:line` at which it goes on; only with Python frames */
  lines: string[];
  /** how often tracing started again, as it does at a break */
  restarts: number;
}

/** What devices replayed of graphs (CUDA and HIP). */
export interface GraphsAnswer {
  /** which trace */
  meta: TraceMeta;
  /** Σ durations of device work in replays, in the steps that are chosen (nanoseconds) */
  replayed_ns: number;
  /** the same of all other device work (nanoseconds) */
  outside_ns: number;
  /** a row for each graph that was replayed */
  graphs: Columns;
  /** a row for each capture, in the whole recording */
  captures: Columns;
  /** a row for each name of device work that ran in no replay; empty if nothing was replayed */
  outside: Columns;
  /** of the graph that was asked for; null without one */
  nodes: Columns | null;
  /** the longest times for which a device waits in and after the replays of that graph; without one, of all graphs */
  gaps: Columns;
  /** how many such gaps there are */
  gap_count: number;
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
  /** the values until the first piece */
  before: MemoryHeld;
  /** memory of the device; null if the file does not contain it, and for the CPU */
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
  /** memory that the caching allocator has reserved on the device, in use or not (bytes) */
  reserved: number;
  /** since the start of the trace (nanoseconds) */
  time_ns: number;
}

/** How much memory is in use and reserved. */
export interface MemoryHeld {
  /** in use by tensors (bytes) */
  allocated: number;
  /** memory that the caching allocator has reserved on the device, in use or not (bytes) */
  reserved: number;
}

/** What memory is for, by the part of the step in which it is allocated and released. */
export interface MemoryCategoriesAnswer {
  /** which trace */
  meta: TraceMeta;
  /** accelerators, then the CPU */
  devices: DeviceCategories[];
}

/** The memory of one device by what it is for; categories without any are left out. */
export interface DeviceCategories {
  /** name of the device */
  device: string;
  /** whether the trace distinguishes forward, backward and optimizer */
  phases: boolean;
  /** most in use: Σ categories at the peak (bytes) */
  peak: number;
  /** since the start of the trace */
  time_ns: number[];
  /** in stacking order; at each time they add up to the memory in use */
  categories: CategoryOfMemory[];
}

/** The memory of one category. */
export interface CategoryOfMemory {
  /** what it is for */
  category: "backward_temporary" | "before_recording" | "forward_temporary" | "gradient" | "in_use" | "kept_from_forward" | "optimizer_state" | "optimizer_temporary" | "saved_for_backward";
  /** bytes at the peak of the device (bytes) */
  at_peak: number;
  /** how many blocks that is; unknown for memory from before the recording */
  blocks: number;
  /** bytes at each time */
  bytes: number[];
}

/** Beside what memory is for, by module. */
export interface MemoryModulesMeta {
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
  /** which the table is about, null if no totals were recorded */
  device: string | null;
  /** what named the modules; null if nothing did, and everything is then in one row */
  source: "lightning" | "nn" | null;
  /** most in use: Σ rows + unknown_bytes (bytes) */
  peak: number;
  /** of what was allocated before the recording began (bytes) */
  unknown_bytes: number;
}

/** Allocations that failed, and why. */
export interface MemoryFailuresAnswer {
  /** which trace */
  meta: TraceMeta;
  /** by time */
  failures: Failure[];
  /** the same in words */
  sentences: string[];
}

/** One failed allocation. Bytes; null is not known. */
export interface Failure {
  /** what decides */
  reason: "full" | "host" | "limit" | "outside" | "pieces" | "unknown";
  /** what was asked for: of a text the segment that it would have allocated from the device */
  requested: number | null;
  /** in use by tensors */
  allocated: number | null;
  /** reserved by PyTorch, and not in use */
  unallocated: number | null;
  /** that the device had free */
  device_free: number | null;
  /** that the device has */
  device_total: number | null;
  /** device memory held by the process, for PyTorch's allocator and everything else */
  of_process: number | null;
  /** that other processes held */
  of_others: number | null;
  /** that the process was allowed (`set_per_process_memory_fraction`) */
  limit: number | null;
  /** of `allocated`, in pools of CUDA graphs */
  private_pools: number | null;
  /** number of the device; null of the host */
  device: number | null;
  /** since the start of the trace; null of a text */
  time_ns: number | null;
  /** number of the event; null of a text */
  row: number | null;
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
  /** which the answer is about, null if no memory was recorded */
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
  /** which the table is about, null if no memory was recorded */
  device: string | null;
  /** what happened outside operators; not there where no memory was recorded */
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
  /** id of the only entry that is shown, with everything below it; 0 for everything */
  root: number;
  /** time of what is shown (nanoseconds) */
  whole_ns: number;
  /** time of all stacks (nanoseconds) */
  all_ns: number;
  /** of the device time what was launched outside all frames, operators and annotations (nanoseconds) */
  no_stack_ns: number;
  /** how many different stacks have time of this weight, shown or not */
  entries: number;
  /** that the entries shown have */
  kinds: ("annotation" | "builtin" | "device" | "frame" | "module" | "operator" | "other" | "smaller")[];
  /** that the entries shown have */
  roles: ("communication" | "compute" | "copy")[];
  /** entries with less are folded together (nanoseconds) */
  limit_ns: number;
  /** whether Python frames were recorded */
  has_frames: boolean;
  /** whether the operator whose backward they are is known for some autograd nodes */
  has_backward: boolean;
  /** as_run: these are placed where they ran; with_forward: below that operator */
  backward: "as_run" | "with_forward";
  /** id of the only thread that is shown, -1 for all */
  thread: number;
  /** that have stacks: by time of this weight, idle ones last */
  threads: StackThread[];
  /** the entries around `root`, from the top down; null if everything is shown */
  above: { [key: string]: Cell[] } | null;
}

/** A thread that has stacks. */
export interface StackThread {
  /** position of the thread among the tracks of this trace */
  id: number;
  /** the name in the trace, otherwise its number */
  name: string;
  /** in which any frame, operator or annotation ran on it (nanoseconds) */
  host_ns: number;
  /** of the device work that it launched (nanoseconds) */
  device_ns: number;
  /** whether operators, annotations and calls of it took less than 1 % of those of the busiest thread */
  idle: boolean;
}

/** Modules as a tree in a table: `parent` is an `id`, -1 at the top. */
export interface ModulesAnswer {
  /** what the columns are, in order */
  columns: Definition[];
  /** by column key: a list each, all of the same length */
  rows: { [key: string]: Cell[] };
  /** which trace, and where the names come from */
  meta: ModulesMeta;
  /** Lightning's hooks by name; null if none were recorded */
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
  operators: OnPath[];
  /** kernels, copies and sets on the path */
  kernels: OnPath[];
  /** Python functions on the path: the innermost of the user's own code, else the innermost */
  functions: OnPath[];
  /** modules (nn.Module) on the path */
  modules: OnPath[];
  /** what the columns of `operators`, `kernels`, `functions` and `modules` are */
  columns: Definition[];
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
  /** share of the time of the steps whose cause is in the trace, both on the critical path and in the waterfall; null without steps */
  explained: number | null;
  /** low: 10 % or more is not explained; none: 40 % or more of the path, and savings are refused */
  confidence: "low" | "none" | "normal";
  /** what could not be answered, and why */
  refused: NotAnswered[];
}

/** One thing that is not answered. */
export interface NotAnswered {
  /** what is wrong with the trace */
  id: string;
  /** what is refused: everything, all savings, changes of host time, changes of work on devices */
  scope: "device" | "everything" | "host" | "savings";
  /** why, in one sentence */
  text: string;
  /** the measure that decided, 0…1, where there is one */
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
  /** the resource with most time on the path when this one is free; null if nothing would be saved */
  next: "communication" | "compute" | "copies" | "host" | "input" | "launch" | "sync" | "unknown" | null;
  /** its share of that path */
  next_share: number | null;
}

/** What a change saves in all steps together, replayed; null if that is refused or means nothing. */
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
export interface OnPath {
  /** name of the operator, kernel, function or module */
  name: string;
  /** for a kernel, copy or communication, its short name; otherwise the name */
  short_name: string;
  /** operator, annotation, kernel, copy, communication, function or module */
  what: "annotation" | "communication" | "copy" | "function" | "kernel" | "module" | "operator";
  /** time on the path: on the host and on devices (nanoseconds) */
  total_ns: number;
  /** its own host time on the path, without what it calls (nanoseconds) */
  host_ns: number;
  /** device work on the path that belongs to it (nanoseconds) */
  device_ns: number;
  /** how many of its calls, or pieces of device work, are on the path */
  calls: number;
  /** how many calls, or pieces of device work, there are in the steps */
  all_calls: number;
  /** how much later a piece of work could run, or how much longer the host could take for a call, without delaying the end of any step; median over all of them; empty if it is not known */
  slack_ns: number | null;
}

/** How long the steps take after some changes. Sums are over all steps that were asked about. */
export interface WhatIfAnswer {
  /** which trace */
  meta: ReplayMeta;
  /** what is changed */
  changes: AskedChange[];
  /** what of the changes could not be done, in sentences */
  notes: string[];
  /** the time of collectives is changed, and holds the waiting for other ranks */
  with_waiting: boolean;
  /** of the steps */
  names: string[];
  /** how long each step takes, as recorded */
  step_before_ns: number[];
  /** after the changes; null if they are refused */
  step_after_ns: number[] | null;
  /** all steps together (nanoseconds) */
  before_ns: number;
  /** all of them after the changes; null if they are refused */
  after_ns: number | null;
  /** what the changes save together */
  saved: Saved;
  /** time of the recorded path by part */
  parts_before: { [key: string]: number };
  /** time of the path after the changes by part; null if they are refused */
  parts_after: { [key: string]: number } | null;
  /** the resource with most time on the recorded path */
  limit_before: "communication" | "compute" | "copies" | "host" | "input" | "launch" | "sync" | "unknown" | null;
  /** the resource with most time on the path after the changes */
  limit_after: "communication" | "compute" | "copies" | "host" | "input" | "launch" | "sync" | "unknown" | null;
}

/** One of the changes. */
export interface AskedChange {
  /** as the parameter `changes` has it, in its normal form */
  text: string;
  /** what is changed */
  kind: string;
  /** the operator, annotation, module, function, kernel or copy that it is about; null for everything */
  name: string | null;
  /** the factor of durations (0: they take no time; 1: 100 %); null if something is removed */
  factor: number | null;
  /** how many events have the name; null without one. A change whose name nothing has is left out. */
  found: number | null;
  /** id of the reason in meta.refused; null if the change is made */
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
  /** in the baseline, null if it has nothing there */
  name: string | null;
  /** in the experiment, null if it has nothing there */
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

/** FLOP, utilizations and lost time of two traces. */
export interface CompareRooflineAnswer {
  /** which traces */
  meta: CompareRooflineMeta;
  /** one of them */
  baseline: RooflineSide;
  /** the experiment */
  exp: RooflineSide;
  /** what the difference of MFU is made of; null if one side has none */
  change: UtilizationChange | null;
  /** operators by their shapes, of both sides */
  calls: Columns;
}

/** Beside a comparison of rooflines; the fields of one trace are of the baseline. */
export interface CompareRooflineMeta {
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
}

/** One of two traces. */
export interface RooflineSide {
  /** how many */
  steps: number;
  /** FLOP that the model needs in an average step (FLOP) */
  per_step: number;
  /** model FLOP utilization */
  mfu: Utilization;
  /** hardware FLOP utilization */
  hfu: Utilization;
  /** the same while a compute kernel ran */
  busy_mfu: Utilization;
  /** of an average step, all kernels, copies and fills without communication (nanoseconds) */
  total_ns: number;
  /** in an average step, lost below the roofline; null if no time at the roof is known */
  lost_ns: number | null;
}

/** What the difference of two MFU is made of; `idle` + `kernels` = `total`. */
export interface UtilizationChange {
  /** MFU of the experiment − MFU of the baseline (the difference of two numbers 0…1) */
  total: number;
  /** because devices compute for another part of the time (the difference of two numbers 0…1) */
  idle: number;
  /** because kernels reach another part of the peak while they run (the difference of two numbers 0…1) */
  kernels: number;
}

/** What changed between two sides, of one recording or more each. */
export interface ChangeAnswer {
  /** a trace of the baseline */
  meta: TraceMeta;
  /** a trace of the experiment */
  exp: TraceMeta;
  /** the steps of the baseline */
  baseline: ChangeSide;
  /** those of the experiment */
  experiment: ChangeSide;
  /** change of the mean step; null without steps on a side */
  delta_ns: number | null;
  /** the step, judged; null without steps on a side */
  step: ChangedFigure | null;
  /** time in which any kernel, copy or fill ran, judged; null if a side has none */
  busy: ChangedFigure | null;
  /** differences between the sides, and what cannot be judged because of them */
  differences: Difference[];
  /** the largest contributor; null if nothing moved with the step */
  headline: Headline | null;
  /** the largest change first; the changes add up to delta_ns exactly */
  causes: ChangedCause[];
  /** change of all work by kind; with unnamed_ns they add up to delta_ns exactly */
  kinds: { [key: string]: number };
  /** change of causes without kernels or operators, such as waiting for data (nanoseconds) */
  unnamed_ns: number;
  /** false where a recording was saved as a baseline, without what each kernel has of the step: `unnamed_ns` is then the whole change, and `work` is empty */
  work_known: boolean;
  /** kernels and operators, the largest change first */
  work: ChangedWork[];
  /** what the columns of `work` are */
  columns: Definition[];
  /** how many more there are */
  left_out: number;
  /** Σ of their changes: with those of `work` and unnamed_ns they add up to delta_ns exactly (nanoseconds) */
  left_out_ns: number;
  /** each by name */
  operators: ChangedNames;
  /** each by name */
  kernels: ChangedNames;
}

/** One side. */
export interface ChangeSide {
  /** how many */
  recordings: number;
  /** how many steps count, of all recordings */
  steps: number;
  /** how many first steps do not: one of each recording where four or more remain */
  left_out: number;
  /** the mean step; null without steps */
  step_ns: number | null;
}

/** A figure of the step on both sides. Relative changes: 0.05 is 5 % more. */
export interface ChangedFigure {
  /** mean of the steps that count, baseline (nanoseconds) */
  before_ns: number;
  /** the same of the experiment (nanoseconds) */
  exp_ns: number;
  /** of the typical step, a relative change: the median of all pairs of both sides; null without values */
  shift: number | null;
  /** lower bound of its 95 % interval; null with fewer than four steps on a side */
  low: number | null;
  /** upper bound */
  high: number | null;
  /** the smallest relative change that such steps show in 80 of 100 cases, 0…1; null likewise */
  detectable: number | null;
  /** from which relative change on it is judged, 0…1 (0…1) */
  threshold: number;
  /** regressed, improved, unchanged, inconclusive, or unknown without an interval */
  verdict: "improved" | "inconclusive" | "regressed" | "unchanged" | "unknown";
}

/** Something that is not alike on both sides. */
export interface Difference {
  /** which of the things that have to be alike */
  what: string;
  /** all: nothing can be judged; across: neither, but for those who ask for it; host: times of the host and of steps; nothing */
  forbids: "across" | "all" | "host" | "nothing";
  /** what it is in the baseline */
  base: string;
  /** what it is in the new recordings */
  new: string;
  /** a sentence */
  text: string;
}

/** The largest change in the direction in which the step changed. */
export interface Headline {
  /** of the waterfall */
  cause: string;
  /** change of the cause, of a mean step (nanoseconds) */
  cause_ns: number;
  /** what happened to the work that changed most in it; null if it has no kernel or operator that did */
  kind: "calls" | "gone" | "new" | "replaced" | "speed" | null;
  /** change of that work; null likewise */
  delta_ns: number | null;
  /** what launches it in the experiment, in the baseline where it is gone; null likewise */
  operator: string | null;
  /** what to call it in the baseline: short name of its kernel, of several that with most time; of host time the operator; null if it is new */
  label: string | null;
  /** the same in the experiment; null if it is gone */
  exp_label: string | null;
  /** whether the labels are of kernels, copies or fills */
  is_kernel: boolean;
}

/** A cause of the waterfall on both sides, of a mean step. */
export interface ChangedCause {
  /** its id */
  cause: string;
  /** in the baseline (nanoseconds) */
  before_ns: number;
  /** in the experiment (nanoseconds) */
  exp_ns: number;
  /** experiment − baseline; of all causes they add up to the change of the step (nanoseconds) */
  delta_ns: number;
  /** lower bound of the 95 % interval of the change in a typical step; null with fewer than four steps */
  low_ns: number | null;
  /** upper bound; where 0 is between both the change is within the noise */
  high_ns: number | null;
}

/** A kernel, or host time of an operator, on both sides, of a mean step; a side may have nothing. */
export interface ChangedWork {
  /** what to call it in the baseline: short name of the kernel with most time, or the operator; empty if there is nothing */
  label: string | null;
  /** the outermost operator that most of the work belongs to, in the baseline; of host time the operator. Empty where there is nothing */
  operator: string | null;
  /** the larger part of the change: calls (another number of them), speed (other durations), new, gone (on one side only) or replaced (other work in its place) */
  kind: "calls" | "gone" | "new" | "replaced" | "speed";
  /** experiment − baseline, per mean step: only time that nothing else hides (nanoseconds) */
  delta_ns: number;
  /** for kernels with one name on both sides and no other row, otherwise empty. Slower, faster: the durations per step changed by more than 2 %, at a false discovery rate of 5 %. Unchanged: the 95 % interval is within ± 2 %. Unclear: neither. Not tested: fewer than four steps */
  verdict: "faster" | "gone" | "new" | "slower" | "unchanged" | "unclear" | "untested" | null;
  /** per mean step of the baseline: only time that nothing else hides (nanoseconds) */
  before_ns: number;
  /** per mean step of the experiment: only time that nothing else hides (nanoseconds) */
  exp_ns: number;
  /** calls per mean step of the baseline (how often in a mean step) */
  calls: number;
  /** calls per mean step of the experiment (how often in a mean step) */
  exp_calls: number;
  /** the part of the change that comes from more or fewer calls (nanoseconds) */
  calls_ns: number;
  /** the part of the change that comes from slower or faster calls (nanoseconds) */
  speed_ns: number;
  /** Σ durations in a mean step of the baseline, whether something else ran at the same time or not (nanoseconds) */
  full_ns: number;
  /** Σ durations in a mean step of the experiment, whether something else ran at the same time or not (nanoseconds) */
  exp_full_ns: number;
  /** how both sides were found to be the same work: name, place (the same kernel of a call of the same operator), launch (names that differ by configuration alone), renamed, parent; empty if one side has nothing */
  how: "launch" | "name" | "parent" | "place" | "renamed" | null;
  /** the causes of the waterfall that the work contributes to, on either side */
  causes: string[];
  /** `operator` in the experiment */
  exp_operator: string | null;
  /** names in the baseline, at most 20; empty of host time, and where there is nothing */
  kernels: string[];
  /** the same in the experiment */
  exp_kernels: string[];
  /** `label` in the experiment */
  exp_label: string | null;
  /** how many names are put together on the side that has more */
  names: number;
}

/** Names with 0.2 % of a step on a side, the largest change first. */
export interface ChangedNames {
  /** of each what changed */
  names: ChangedName[];
  /** how many others there are */
  smaller: number;
  /** what those have of a mean step of the baseline, together (nanoseconds) */
  before_ns: number;
  /** the same of the experiment (nanoseconds) */
  exp_ns: number;
}

/** A name on both sides, tested for a change beyond 2 %. */
export interface ChangedName {
  /** of the operator or kernel */
  name: string;
  /** of a mean step of the baseline (nanoseconds) */
  before_ns: number;
  /** the same of the experiment (nanoseconds) */
  exp_ns: number;
  /** how often in a mean step of the baseline (how often in a mean step) */
  calls: number;
  /** how often in a mean step of the experiment (how often in a mean step) */
  exp_calls: number;
  /** whether each side has the same number of calls in all steps, and the other side another: a fact */
  calls_changed: boolean;
  /** relative change of the typical time per step, 0.05 is 5 % more; null if it was not tested */
  shift: number | null;
  /** lower bound of its 95 % interval */
  low: number | null;
  /** upper bound */
  high: number | null;
  /** least false discovery rate at which a change beyond 2 % is shown */
  q: number | null;
  /** slower, faster, unchanged (the interval is within ± 2 %), unclear, new, gone, or untested (fewer than four steps, or one in which it did nothing) */
  verdict: "faster" | "gone" | "new" | "slower" | "unchanged" | "unclear" | "untested";
}

/** One recording: of one process, or of several ranks together (`together.py`). All lists have one entry per step. */
export interface RecordingFigures {
  /** how many versions of this type there were, this one included */
  schema: number;
  /** name of the run */
  run: string;
  /** how many processes it is of */
  ranks: number;
  /** whether `causes` are of devices, or of the main thread where no device ran kernels */
  basis: "devices" | "host";
  /** how many devices, or main threads, `causes` are added up over */
  lanes: number;
  /** names of the steps */
  steps: string[];
  /** how many of the first steps are left out of every comparison: 1 where four or more remain */
  first_kept: number;
  /** how many steps the recording did not hold to their end; they are in no list */
  cut_off: number;
  /** the step; of several ranks that of the slowest (one for each step) */
  step_ns: number[];
  /** by cause of the waterfall: Σ over `lanes`; of one process they add up to `lanes` × `step_ns` */
  causes: { [key: string]: number[] };
  /** false if communication is known only from calls on the host: its exposure is then unknown */
  communication_known: boolean;
  /** kernels that ran (how many in each step) */
  kernel_calls: number[];
  /** calls that wait for a device, of the runtime's or driver's API; null if it was not recorded */
  sync_calls: number[] | null;
  /** calls of compiled code in compiled code; null without compiled code */
  graph_breaks: number[] | null;
  /** ranges in which something is compiled (how many in each step) */
  compilations: number[];
  /** most memory in use at once on the device that used most; null if it was not recorded */
  peak_bytes: number | null;
  /** by name; time of device */
  kernels: NamedTable;
  /** by name; time on the host is their own, that of devices of what they launched themselves */
  operators: NamedTable;
  /** of the device's API by name */
  calls: NamedTable;
  /** what is wrong with the recording */
  notes: RecordedNote[];
  /** what has to be alike on both sides */
  fingerprint: Fingerprint;
  /** of the files it was made from, by worker, as stored; nothing for remote files */
  sha256: string[];
}

/** All names of a kind, by time on devices and on the host together, descending, then by name. */
export interface NamedTable {
  /** of each what it did; at most 1,000 */
  names: Named[];
  /** how many names there were beyond these */
  left_out: number;
  /** what those did together; null without any */
  rest: Named | null;
}

/** What one name did in each step. */
export interface Named {
  /** of the kernel, operator or call */
  name: string;
  /** for a kernel: what launched most of its time, an operator by its name; otherwise null */
  owner: string | null;
  /** how often it ran (one for each step) */
  calls: number[];
  /** Σ durations of the kernel, or of all that the operator launched itself; 0 of a call (one for each step) */
  device_ns: number[];
  /** Σ of the operator's own time on the host, or of the call; 0 of a kernel (one for each step) */
  host_ns: number[];
}

/** What is wrong with a recording. */
export interface RecordedNote {
  /** of docs/health.md */
  kind: string;
  /** error: something is lost or wrong; warning: numbers are probably wrong; info: good to know */
  severity: "error" | "info" | "warning";
  /** how often it occurred */
  count: number;
  /** a sentence */
  text: string;
}

/** What has to be alike for two recordings to be comparable. */
export interface Fingerprint {
  /** names of the devices that ran kernels, by number; null if the file does not name one */
  devices: (string | null)[];
  /** how many processes the program has; null if the file does not contain it */
  world_size: number | null;
  /** by which the steps were found */
  step_rule: string;
  /** what of record_shapes, with_stack, profile_memory, with_modules and with_flops was recorded */
  options: { [key: string]: boolean };
  /** of drivers and libraries, as the header says */
  versions: { [key: string]: string | number | boolean };
}

/** Any number of traces, in the order of their runs. */
export interface TracesTrends {
  /** position of the one that the others are compared with, from 0 */
  baseline: number;
  /** all of them */
  recordings: TrendRecording[];
  /** of each metric that all have */
  trends: Trend[];
  /** which trace each recording is */
  traces: TraceNames[];
  /** which traces are not among them */
  notes: Note[];
}

/** A recording. */
export interface TrendRecording {
  /** run, worker and span, where they differ */
  name: string;
  /** how many count */
  steps: number;
  /** how many first steps do not */
  left_out: number;
  /** differences from the baseline, and what cannot be judged because of them */
  differences: Difference[];
}

/** One metric over all recordings. */
export interface Trend {
  /** step_time or device_busy */
  metric: string;
  /** of the values */
  unit: "ns";
  /** from which relative change on it is judged, 0…1 (0…1) */
  threshold: number;
  /** of each recording, in their order */
  points: TrendPoint[];
  /** the last three against up to eight before them; null if they are too few for an interval, or a recording cannot be compared with them */
  last: LevelChange | null;
  /** where the level changed by the threshold or more for certain, by most; null if nowhere */
  change_point: LevelChange | null;
}

/** A recording in a trend. Relative changes: 0.05 is 5 % more. */
export interface TrendPoint {
  /** typical value: the median of the steps that count; null if it was not recorded */
  value: number | null;
  /** against the baseline: the median of all pairs of steps; null for the baseline itself, and where nothing can be compared */
  shift: number | null;
  /** lower bound of its 95 % interval; null with fewer than four steps on a side */
  low: number | null;
  /** upper bound */
  high: number | null;
  /** least false discovery rate, over all recordings of the trend, at which it differs from the baseline */
  q: number | null;
  /** regressed or improved by the threshold or more with q ≤ 0.05, unchanged, inconclusive, or unknown */
  verdict: "improved" | "inconclusive" | "regressed" | "unchanged" | "unknown";
  /** against the recording before: the shift; null likewise */
  since: number | null;
  /** lower bound of its 95 % interval */
  since_low: number | null;
  /** upper bound */
  since_high: number | null;
  /** the same, for this pair only */
  since_verdict: "improved" | "inconclusive" | "regressed" | "unchanged" | "unknown";
}

/** Recordings against those before them, a value each. */
export interface LevelChange {
  /** position of the first of the later ones, from 0 */
  at: number;
  /** how many are before it */
  before: number;
  /** how many are later, itself included */
  after: number;
  /** relative change: the median of all pairs (the difference of two numbers 0…1) */
  shift: number;
  /** lower bound of its interval (the difference of two numbers 0…1) */
  low: number;
  /** upper bound (the difference of two numbers 0…1) */
  high: number;
  /** of the interval, 0…1: 0.95, or more where several places were tried (0…1) */
  level: number;
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

/** One rank; null if its trace does not contain it. */
export interface RankAnswer {
  /** name of the process that was recorded */
  worker: string;
  /** its number among all */
  rank: number | null;
  /** how many ranks the program had */
  world_size: number | null;
  /** from the trace, otherwise from the name of the worker, otherwise counted */
  node: string;
  /** from the trace, otherwise from the name of the worker, otherwise counted */
  process: string;
  /** library of collectives, e.g. nccl */
  backend: string | null;
  /** those that did some work */
  devices: DeviceProperties[];
  /** how they were spent */
  steps: RankSteps;
}

/** A device that did some work; null if the trace does not contain it. */
export interface DeviceProperties {
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
  /** of each step, a communication kernel ran on a device and no compute kernel: mean over the devices; null if communication is only known from calls on the host */
  exposed_communication_ns: number[] | null;
  /** of each step, operations that moved data; null if none could be matched */
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
  /** time in which they moved data; null if none could be matched with another rank's */
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
  /** number of each of its members; empty if the traces do not contain it */
  ranks: number[];
  /** how many it has; null if the traces do not contain it */
  size: number | null;
  /** how many of them are among the traces */
  present: number;
}

/** The run page: everything but tables with a row for each cell. */
export interface RanksOverview {
  /** a few numbers */
  tiles: RunTiles;
  /** named ones first, latest first; at most 20 that are only listed */
  stragglers: Straggler[];
  /** slowest first */
  slow_links: SlowLink[];
  /** ranks that represent all */
  representatives: Representative[];
  /** a row each, in order of rank */
  ranks: RunRanks;
  /** names of the steps of the heat maps */
  steps: string[];
  /** what heat maps there are */
  metrics: ("compute_ns" | "exposed_transfer_ns" | "exposed_wait_ns" | "host_ns" | "input_ns" | "memory_bytes" | "own_ns" | "step_ns")[];
  /** process groups */
  groups: RunGroup[];
  /** inferred from them */
  layout: Layout;
  /** how many collectives were matched */
  matched: Matched;
  /** collectives that some rank lacks */
  missing: MissingCollective[];
  /** null without stages */
  pipeline: Pipeline | null;
  /** all-to-alls of unequal parts */
  moe: MoeImbalance[];
  /** all-gathers of sharded parameters */
  fsdp: FsdpGathers[];
  /** size and bandwidth */
  fits: BandwidthFit[];
  /** how far the answer is to be trusted: high with all ranks, four steps and more */
  confidence: "high" | "low" | "medium";
  /** what a person should know */
  notes: Note[];
  /** what the columns of `ranks` are */
  rank_columns: Definition[];
  /** what those of `groups` are */
  group_columns: Definition[];
  /** what those of `moe` are */
  moe_columns: Definition[];
  /** what those of `fsdp` are */
  fsdp_columns: Definition[];
  /** what those of `fits` are */
  fit_columns: Definition[];
}

/** The run in a few numbers. Times are of a step: means over the ranks and steps that are here; null if unknown. */
export interface RunTiles {
  /** how many ranks were read */
  present: number;
  /** how many ranks the job has; null if the traces do not contain it */
  expected: number | null;
  /** how many traces are still being read */
  loading: number;
  /** how many traces could not be read */
  failed: number;
  /** how many steps all present ranks have */
  steps: number;
  /** median step time */
  step_ns: number | null;
  /** waiting for other ranks while nothing was computed */
  exposed_wait_ns: number | null;
  /** moving data while nothing was computed */
  exposed_transfer_ns: number | null;
  /** communication while something was computed */
  hidden_ns: number | null;
  /** the rank that is late most; null if none is named */
  slowest_worker: string | null;
  /** number of the rank; null if none is named or its trace does not say */
  slowest_rank: number | null;
  /** why; null if none is named */
  slowest_cause: "allocator" | "input" | "late_launches" | "more_work" | "network" | "slow_compute" | "slow_operator" | "unknown" | null;
  /** what a step would save without all named stragglers together, by replay; 0 if none is named; null if none can be named (while ranks are being read, or with fewer than three ranks or steps), or if it is not known */
  lost_ns: number | null;
}

/** A rank that represents others like it. */
export interface Representative {
  /** name of its trace */
  worker: string;
  /** number of the rank; null if its trace does not contain it */
  rank: number | null;
  /** how many ranks are nearest to it, itself included */
  like: number;
  /** whether it is a straggler */
  named: boolean;
}

/** A row for each rank, as parallel lists in order of rank. Times are medians over its steps; null if unknown. */
export interface RunRanks {
  /** name of the trace */
  worker: string[];
  /** number of the rank */
  rank: (number | null)[];
  /** where it ran */
  host: (string | null)[];
  /** number of its node, from 0, by host */
  node: number[];
  /** name of its device */
  device: (string | null)[];
  /** number of its set: ranks with the same sequence of collectives have the same */
  peers: number[];
  /** how many steps it recorded */
  steps: number[];
  /** step time, median over its steps */
  step_ns: (number | null)[];
  /** computing */
  compute_ns: (number | null)[];
  /** waiting for other ranks while nothing was computed */
  exposed_wait_ns: (number | null)[];
  /** moving data while nothing was computed */
  exposed_transfer_ns: (number | null)[];
  /** communication while something was computed */
  hidden_ns: (number | null)[];
  /** own time between collectives, without waiting */
  own_ns: (number | null)[];
  /** how much more own time than its peers */
  late_ns: (number | null)[];
  /** how many robust standard deviations of the peers that is */
  z: (number | null)[];
  /** waiting for the next batch */
  input_ns: (number | null)[];
  /** time in which the host called operators */
  host_ns: (number | null)[];
  /** most memory in use */
  memory_bytes: (number | null)[];
  /** how many it recorded */
  collectives: number[];
  /** how many of them no other rank has */
  unmatched: number[];
  /** whether it is named as slow */
  named: boolean[];
}

/** A process group. */
export interface RunGroup {
  /** description and name */
  label: string;
  /** which dimension of the layout it is */
  role: "cp" | "dp" | "ep" | "pp" | "tp" | "unknown" | "world";
  /** how many members it has; empty if the traces do not contain it */
  size: number | null;
  /** how many members have a trace that was read */
  present: number;
  /** the number of each of its members; empty if the traces do not contain them */
  ranks: number[];
  /** whether it stays within a node */
  link: "between_nodes" | "unknown" | "within_node";
  /** how many collectives of it were matched */
  calls: number;
  /** Σ transfers of these collectives (nanoseconds) */
  transfer_ns: number;
  /** Σ waits in these collectives, of all its ranks (nanoseconds) */
  wait_ns: number;
  /** as the program numbers it */
  name: string;
  /** what it is for, as the program says */
  description: string;
  /** what says so: description, ranks, or nothing */
  role_from: "" | "description" | "ranks";
  /** how many nodes it spans, of the ranks that are here */
  hosts: number;
}

/** The parallel layout, inferred from the process groups. */
export interface Layout {
  /** how many ranks the job has; null if the traces do not contain it */
  world: number | null;
  /** how many hosts the present ranks name; null if they name none */
  nodes: number | null;
  /** how many present ranks the largest node has; null like nodes */
  ranks_per_node: number | null;
  /** in order of stride */
  dimensions: LayoutDimension[];
  /** high: the sizes multiply to the world size; medium: roles are named, but the sizes do not; low: from ranks only */
  confidence: "high" | "low" | "medium";
}

/** One dimension of the parallel layout. */
export interface LayoutDimension {
  /** which one */
  role: "cp" | "dp" | "ep" | "pp" | "tp" | "unknown" | "world";
  /** how many ranks each group has */
  size: number;
  /** how many groups there are here */
  groups: number;
  /** how many ranks apart neighbouring members are; null if unknown or unequal */
  stride: number | null;
}

/** Stages of a pipeline, with what each did in a step. */
export interface Pipeline {
  /** the one that is shown */
  step: string;
  /** in order */
  stages: PipelineStage[];
  /** what is estimated; empty for nothing */
  note: string;
}

/** A stage of a pipeline. */
export interface PipelineStage {
  /** number of the stage, from 0 */
  stage: number;
  /** how many present ranks it has */
  ranks: number;
  /** trace of the rank that represents it */
  worker: string;
  /** median step of that rank (nanoseconds) */
  step_ns: number;
  /** stopped until other stages come, median of its steps (nanoseconds) */
  bubble_ns: number;
  /** bubble_ns ÷ step_ns, 0…1 (0…1) */
  bubble: number;
  /** of the step that is shown */
  spans: StageSpan[];
}

/** A stretch of a stage. */
export interface StageSpan {
  /** work: also with others of its stage; wait: stopped until another stage comes; transfer: by moving data */
  kind: "transfer" | "wait" | "work";
  /** from the start of the step on the rank that represents the stage (nanoseconds) */
  start_ns: number;
  /** likewise (nanoseconds) */
  end_ns: number;
  /** event of the send, receive or other collective, of work of the one that follows it; null: there is none */
  row: number | null;
}

/** How unequal the parts of an all-to-all are. */
export interface MoeImbalance {
  /** label of the process group */
  group: string;
  /** how many of them */
  calls: number;
  /** how many times the mean part the largest is, mean over the calls; 1 is balanced */
  worst: number;
  /** mean over ranks and calls of what a rank sends (nanoseconds) */
  mean_bytes: number;
  /** number of the rank that has the largest part most often */
  rank: number | null;
  /** part of the calls in which it has the largest part (0…1) */
  rank_share: number;
  /** mean of what it sends (nanoseconds) */
  rank_bytes: number;
  /** trace of that rank */
  worker: string;
  /** event of its largest; null if there is none */
  row: number | null;
}

/** All-gathers of sharded parameters. */
export interface FsdpGathers {
  /** label of the process group */
  group: string;
  /** how many all-gathers a step has, median over the ranks */
  gathers: number;
  /** how many reduce-scatters a step has, likewise */
  scatters: number;
  /** whether parameters are gathered again for the backward pass; empty if it is not known */
  reshards: boolean | null;
  /** median time from the call to the start of its kernel: how far ahead it is issued (nanoseconds) */
  lead_ns: number;
  /** part of the gathers whose kernel begins at once after the call: nothing was prefetched (0…1) */
  late_share: number;
  /** trace of the rank with the most of these */
  worker: string;
  /** event of its gather that was issued latest; null if there is none */
  row: number | null;
}

/** Transfers of one kind in groups of one size, link and role: t = alpha + bytes ÷ beta, robust. */
export interface BandwidthFit {
  /** collective */
  kind: string;
  /** dimension of the layout */
  role: "cp" | "dp" | "ep" | "pp" | "tp" | "unknown" | "world";
  /** whether the groups stay within a node */
  link: "between_nodes" | "unknown" | "within_node";
  /** how many ranks a group has */
  size: number;
  /** how many process groups are fitted together */
  groups: number;
  /** different sizes that the fit goes through */
  points: FitPoint[];
  /** latency: the time of an operation of size 0; empty with fewer than two sizes */
  alpha_ns: number | null;
  /** bandwidth of a very large operation, bytes/s; empty like α, and where larger ones are not slower */
  beta: number | null;
  /** size that reaches half of β: α × β; empty like β */
  half_bytes: number | null;
  /** median difference of measured and fitted times ÷ fitted; empty like α */
  residual: number | null;
}

/** Collectives of one size. */
export interface FitPoint {
  /** size of each (bytes) */
  bytes: number;
  /** median transfer (nanoseconds) */
  transfer_ns: number;
  /** bytes/s; null if the kind has no factor */
  busbw: number | null;
  /** how many there are */
  calls: number;
}

/** One metric of all ranks and steps. */
export interface HeatMap {
  /** which one */
  metric: "compute_ns" | "exposed_transfer_ns" | "exposed_wait_ns" | "host_ns" | "input_ns" | "memory_bytes" | "own_ns" | "step_ns";
  /** ns or bytes */
  unit: "bytes" | "ns";
  /** how many rows it has, in order of rank */
  ranks: number;
  /** how many columns */
  steps: number;
  /** row by row, in `unit`; null if unknown */
  values: (number | null)[];
  /** median of the known values, in `unit`; null without any */
  middle: number | null;
  /** median absolute deviation of them, in `unit`; null likewise */
  spread: number | null;
  /** the position in `values` of those more than eight deviations above the median of their step, at most 1,000 */
  outliers: number[];
}

/** Collectives matched across the ranks. */
export interface CollectiveTable {
  /** most waiting first */
  rows: CollectiveRow[];
}

/** Collectives of one name, group, size and element type, matched across the ranks. */
export interface CollectiveRow {
  /** of the call */
  name: string;
  /** what it does */
  kind: string;
  /** label of the process group */
  group: string;
  /** its position in `groups` */
  group_number: number;
  /** whether the group stays within a node */
  link: "between_nodes" | "unknown" | "within_node";
  /** element type; empty if the traces do not contain it */
  dtype: string;
  /** size as nccl-tests counts it; null if it is not known or a rank sends another size */
  bytes: number | null;
  /** how many members of the group are here */
  ranks: number;
  /** how many members the group has; null if the traces do not contain it */
  size: number | null;
  /** how many collectives, each counted once for all its ranks */
  calls: number;
  /** how many of them several ranks have */
  matched: number;
  /** mean time of a matched one once all ranks are there: the shortest duration of any rank; null if none is matched */
  transfer_ns: number | null;
  /** mean over the ranks and matched calls of the rest; null like transfer_ns */
  wait_ns: number | null;
  /** bytes/s: Σ bytes ÷ Σ transfer; null if unknown */
  algbw: number | null;
  /** bytes/s: algbw × the factor of kind and algorithm; null if unknown */
  busbw: number | null;
  /** ring, tree or nvls, where the kernel's name says it; empty otherwise */
  algorithm: string;
  /** bytes/s of the link in one direction; null if it is not known */
  peak: number | null;
  /** busbw ÷ peak, 0…1; null like these */
  peak_share: number | null;
  /** number of the rank that arrives last in at least half of the calls of three and more ranks */
  culprit: number | null;
  /** name of its trace; null like culprit */
  culprit_worker: string | null;
  /** part of the calls in which it arrives last, 0…1; null like culprit */
  culprit_share: number | null;
  /** trace with the call that waited longest */
  worker: string;
  /** number of the event of that call; null if it is not known */
  row: number | null;
}

/** The ranges that the program names, over the ranks. */
export interface RangesOfRanks {
  /** one row each, the longest first */
  names: Columns;
  /** how many names are not in it: of each rank the longest are kept */
  left_out: number;
}

/** One range, over the ranks. */
export interface RangeOfRanks {
  /** a row for each rank that calls it, in order of rank; none of a name that no rank has kept */
  ranks: Columns;
}

/** What bounds a run, and its findings, with all loaded ranks replayed together. */
export interface RunFindingsAnswer {
  /** how many ranks were replayed together */
  loaded: number;
  /** how many the run has, as far as the traces say. With fewer loaded, what communication costs includes waiting for the others */
  world: number;
  /** how many were found on several ranks */
  collectives: number;
  /** what bounds the steps of all ranks */
  bound: Bound;
  /** causes, each the one that saves most beyond those before it; then what has no number, then warnings */
  findings: RunFinding[];
  /** the mean of the steps of all ranks; null without steps */
  step_ns: number | null;
  /** what all findings with a saving save of it together; null without any */
  together_ns: number | null;
  /** ids of the rules that were applied and found nothing */
  checked: string[];
  /** which run */
  meta: RunMeta;
}

/** A cause of lost time in a run of several ranks. What it saves is of the average step of all ranks, when all are replayed together. */
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
  /** what it costs the average step; null of a warning, which has no time */
  saving: FindingSaving | null;
  /** the numbers that support it */
  evidence: Evidence[];
  /** how many places there are where it can be seen */
  count: number;
  /** a page that says more */
  links: Link[];
  /** what title, detail and advice say beyond the id, for saying it in another language */
  values: { [key: string]: string | number | boolean };
  /** the ranks that have to change; empty if it is all of them */
  workers: string[];
  /** where it can be seen, the most costly first */
  instances: RunInstance[];
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

/** A memory snapshot in a few numbers. */
export interface SnapshotAnswer {
  /** which snapshot */
  meta: TraceMeta;
  /** the sentence: why memory ran out, otherwise the largest numbers */
  said: string;
  /** that have a record or a segment, the one with most records first */
  devices: SnapshotDevice[];
  /** the same in words: what was most, and what is left */
  device_texts: string[];
  /** why memory ran out, if it did when the snapshot was taken; empty of devices with a history */
  inferred_texts: string[];
  /** failed allocations, by device, then record */
  ooms: Oom[];
  /** the same in words */
  oom_sentences: string[];
  /** what to change */
  findings: SnapshotFinding[];
  /** the same in words */
  finding_texts: string[];
  /** how often there is what cannot be, in the records and the state at the end */
  contradictions: number;
  /** whether the file ends too early; if so, memory in use is counted from the first record */
  cut_off: boolean;
  /** whether the oldest records were overwritten; null if the file does not contain it */
  overflowed: boolean | null;
  /** of the allocator */
  settings: { [key: string]: string | number | boolean | { [key: string]: number | string | boolean } };
}

/** One device of a snapshot. Bytes; `requested` is what the program asked for, `allocated` its blocks. */
export interface SnapshotDevice {
  /** number of the device */
  device: number;
  /** how many records there are */
  entries: number;
  /** whether records tell what was in use before the end; without them the peaks are not known */
  has_history: boolean;
  /** how many there were at the end */
  segments: number;
  /** how many there were at the end */
  blocks: number;
  /** most that was requested and not released; None without a history */
  peak_requested: number | null;
  /** most bytes of blocks of it: exact or the least that it can be; None without a history */
  peak_allocated: number | null;
  /** whether that is exact */
  allocated_exact: boolean;
  /** in use before the first record (bytes) */
  start_requested: number;
  /** in use at the end (bytes) */
  requested: number;
  /** blocks of it (bytes) */
  allocated: number;
  /** and blocks whose release is pending (bytes) */
  active: number;
  /** segments at the end (bytes) */
  reserved: number;
  /** largest free piece at the end (bytes) */
  largest_free: number;
  /** 1 − largest / Σ of the free pieces at the end; None if nothing is free */
  fragmentation: number | null;
  /** by kind: how often there is what cannot be */
  contradictions: { [key: string]: number };
  /** actions that were not recorded (`skip_actions`) */
  missing: string[];
  /** worth looking at */
  moments: Moment[];
  /** at the end */
  pools: PoolRow[];
  /** what grows from step to step */
  growth: Growth;
  /** work of the allocator that leads to nothing */
  churn: Churn;
  /** why memory ran out, if that is when it was taken; None if the file has a history */
  inferred_oom: InferredOom | null;
}

/** A moment worth looking at. */
export interface Moment {
  /** what it is */
  kind: "end" | "oom" | "peak" | "record" | "reserved_peak" | "snapshot" | "start";
  /** number of the last record that counts; -1 before the first */
  position: number;
  /** of that record since the start of the recording; None if none was recorded */
  time_ns: number | null;
  /** in use after it (bytes) */
  requested: number;
  /** segments after it (bytes) */
  reserved: number;
}

/** Segments of one pool, stream and size class at a moment. */
export interface PoolRow {
  /** what it is called */
  pool: string;
  /** id of the stream: a number or a pointer */
  stream: number;
  /** whether of requests up to 1 MiB */
  is_small: boolean;
  /** how many */
  segments: number;
  /** bytes of the segments (bytes) */
  reserved: number;
  /** bytes of blocks in use, those with a pending release among them (bytes) */
  used: number;
  /** reserved − used (bytes) */
  free: number;
  /** the largest free piece (bytes) */
  largest: number;
  /** bytes that are free in segments which hold something, without expandable ones (bytes) */
  inactive: number;
  /** bytes of segments that hold nothing (bytes) */
  unused: number;
}

/** What grows on one device. */
export interface Growth {
  /** number of the device */
  device: number;
  /** what says where steps end */
  rule: "none" | "optimizer" | "profiler_step";
  /** how many there are; the first warms up and is not counted */
  steps: number;
  /** bytes requested that each step leaves behind; None if there are too few steps to say */
  per_step: number | null;
  /** bytes by which reserved grows per step while the peak of what is requested does not; None as above */
  reserved: number | null;
  /** those that grow, the most bytes first */
  stacks: Growing[];
}

/** A stack whose memory in use grows with every step. */
export interface Growing {
  /** id of its stack, -1 where none was recorded */
  stack: number;
  /** requested, per step (bytes) */
  bytes: number;
  /** how many it left over all steps that count */
  blocks: number;
  /** in how many it left something: how many steps */
  steps: number;
}

/** Work of the allocator that leads to nothing. */
export interface Churn {
  /** how many allocations of more than 1 MiB were released within 100 µs */
  blocks: number;
  /** bytes of them (bytes) */
  bytes: number;
  /** how many segments were released and allocated again in the same size */
  empty_cache: number;
  /** bytes of them (bytes) */
  given_back: number;
}

/** Why an allocation failed, if one did when the snapshot was taken; the file shows neither. */
export interface InferredOom {
  /** what decides then */
  reason: "fragmented" | "full";
  /** bytes in pieces of the pool, stream and size class that reserves most (bytes) */
  free: number;
  /** how many pieces */
  pieces: number;
  /** the largest of them: what failed was larger (bytes) */
  largest: number;
  /** free bytes of other pools, streams and size classes (bytes) */
  other: number;
  /** bytes of blocks in use on the device (bytes) */
  in_use: number;
  /** bytes of all segments (bytes) */
  reserved: number;
  /** who holds the segments with free pieces */
  holders: Holder[];
}

/** Allocations of one line that keep segments from being joined or given back. */
export interface Holder {
  /** innermost frame of the user's own code */
  line: string;
  /** requested (bytes) */
  bytes: number;
  /** how many */
  blocks: number;
  /** how many segments with free pieces contain them */
  segments: number;
  /** bytes that would be free in one piece if they were released: the largest over its segments (bytes) */
  joins: number;
}

/** One failed allocation. */
export interface Oom {
  /** number of the device */
  device: number;
  /** number of the record */
  position: number;
  /** since the start of the recording, None before torch 2.2 */
  time_ns: number | null;
  /** what was asked for, rounded as the allocator does (bytes) */
  requested: number;
  /** the segment that it would have allocated from the device (bytes) */
  segment_needed: number;
  /** innermost frame of the user's own code */
  line: string;
  /** id of its stack, -1 where none was recorded */
  stack: number;
  /** id of the stream of the request: a number or a pointer */
  stream: number;
  /** whether the pool of the request is known; otherwise the default pool is assumed */
  pool_known: boolean;
  /** bytes in pieces of the right pool, stream and size class (bytes) */
  free: number;
  /** how many pieces, and the largest of them */
  pieces: number;
  /** how many pieces, and the largest of them (bytes) */
  largest: number;
  /** free bytes of other streams, in the same pool (bytes) */
  other_streams: number;
  /** free bytes of other pools and size classes (bytes) */
  other_pools: number;
  /** bytes that were released and wait for another stream (bytes) */
  pending: number;
  /** free bytes of the device; null if the file does not contain them */
  device_free: number | null;
  /** bytes of all segments (bytes) */
  reserved: number;
  /** bytes that were requested and not released (bytes) */
  in_use: number;
  /** what decides */
  reason: "fragmented" | "full" | "limit" | "other_pool" | "other_stream" | "pending" | "unknown";
  /** who holds the segments with free pieces */
  holders: Holder[];
  /** whether expandable segments would have had room: an upper bound; null if they are on already, or the free memory of the device is not known */
  expandable_helps: boolean | null;
  /** whether the sizes of all blocks are known; otherwise rounding counts as free */
  exact: boolean;
}

/** Something to change. */
export interface SnapshotFinding {
  /** the rule */
  id: "churn" | "empty_cache" | "fragmentation" | "leak" | "near_capacity" | "reserved_growth";
  /** high: memory runs out of it soon, or it keeps a quarter of what is reserved */
  severity: "high" | "low" | "medium";
  /** number of the device */
  device: number;
  /** what removing it would save: of a leak and of growth per step, else once; near the capacity what is above the share of it that is the limit (bytes) */
  bytes: number;
  /** how many steps, segments or allocations show it */
  count: number;
  /** the line of the program that has most of it, empty if no line has */
  line: string;
  /** how many of its allocations */
  blocks: number;
  /** number of a record after which it can be seen, -1 where it is seen over time */
  position: number;
}

/** Allocations stacked over time: in every column Σ shapes + Σ bands = requested. */
export interface SnapshotTimelineAnswer {
  /** which snapshot */
  meta: TraceMeta;
  /** number of the device */
  device: number;
  /** what x is: ns since the start of the recording, or numbers of records */
  axis: "record" | "time";
  /** where the window begins: ns or number of a record */
  start: number;
  /** where it ends, included: ns or number of a record */
  end: number;
  /** where the recording begins: ns or number of a record */
  whole_start: number;
  /** where it ends: ns or number of a record */
  whole_end: number;
  /** for each column, number of the record after which the drawn blocks are alive */
  position: number[];
  /** where each column begins: ns or number of a record */
  x: number[];
  /** bytes in use at `position` */
  requested: number[];
  /** least bytes in use in each column */
  lowest: number[];
  /** most bytes of segments in each column */
  reserved: number[];
  /** texts that shapes point to */
  lines: string[];
  /** allocations drawn one by one */
  shapes: ShapeColumns;
  /** those drawn together */
  bands: BandColumn[];
  /** moments, annotations, segments */
  marks: Mark[];
}

/** Allocations that are drawn one by one, in the order of their births: parallel lists. */
export interface ShapeColumns {
  /** position of the first column in which each is drawn */
  begin: number[];
  /** position of the first column in which it is no longer drawn */
  end: number[];
  /** requested */
  bytes: number[];
  /** position in `lines` */
  line: number[];
  /** number of the record of the allocation, -1 before the recording */
  born: number[];
  /** number of the record of the release, null if it was not released */
  released: (number | null)[];
}

/** Allocations that are drawn together. */
export interface BandColumn {
  /** line of the program or size that they have in common */
  name: string;
  /** how many there are in the window */
  blocks: number;
  /** in use in each column */
  bytes: number[];
}

/** Something to be seen above the allocations. */
export interface Mark {
  /** annotation, segment (allocated from the device or released), or a kind of moment */
  kind: string;
  /** of an annotation; empty for others */
  name: string;
  /** number of the record at or before which it is */
  position: number;
  /** since the start of the recording, null without times */
  time_ns: number | null;
  /** how many are drawn as this one */
  count: number;
}

/** What accompanies the blocks that are alive. */
export interface AliveMeta {
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
  /** the record after which it is */
  moment: Moment;
  /** the record that is compared with, null for none */
  since: Moment | null;
  /** what makes a row */
  group_by: string;
}

/** The segments of a device after a record, and what is in them. */
export interface SegmentsAnswer {
  /** which snapshot */
  meta: TraceMeta;
  /** the record */
  moment: Moment;
  /** whether the sizes of all blocks are known; otherwise rounding counts as free */
  exact: boolean;
  /** 1 − largest / Σ of the free pieces; null if nothing is free */
  fragmentation: number | null;
  /** pools × streams × size classes */
  pools: PoolRow[];
  /** texts that pieces point to */
  lines: string[];
  /** by address */
  segments: SegmentColumns;
  /** what they are cut into */
  pieces: PieceColumns;
  /** how many segments are not in the answer, the smallest of all */
  left_out: number;
}

/** Segments by address: parallel lists. */
export interface SegmentColumns {
  /** where it is: position in the memory of the device */
  address: number[];
  /** size of each */
  bytes: number[];
  /** id of the stream: a number or a pointer */
  stream: number[];
  /** whether of requests up to 1 MiB */
  is_small: boolean[];
  /** what its pool is called */
  pool: string[];
  /** bytes of it that are free */
  free: number[];
}

/** What segments are cut into, by segment and offset: parallel lists. */
export interface PieceColumns {
  /** position in the segments */
  segment: number[];
  /** bytes from the beginning of the segment */
  offset: number[];
  /** size of each */
  bytes: number[];
  /** position in `lines`; -1 for free memory, -2 for different pieces drawn together */
  line: number[];
  /** how many pieces of the allocator it stands for */
  blocks: number[];
  /** bytes of it that are in use */
  used: number[];
}

/** Bytes in use by call stack as a tree in a table: `parent` is a row, -1 at the top. */
export interface SnapshotStacksAnswer {
  /** what the columns are, in order */
  columns: Definition[];
  /** by column key: a list each, all of the same length */
  rows: { [key: string]: Cell[] };
  /** which snapshot and moment */
  meta: StacksOfSnapshotMeta;
}

/** Beside bytes by call stack. */
export interface StacksOfSnapshotMeta {
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
  /** the record after which they are in use */
  moment: Moment;
  /** id of the only entry that is shown, with everything below it; 0 for everything */
  root: number;
  /** of what is shown (bytes) */
  whole_bytes: number;
  /** of all stacks (bytes) */
  all_bytes: number;
  /** entries with less are folded together (bytes) */
  limit_bytes: number;
}

/** A trace and a memory snapshot. */
export interface SnapshotLinkAnswer {
  /** of the trace */
  meta: TraceMeta;
  /** whether they are of one process */
  link: SnapshotLink;
  /** to be added to times since the start of the recording of the snapshot to have those since the start of the trace; null if they are not linked */
  shift_ns: number | null;
  /** where the first slice of the trace begins, null without slices */
  begin_ns: number | null;
  /** where its last one ends */
  end_ns: number | null;
  /** of the allocator; empty if they are not linked */
  calls: AllocatorCalls;
  /** how many calls are not in the answer */
  left_out: number;
  /** of the snapshot, in the time of the trace; empty if they are not linked */
  curve: LinkedCurve;
}

/** How a snapshot and a trace belong together. */
export interface SnapshotLink {
  /** whether they do, and if not, why */
  reason: "linked" | "no_times" | "nothing_recorded" | "other_process" | "other_time";
  /** number of the device; null if not linked */
  device: number | null;
  /** to be added to Unix times of the snapshot; null if not known */
  offset_ns: number | null;
  /** the 95th percentile of how far single records are from that */
  spread_ns: number | null;
  /** which part of the records in the time that both cover has a counterpart */
  matched: number | null;
  /** how many records of the trace that is */
  records: number;
}

/** Calls of the allocator by time: parallel lists, the largest ones of them. */
export interface AllocatorCalls {
  /** since the start of the trace */
  time_ns: number[];
  /** what was called */
  call: ("oom" | "segment_alloc" | "segment_free" | "segment_map" | "segment_unmap" | "snapshot")[];
  /** of the segment, or what was asked for */
  bytes: number[];
  /** number of the record of the snapshot */
  position: number[];
}

/** What the snapshot says was in use: parallel lists. */
export interface LinkedCurve {
  /** since the start of the trace */
  time_ns: number[];
  /** bytes in use at the highest record of each column */
  requested: number[];
  /** most bytes of segments in it */
  reserved: number[];
}

/** What can be drawn of a device of a snapshot over time. */
export interface SnapshotTracksAnswer {
  /** which snapshot */
  meta: TraceMeta;
  /** number of the device */
  device: number;
  /** time of the first record; null without times, then nothing can be drawn */
  start_ns: number | null;
  /** of the last one: nothing is known about the time before and after them */
  end_ns: number | null;
  /** those that are known */
  curves: TrackCurve[];
  /** lines of the program whose requested memory is shown separately, most bytes × time first */
  lines: string[];
  /** of the allocator, by kind */
  calls: CallCount[];
  /** worth going to, by kind, then time */
  moments: Moment[];
  /** how often there is what cannot be in its records */
  contradictions: number;
}

/** A curve with a value after every record. */
export interface TrackCurve {
  /** requested: what the program asked for; allocated: blocks of it; active: and those whose release is pending; reserved: segments */
  kind: "active" | "allocated" | "requested" | "reserved";
  /** in the recording (bytes) */
  most: number;
  /** whether it is exact, or the least that it can be */
  exact: boolean;
}

/** Calls of one kind. */
export interface CallCount {
  /** what was called */
  call: "oom" | "segment_alloc" | "segment_free" | "segment_map" | "segment_unmap" | "snapshot";
  /** how often */
  count: number;
  /** Σ of the segments; of an oom of what was asked for (bytes) */
  bytes: number;
}

/** A window of a snapshot in columns. */
export interface SnapshotTracksTileAnswer {
  /** number of each column with a record, ascending; between them nothing changes */
  column: number[];
  /** those that are known */
  curves: TrackCurveColumns[];
  /** bytes of each line when the window begins, null if that is not known */
  before: number[] | null;
  /** of each line its bytes in each of `column`, where most is requested in it: Σ of the lines = `most` of the curve `requested` */
  lines: (number[])[];
  /** of each line its bytes after the last record of each of `column`, and until the next column */
  last: (number[])[];
  /** of the allocator */
  calls: TrackCallColumns;
}

/** A curve in columns: what it is when the window begins, and parallel lists. */
export interface TrackCurveColumns {
  /** which curve */
  kind: "active" | "allocated" | "requested" | "reserved";
  /** null if that is not known */
  before: number | null;
  /** in each column */
  least: number[];
  /** in each column */
  most: number[];
  /** after the last record of each column, and until the next column */
  last: number[];
}

/** Calls in columns, those of a kind in one column together: parallel lists. */
export interface TrackCallColumns {
  /** number of the column in which they are */
  column: number[];
  /** what was called */
  call: ("oom" | "segment_alloc" | "segment_free" | "segment_map" | "segment_unmap" | "snapshot")[];
  /** how often */
  count: number[];
  /** Σ of the segments, or of what was asked for */
  bytes: number[];
  /** number of the record of the largest of them */
  position: number[];
  /** of that record */
  time_ns: number[];
}

/** One record, and what was in use after it. */
export interface SnapshotRecordAnswer {
  /** which snapshot */
  meta: TraceMeta;
  /** number of the device */
  device: number;
  /** number of the record, -1 before the first (number of a record; -1 before the first) */
  position: number;
  /** number of the last record (number of a record; -1 before the first) */
  last: number;
  /** since the start of the recording; null if it is not known */
  time_ns: number | null;
  /** what the allocator did; empty before the first record */
  action: string;
  /** requested, or of the segment; null before the first record */
  bytes: number | null;
  /** hexadecimal; of an oom and of a snapshot empty */
  address: string;
  /** what the device had free at an oom; null for all others */
  device_free: number | null;
  /** number of the stream of the record; null before the first */
  stream: number | null;
  /** stack, innermost first; of a release often that of the allocation */
  frames: string[];
  /** of the user's own code in it; empty without a stack */
  line: string;
  /** range of the program that had begun last; empty if there is none */
  annotation: string;
  /** region of compiled code; empty for none */
  compiled: string;
  /** what the program recorded about itself; empty if nothing */
  metadata: string;
  /** bytes in use after it */
  curves: CurveValue[];
}

/** A curve that is known, at a moment. */
export interface CurveValue {
  /** which curve */
  kind: "active" | "allocated" | "requested" | "reserved";
  /** in use (bytes) */
  bytes: number;
  /** whether that is exact, or the least that it can be */
  exact: boolean;
}

/** What is in use in a snapshot, the second of the two, and what was in another. */
export interface AgainstAnswer {
  /** the snapshot that is looked at */
  meta: TraceMeta;
  /** the moment of the other side: its peak if it has none of the requested kind */
  before: Moment;
  /** the moment */
  moment: Moment;
  /** what differs most first; Σ difference over all rows = the difference of `requested` of the moments */
  rows: Columns;
  /** how many more there are */
  left_out: number;
}

/** What was alive in a snapshot, by module, annotation or operator of the trace. */
export interface LinkedAliveAnswer {
  /** of the trace */
  meta: TraceMeta;
  /** whether they are of one process; without it there are no rows */
  link: SnapshotLink;
  /** the moment, null if they are not linked */
  moment: Moment | null;
  /** which part of the bytes was found in the trace, null if they are not linked or nothing was alive */
  linked: number | null;
  /** Σ bytes over all rows = the bytes requested at that moment */
  rows: LinkedRows;
  /** how many more rows there are */
  left_out: number;
}

/** Parallel lists, the most bytes first. */
export interface LinkedRows {
  /** the module, annotation or operator of the trace */
  group: string[];
  /** how many allocations */
  blocks: number[];
  /** requested */
  bytes: number[];
}

/** What is compared of a snapshot. */
export interface SnapshotFiguresAnswer {
  /** which snapshot */
  meta: TraceMeta;
  /** its numbers */
  figures: SnapshotFigures;
}

/** What is compared of a snapshot, of its device with most records. */
export interface SnapshotFigures {
  /** number of the device */
  device: number;
  /** most that was requested and not released; None without a history */
  peak_requested: number | null;
  /** most bytes of segments; None without a history */
  peak_reserved: number | null;
  /** in use at the end (bytes) */
  requested: number;
  /** how many allocations failed, on all devices */
  ooms: number;
  /** where what was in use at the peak, or without a history at the end, was allocated, most bytes first */
  lines: string[];
  /** of each line, requested */
  bytes: number[];
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
  tracks: DrawnTrack[];
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
  /** how many flow endpoints */
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
export interface DrawnTrack {
  /** its position in the list */
  id: number;
  /** id of its process, null for a process */
  parent: number | null;
  /** process, thread, stream or other */
  kind: string;
  /** that a person reads */
  name: string;
  /** of a thread of the host: main (it runs the steps), active, or idle (it hardly calls anything); null of all others */
  role: "active" | "idle" | "main" | null;
  /** as in the file; tid is null for a process */
  pid: number | string | null;
  /** as in the file; tid is null for a process */
  tid: number | string | null;
  /** number of the GPU, null on the host */
  device: number | null;
  /** how many are on it */
  slices: number;
  /** how many instant events are on it */
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

/** A counter of one device, or one of the file. */
export interface CounterSeries {
  /** for the parameter `ids` */
  id: string;
  /** what is counted */
  kind: "busy" | "computing" | "exposed_communication" | "kernels_running" | "memcpy_bandwidth" | "memory_allocated" | "memory_reserved" | "queue_length" | "recorded" | "sm_efficiency";
  /** that a person reads */
  name: string;
  /** whose counter it is; of a counter of the file its number */
  device: string;
  /** of its values */
  unit: "bytes" | "bytes/s" | "count" | "fraction" | "number";
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
  /** the text on slices of that name, if shorter than the name; null for the name itself; parallel to ids */
  labels: (string | null)[];
}

/** Everything about one slice, and its step. */
export interface SliceDetails {
  /** number of its event (number of an event in its file) */
  row: number;
  /** number of the lane it is on */
  lane: number;
  /** of the slice */
  name: string;
  /** name in small letters, as in `trace/schema.py` */
  category: string;
  /** when it begins (nanoseconds) */
  start_ns: number;
  /** how long it lasts (nanoseconds) */
  duration_ns: number;
  /** for a kernel, the parts of its name that show what it does; null for all others */
  short_name: string | null;
  /** id of the track it is on */
  track: number;
  /** number of its name */
  name_id: number;
  /** its duration less what its children in its own band cover */
  self_ns: number;
  /** what the columns hold of its arguments, by the names that the file uses */
  args: { [key: string]: unknown };
  /** of a kernel its blocks per SM and its occupancy (%) where they follow from its launch and are missing in the file, or impossible there; by the names that files use */
  computed: { [key: string]: number };
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
  /** device work that was started inside it */
  launched: LaunchedWork;
  /** of device work and of API calls the innermost operator around the call */
  operator: SliceReference | null;
  /** for device work, what it belongs to, and how that is known */
  owner: Owner | null;
  /** of an operator of the backward pass those that it belongs to */
  forward: SliceReference[];
  /** of an operator of the forward pass those that belong to it */
  backward: SliceReference[];
  /** from the program to the device: what caused it and what it caused; empty if it is in no chain */
  chain: ChainLink[];
  /** arrows from it and to it, at most 200 */
  flows: Flow[];
  /** all slices of its name */
  same_name: SameName;
  /** the name of the step that contains it; of what reaches into several the first of them; null outside steps */
  step: string | null;
  /** for what extends over several steps, the last of them; otherwise null */
  last_step: string | null;
}

/** A slice, as every answer names it. */
export interface SliceReference {
  /** number of its event (number of an event in its file) */
  row: number;
  /** number of the lane it is on */
  lane: number;
  /** of the slice */
  name: string;
  /** name in small letters, as in `trace/schema.py` */
  category: string;
  /** when it begins (nanoseconds) */
  start_ns: number;
  /** how long it lasts (nanoseconds) */
  duration_ns: number;
  /** for a kernel, the parts of its name that show what it does; null for all others */
  short_name: string | null;
}

/** A Python frame around a slice. */
export interface StackFrame {
  /** number of the frame's event */
  row: number;
  /** file, line and function */
  frame: string;
}

/** Device work that was started inside a slice. */
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
  /** operator, compiled, annotated, graph_node, annotation, module, frame, thread, inferred or none */
  how: string;
  /** why there is none: host_not_recorded, before_recording, no_correlation, launch_lost or ambiguous; null for others */
  reason: string | null;
  /** the owner in words */
  text: string;
  /** only its name; null for none */
  name: string | null;
  /** the operator, annotation or frame; null for none, and for what is not drawn */
  slice: SliceReference | null;
  /** for a node of a graph, the call that captured it; for an inferred owner, the work it is like; otherwise null */
  evidence: SliceReference | null;
}

/** One slice of a chain. */
export interface ChainLink {
  /** what it is in the chain: module (a call of nn.Module), frame (a line of the program), forward (the operator whose backward comes next), operator, launch (the call that starts work), or work (on a device) */
  place: "forward" | "frame" | "launch" | "module" | "operator" | "work";
  /** the slice */
  slice: SliceReference;
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
  /** of their durations; null if all are equally long */
  histogram: DurationHistogram | null;
}

/** Bins of equal width on a logarithmic scale. */
export interface DurationHistogram {
  /** where bins begin and end: one more than counts */
  edges_ns: number[];
  /** how many slices each bin has */
  counts: number[];
}

/** The arguments of an event, as in the file. */
export interface EventArguments {
  /** number of an event in its file */
  row: number;
  /** JSON text, at most 200,000 characters; null if the event has none */
  args: string | null;
  /** how many characters the whole text has */
  length: number;
}

/** The slice of the same name that begins next, or before. */
export interface Neighbour {
  /** null if there is none */
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
  /** number of the lane that each is on */
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

/** Sums over the parts of slices within a window. */
export interface WindowTotals {
  /** where the window begins (nanoseconds) */
  from_ns: number;
  /** where it ends (nanoseconds) */
  to_ns: number;
  /** how many touch the window */
  slices: number;
  /** how many touch the window */
  instants: number;
  /** by name and category: kernels, copies, sets, operators, annotations, calls and others, overhead, Python frames; in each most time first; at most 1,000 */
  by_name: NameTotal[];
  /** how many names and categories there are */
  names_total: number;
  /** of those that `by_name` leaves out */
  rest: RestTotal;
  /** by category, in the same order */
  by_category: CategoryTotal[];
  /** of which a lane was chosen */
  devices: DeviceTotal[];
  /** what the columns of `by_name` are, and those of `by_category`, which has all but the name */
  columns: Definition[];
  /** what the columns of `devices` are */
  device_columns: Definition[];
}

/** Slices of one name and category. */
export interface NameTotal {
  /** number of the name */
  name_id: number;
  /** name of the slices */
  name: string;
  /** kind of event, such as kernel or operator */
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

/** Slices of one category, nested ones included. */
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
  /** time of the window in which a kernel, copy or fill ran */
  busy_ns: number;
  /** the rest of the window */
  idle_ns: number;
  /** time in which a compute kernel ran */
  computing_ns: number;
  /** time in which a communication kernel ran */
  communicating_ns: number;
  /** time in which a communication kernel ran and no compute kernel did */
  exposed_communication_ns: number;
  /** time in which a copy ran; fills do not count */
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
  /** by the codes in tiles: why what follows a piece could not come earlier; for phases, how each is known */
  edges: string[];
  /** why there are none; null if there are */
  refused: NoLanes | null;
  /** share of the time of the steps that nothing in the trace explains; null if it is not known */
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
  /** how many are on it */
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
  /** null if there is none */
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
  /** whether offsets come from the clocks of the files; otherwise every rank begins at 0 */
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
  /** number of its process, null if neither the trace nor its name says */
  rank: number | null;
  /** of its machine, as the trace says; empty if it does not */
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
  /** number of the event and of the lane of its first kernel, otherwise of its call; null if that is not a slice */
  row: number | null;
  /** number of the event and of the lane of its first kernel, otherwise of its call; null if that is not a slice */
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
  /** JSON files outside all runs that are no traces, and why */
  skipped: SkippedFile[];
}

/** What a reason says, for saying it in another language. */
export interface Why {
  /** which reason it is; `other` exists only in English */
  kind: string;
  /** what the sentence says beyond its kind */
  values: { [key: string]: string | number | boolean };
}

/** A run. */
export interface RunProgress {
  /** of the run */
  name: string;
  /** failed if all traces are, loading while one is not yet read, otherwise ready */
  state: "failed" | "loading" | "ready";
  /** how many of its traces were read */
  ready: number;
  /** how many it has */
  total: number;
  /** by worker, then span */
  traces: TraceStatus[];
  /** JSON files of the run that are no traces, and why */
  skipped: SkippedFile[];
  /** when its newest trace was recorded, milliseconds since the epoch: by the name that torch gave to the file, otherwise from its time of writing; null if neither is known */
  newest_ms: number | null;
}

/** A trace and how far it is. */
export interface TraceStatus {
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
  /** how many were read; null until this is known */
  events: number | null;
  /** why it failed, a sentence that goes on after the name of the file */
  reason: string | null;
  /** the same as `reason`, for saying it in another language */
  why: Why | null;
  /** how many trace-health notes it has */
  notes: number;
  /** that have data */
  views: string[];
  /** number of the process, as in the trace, otherwise its name */
  rank: number | null;
  /** how many processes there were, null if the trace does not contain it */
  world_size: number | null;
  /** null if the trace does not contain it */
  host_name: string | null;
  /** whether it is a trace or a memory snapshot */
  kind: "snapshot" | "trace";
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

/** The first rows of what a query found, as a table. */
export interface QueryResult {
  /** how much of it this is, and how long it took */
  meta: QueryMeta;
  /** in order */
  columns: Column[];
  /** by column key: a list each, all of the same length */
  rows: { [key: string]: Cell[] };
}

/** The metadata of the rows of a query. */
export interface QueryMeta {
  /** why there may be further rows that are not here: rows (as many as are sent), bytes (as long as is sent); empty if all are here */
  more: "" | "bytes" | "rows";
  /** how long tables were made that the query names, before it ran (nanoseconds) */
  prepared_ns: number;
  /** how long it ran (nanoseconds) */
  query_ns: number;
}

/** What queries can name, and what they may take. */
export interface QueryTables {
  /** that queries can name */
  tables: QueryTable[];
  /** of the traces that are asked, in the order of the run: `main` for one */
  schemas: string[];
  /** how many rows of a query are sent */
  rows: number;
  /** how many s a query may take; it is ended then */
  seconds: number;
}

/** A table that queries can name. */
export interface QueryTable {
  /** in SQL */
  name: string;
  /** what a row of it is */
  meaning: string;
  /** in order */
  columns: SqlColumn[];
}

/** One column of a table. */
export interface SqlColumn {
  /** in SQL */
  name: string;
  /** of its values */
  type: "bool" | "number" | "string";
  /** of its values; empty if they have none */
  unit: string;
  /** what it is */
  meaning: string;
  /** the key in the trace file, or what declares it */
  origin: string;
  /** when it is NULL; empty if it never is */
  missing: string;
}

/** The JSON answer of each route below `/api/`. */
export interface Answers {
  "api_calls": {
    /** the metadata of the table */
    meta: TableMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "category": CategoryAnswer;
  "compare": CompareAnswer;
  "compare/change": ChangeAnswer;
  "compare/roofline": CompareRooflineAnswer;
  "compare/trends": TracesTrends;
  "compiled": CompiledAnswer;
  "critical_path": CriticalPathAnswer;
  "critical_path/pieces": {
    /** the metadata of the table */
    meta: TableMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "distributed": DistributedAnswer;
  "engine": EngineAnswer;
  "figures": FiguresAnswer;
  "figures/names": StepNames;
  "figures/recording": RecordingFigures;
  "flops": FlopsAnswer;
  "graphs": GraphsAnswer;
  "health": HealthAnswer;
  "kernels": {
    /** the metadata of the table */
    meta: KernelsMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "memory/alive": MemoryAliveAnswer;
  "memory/categories": MemoryCategoriesAnswer;
  "memory/curve": MemoryCurveAnswer;
  "memory/error_text": MemoryFailuresAnswer;
  "memory/events": {
    /** the metadata of the table */
    meta: MemoryEventsMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "memory/failures": MemoryFailuresAnswer;
  "memory/modules": {
    /** the metadata of the table */
    meta: MemoryModulesMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "memory/operators": {
    /** the metadata of the table */
    meta: MemoryOperatorsMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "modules": ModulesAnswer;
  "openapi.json": { [key: string]: unknown };
  "operators": {
    /** the metadata of the table */
    meta: OperatorsMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "operators/kernels": {
    /** the metadata of the table */
    meta: LaunchedMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "operators/stacks": {
    /** the metadata of the table */
    meta: OperatorsMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "overview": OverviewAnswer;
  "phases": PhasesAnswer;
  "range_calls": {
    /** the metadata of the table */
    meta: TableMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "ranges": {
    /** the metadata of the table */
    meta: TableMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "ranks": RanksOverview;
  "ranks/clock": Clock;
  "ranks/collectives": CollectiveTable;
  "ranks/heatmap": HeatMap;
  "ranks/range": RangeOfRanks;
  "ranks/ranges": RangesOfRanks;
  "roofline": {
    /** the metadata of the table */
    meta: RooflineMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "run_findings": RunFindingsAnswer;
  "snapshot": SnapshotAnswer;
  "snapshot/against": AgainstAnswer;
  "snapshot/alive": {
    /** the metadata of the table */
    meta: AliveMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "snapshot/alive_in_trace": LinkedAliveAnswer;
  "snapshot/figures": SnapshotFiguresAnswer;
  "snapshot/lifetimes": {
    /** the metadata of the table */
    meta: TableMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "snapshot/link": SnapshotLinkAnswer;
  "snapshot/ranks": {
    /** the metadata of the table */
    meta: TracesMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "snapshot/record": SnapshotRecordAnswer;
  "snapshot/segments": SegmentsAnswer;
  "snapshot/stacks": SnapshotStacksAnswer;
  "snapshot/timeline": SnapshotTimelineAnswer;
  "snapshot/tracks": SnapshotTracksAnswer;
  "snapshot/tracks/tile": SnapshotTracksTileAnswer;
  "sql": QueryResult;
  "sql/tables": QueryTables;
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
    /** the metadata of the table */
    meta: TracesMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "traces/names": {
    /** the metadata of the table */
    meta: NamesMeta;
    /** the columns, in order */
    columns: Column[];
    /** the cells of the page, by column key */
    rows: Rows;
  };
  "waterfall": WaterfallAnswer;
  "what_if": WhatIfAnswer;
}
