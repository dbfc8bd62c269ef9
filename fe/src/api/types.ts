/**
 * The answers of the server by the names that the page has for them. Their shapes are those of docs/openapi.json.
 *
 * Unit names are types so that a signature says what a number is. Tables are parallel columns:
 * `rows.name[i]` and `rows.calls[i]` belong to the same row.
 */
import type {
  Answers,
  Column,
  DeviceUse,
  HealthAnswer,
  Note,
  OverviewAnswer,
  RecordedCapture,
  RunProgress,
  StatusAnswer,
  StepParts,
  TraceMeta,
  TraceStatus,
  TransferSums,
  WaterfallAnswer,
} from "./schema.gen";

export type {
  AverageStep,
  Cell,
  Column,
  Definition,
  Evidence,
  Finding,
  KernelsMeta,
  Note,
  RecordedDevice,
  SkippedEntry,
  StepPicture,
  Why,
} from "./schema.gen";

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

export type Status = StatusAnswer;
export type RunStatus = RunProgress;
export type { TraceStatus };
export type TraceState = TraceStatus["state"];

export type NoteSeverity = Note["severity"];

export type Meta = TraceMeta;
export type Overview = OverviewAnswer;
export type Waterfall = WaterfallAnswer;
export type Steps = StepParts;
export type Device = DeviceUse;
export type Health = HealthAnswer;
export type Capture = RecordedCapture;

export type Unit = NonNullable<Column["unit"]>;

export type OperatorGroup = "name" | "name_shape" | "name_stack";
export type KernelGroup = "name" | "name_op_launch";
export type RooflineGroup =
  | "operator"
  | "operator_shape"
  | "kernel"
  | "module"
  | "line"
  | "element"
  | "phase";

export type Copies = TransferSums;
export type OperatorsTable = Answers["operators"];
export type KernelsTable = Answers["kernels"];
export type RooflineTable = Answers["roofline"];
export type OperatorStacksTable = Answers["operators/stacks"];
export type Definitions = OverviewAnswer["definitions"];
export type DistributedInfo = NonNullable<RecordedCapture["distributed"]>;
