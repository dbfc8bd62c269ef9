/** /api/ranks: who is slow, what it costs, and how the ranks of a run work together. */
import type { Answers } from "./schema.gen";

export type {
  BandwidthFit,
  CollectiveRow,
  CollectiveTable,
  HeatMap,
  InlineTable,
  MissingCollective,
  ParallelLayout,
  Pipeline,
  RanksOverview,
  Representative,
  RunGroup,
  RunRanks,
  RunTiles,
  SlowLink,
  Straggler,
} from "./schema.gen";

export type RankClock = Answers["ranks/clock"];
