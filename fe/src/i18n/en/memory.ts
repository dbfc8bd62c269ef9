import { counted } from "../counted";
import { area } from "../translation";

export const memory = area("memory", {
  curve: "Memory in use",
  curveHelp: `Allocated: memory in use by tensors, as the device's allocator counts it.
Reserved: memory that the caching allocator has reserved on the device, in use or not; 0 on the CPU, which has no caching allocator.
Device total: the memory of the device.

Scale: from 0, or fitted to the first line, where a small change shows.

The lines are step functions over every record. Where a pixel stands for many records, the lowest and the highest are drawn, so no peak is lost; zooming in loads more detail.

Drag to zoom. Right click, double click or Esc resets the zoom. A click, or the arrow keys on the slider, sets the moment for which the table below shows what was alive; by default it is the peak of the visible range.`,
  curveOf: (device: string) => `Memory in use on ${device}`,
  summary: (device: string, from: string, to: string, peak: string, at: string) =>
    `Memory in use on ${device} from ${from} to ${to}: at most ${peak} allocated, at ${at}`,
  device: "Device",
  scale: "Scale",
  scales: { zero: "From 0", fit: "Fit" },
  lines: { allocated: "Allocated", reserved: "Reserved", total: "Device total" },
  noDevice: (wanted: string, shown: string) =>
    `This trace has no memory of ${wanted}; showing ${shown}.`,
  noRange: "The time range of the link is not in this trace; showing everything.",
  noTotals: (device: string) =>
    `The trace does not contain how much memory of ${device} was in use.`,

  failures: {
    title: "Out of memory",
    help: "Failed allocations ([OutOfMemory] of the profiler), with the totals of the allocator at that time. A trace does not show which pieces were free; a memory snapshot does.",
    pasted: "Text of an OutOfMemoryError",
    pastedHelp:
      "What the numbers in the exception mean. Its sizes are rounded, and it does not show which pieces were free.",
    placeholder: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate …",
    at: (time: string) => `Show it at ${time}`,
    facts: {
      requested: "Requested",
      allocated: "In use by tensors",
      unallocated: "Reserved, not in use",
      device_free: "Free on the device",
      device_total: "Device total",
      of_process: "Held by the process",
      of_others: "Held by other processes",
      limit: "Limit of the process",
      private_pools: "In private pools",
    },
  },
  snapshot: {
    title: "Memory snapshot of the same process",
    help: "A trace and a snapshot are from one process when at least 95 % of the records in the time that both cover have the same address, kind and device within 1 ms of each other. The clocks drift apart, so a difference of some ms is normal.",
    reasons: {
      linked: "The snapshot is from the same process.",
      nothing_recorded: "One of the two has no device allocations with addresses.",
      no_times: "The snapshot has no timestamps (PyTorch before 2.2).",
      other_time: "The snapshot was recorded at another time.",
      other_process: "The snapshot is from another process.",
    },
    clocks: (offset: string, spread: string, share: string, records: string) =>
      `Its clock differs by ${offset} (± ${spread}); ${share} of ${records} records match.`,
    open: (worker: string) => `Open ${worker}`,
    calls: (n: string, all: string) => `Driver calls of the allocator: the ${n} largest of ${all}`,
    columns: ["Call", "Size", "Time in the trace"],
    outside: "before the trace",
  },
  empty: "No memory was recorded",
  emptyReason: "The profiler records allocations and releases only with profile_memory=True.",
  emptyRemedy: "profile(profile_memory=True)",

  sentence: (peak: string, when: string) => `At most ${peak} was in use by tensors, ${when}.`,
  ofDevice: (reserved: string, total: string, share: string) =>
    `The allocator held up to ${reserved}, ${share} of the ${total} of the device.`,
  facts: {
    peak: "Peak allocated",
    peakHelp:
      "The highest memory in use, and when it was first reached. Taken from every record, not from the drawing.",
    reserved: "Peak reserved",
    reservedHelp: "The most memory that the caching allocator reserved on the device.",
    total: "Device total",
    totalHelp: "Memory of the device (totalGlobalMem of the trace's deviceProperties).",
    baseline: "Before the recording",
    baselineHelp:
      "Memory in use before the first record: parameters, optimizer state and anything else already allocated.",
    here: "Peak in the range",
    hereHelp: "The most memory in use inside the visible range.",
    at: (time: string) => `at ${time}`,
    in: (step: string) => `in ${step.replace(/^Step /, "step ")}`,
    ofTotal: (share: string) => `at most ${share} in use`,
    ofPeak: (share: string) => `${share} of the peak`,
    slack: (size: string) => `${size} more than allocated`,
  },

  peak: (size: string) => `Peak ${size}`,
  peakHere: (size: string) => `Peak here ${size}`,
  step: (name: string) => (/^\d+$/.test(name) ? `Step ${name}` : name),
  stepLabel: "Step",
  between: (low: string, high: string) => `${low} – ${high}`,
  table: {
    time: "Time",
    lowest: "Allocated, lowest",
    highest: "Allocated, highest",
    last: "Allocated, last",
    reserved: "Reserved",
  },

  categories: {
    title: "What memory is for",
    help: `Judged by the part of the step in which memory is allocated and released: forward, backward (below autograd::engine::evaluate_function) or optimizer (below Optimizer.step and zero_grad).

Gradients are allocated in backward and not released in it; optimizer state is allocated in the optimizer and stays; saved for backward is allocated in forward and released in backward. Memory allocated before the recording (parameters, state, buffers) cannot be divided here; a memory snapshot can divide it.

Each column shows the moment of its highest use; the categories add up to the memory allocated then. Click a column to see the blocks that were in use at that moment.`,
    none: "The trace does not contain how much memory was in use.",
    noPhases:
      "The trace has neither backward nor optimizer ranges, so the categories cannot be distinguished.",
    atPeak: (size: string) => `At the peak of ${size}`,
    openPeak: "Show the blocks that were in use at the peak",
    columns: ["Category", "Size", "Share", "Blocks"],
    columnsHelp: [
      "What the memory is for.",
      "Bytes of the category in use at the peak.",
      "Size ÷ all bytes in use at the peak.",
      "Blocks of the category that the recording saw allocated, in use at the peak.",
    ],
    names: {
      gradient: "Gradients",
      optimizer_state: "Optimizer state",
      saved_for_backward: "Saved for backward",
      kept_from_forward: "Kept from forward",
      forward_temporary: "Temporary in forward",
      backward_temporary: "Temporary in backward",
      optimizer_temporary: "Temporary in the optimizer",
      in_use: "In use",
      before_recording: "Before the recording",
    },
  },

  tabs: "Table",
  tab: {
    alive: "Alive",
    holders: "Alive by operator",
    events: "Allocations",
    operators: "Operators",
    modules: "Modules at the peak",
  },
  alive: "Live memory blocks",
  aliveHelp: `Blocks allocated by the chosen moment (inclusive) and not released, largest first.

Known blocks were allocated during the recording. Memory allocated before it has no records: only its sum is known.`,
  events: "Allocations",
  eventsHelp:
    "Every allocation with its release, if at least one of the two is in the time range. A time that was not recorded is empty.",
  operators: "Operators",
  operatorsHelp: `What operators allocated and released in the time range, themselves and with everything they called. Operators without any record on the device are left out.

Select a row to see the operator's times, and to go to it in the Operator view.`,

  whole: "entire recording",
  range: (from: string, to: string) => `${from} to ${to}`,
  follows: (range: string) => `Time range: ${range}`,

  at: {
    peak: (time: string) => `At the peak, ${time}:`,
    peakOfRange: (time: string) => `At the peak of the range, ${time}:`,
    cursor: (time: string) => `At ${time}:`,
  },
  backToPeak: "Back to the peak",
  inUse: "in use",
  known: "in known blocks",
  blocksAlive: (n: string) => counted(n, "block"),
  unknown: "allocated before the recording",
  onlyLargest: (shown: string, total: string) =>
    `Only the ${shown} largest of ${total} blocks are listed.`,
  share: "% in use",
  shareHelp: "Size divided by the memory in use at the moment.",
  outside: "(outside operators)",
  boxes: "Memory in use, by what asked for it",
  boxesHead: ["For", "Block"],
  smallerBlocks: (n: string) => counted(n, "smaller block"),
  beforeRecording: "(allocated before the recording)",
  blocks: "Blocks",
  blocksHelp: "How many blocks were alive.",
  holdersBytesHelp: "Σ sizes of the blocks.",
  largest: "Largest",
  largestHelp: "Size of the largest of the blocks.",

  total: (allocated: string, count: string, change: string) =>
    `${allocated} allocated in ${count} allocations, net ${change}`,
  outsideTotal: (allocated: string, change: string) =>
    `of it outside operators: ${allocated} allocated, net ${change}`,
  outsideHelpTitle: "what happens outside operators",
  outsideHelp:
    "Allocations and releases outside all operators, such as releases when Python drops a tensor. Σ self + this = everything recorded on the device, exactly.",
  modules: {
    title: "What memory is for, by module",
    help: `Blocks in use at the peak of the entire recording, by the innermost module whose forward allocated them or to whose operator the backward belongs. The columns are the categories above.`,
    none: "Nothing in the trace names modules: record it with with_stack=True or with_modules=True.",
    sum: (peak: string, unknown: string) =>
      `${peak} in use at the peak; ${unknown} of it was allocated before the recording, so its module is unknown.`,
    outside: "(outside modules)",
  },
  noOperators: "No operator changed the memory of the device in this range.",

  allocatedAt: "Allocated",
  releasedAt: "Released",
  notRecorded: "not recorded",
  setMoment: "Set the moment",
  setMomentOf: (end: string, time: string) => `Set the moment to ${time} (${end})`,
  zoomLifetime: "Zoom to its lifetime",
});
