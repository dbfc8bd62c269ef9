import { counted } from "../counted";
import { area } from "../translation";

export const distributed = area("distributed", {
  what: "ranks",
  rank: "Rank",
  worker: "Worker",

  chosen: (worker: string, step: string) => `Show step ${step} of ${worker}`,
  choice: "Steps that the numbers are about",
  step: "Numbers of",
  allSteps: "all steps, average",
  stepOption: (name: string) => `step ${name}`,
  stepMissing: (n: string) => counted(n, "rank has no such step", "ranks have no such step"),
  order: "Order",
  byRank: "Rank",
  bySlowest: "Longest first",
  mode: "Scale",
  absolute: "Absolute",
  percent: "Percent",

  empty: "No communication between ranks was found",
  emptyReason:
    "This view compares the ranks of one run. It needs traces of a program that communicates (torch.distributed: NCCL, Gloo, MPI, …), one of each rank, in the same directory.",
  emptyRemedy:
    'on_trace_ready=tensorboard_trace_handler(log_dir, worker_name=f"rank{dist.get_rank()}")',

  run: {
    loaded: (n: number) =>
      n === 2 ? "both ranks replayed together" : `all ${n} ranks replayed together`,
    partly: (n: number, all: number) => `${n} of ${all} ranks replayed together`,
    loadedHelp:
      "A collective begins when the last of these ranks arrives. Its cost includes waiting for ranks that are not loaded.",
    help: "Causes of lost time in the whole run, ordered by how much each saves beyond those above it. A saving is how much shorter the average step of all ranks would be, computed by replaying all ranks together without the cause. Each saving assumes that the ones above it are already fixed, so they add up.",
    none: (n: number) => `None of the ${n} rules over several ranks found a cause of lost time.`,
  },

  overlap: "Computation/Communication Overview",
  overlapHelp:
    "How each rank spends its step. The four parts add up to the step time exactly. A triangle marks slow ranks.",
  waits: "Synchronizing/Communication Overview",
  waitsHelp:
    "Time in which communication operations of the step ran, split into waiting for other ranks and moving data. Part of it may be hidden behind computation.",

  operations: {
    title: "Communication Operations Stats",
    worker: "Operations of",
    allWorkers: "all workers",
    group: "Process group",
    allGroups: "all groups",
    waitShare: "Waiting %",
    waitHelp: "Synchronizing ÷ (synchronizing + data transfer).",
    empty: "No communication operations were recorded",
    emptyReason: "None of the traces of this span contains a collective, a send or a receive.",
    noMatch: "This worker has no operations in this group.",
  },

  devices: {
    memoryHelp: "Memory of the device, as the file describes it.",
    title: "Device Information",
    help: "Where each rank ran. Only devices that did some work are listed, as the trace describes them.",
    gpu: (id: number) => `GPU ${id}`,
    columns: {
      node: "Node",
      process: "Process",
      worker: "Worker",
      rank: "Rank",
      device: "Device",
      name: "Name",
      memory_bytes: "Memory",
      compute_capability: "Compute capability",
      backend: "Backend",
      groups: "Process groups",
    },
  },
});
