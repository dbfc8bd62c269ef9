import { counted } from "../counted";
import { area } from "../translation";

export const hang = area("hang", {
  question: "Why the job hangs",
  questionHelp: `What the flight-recorder dumps of all ranks say together (docs/hang.md).

For each rank its first unfinished call decides. Whoever is waited for and waits for nobody has stopped the job. “Entered” means queued by the host; “finished” is what the watchdog of that rank has seen. Times of ranks are not compared, as their clocks differ.`,
  dumps: (read: string, ranks: string) =>
    `${read} of ${ranks} ranks left a dump that could be read.`,
  named: "Ranks that stopped the job",
  namedColumns: ["Rank", "What", "Call", "Group", "Line", "Evidence"],
  kinds: {
    host_stopped: "Host stopped",
    device_stopped: "Device stopped",
    desync: "Calls something else",
    deadlock: "Deadlock",
    missing: "No dump",
  },
  lastFinished: (call: string) => `Last finished: ${call}`,
  inTrace: "Show in Trace",
  inTraceHelp:
    "The same group and number in the trace of this rank, where operator and sizes agree.",

  waits: "Who waits for whom",
  waitsHelp:
    "Ranks in one call that wait for the same ranks share a box. A line leads to whoever they wait for.",
  waitsSummary: (boxes: string, named: string) =>
    `${counted(boxes, "group of ranks", "groups of ranks")}; stopped: ${named}`,
  rankNames: (ranks: string, count: number) => `${count === 1 ? "Rank" : "Ranks"} ${ranks}`,
  inCall: (call: string, group: string) => `${call} of ${group}`,
  noCall: "no unfinished call",
  forRanks: (ranks: string) => `Waits for: ${ranks}`,
  forNobody: "Waits for nobody that the dumps show",
  more: (n: string) => `${n} more groups are in the table below.`,

  ranks: "Last call of each rank",
  rankColumns: ["Ranks", "State", "Call", "Group", "Line", "Waits for"],
  unfinished: "In it",
  finished: "Finished it",

  groups: "Process groups",
  groupsHelp: "How far the members came in the first call that any of them has not finished.",
  groupColumns: ["Group", "Call", "Ranks", "Finished", "Entered", "Not entered", "Unknown"],

  leftOut: "Files left out",
  leftOutColumns: ["File", "Reason"],
  rest: (n: string) => `${n} more rows: torch-tb-profiler hang --json lists all.`,
});
