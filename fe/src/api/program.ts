/** What the program did: phases, ranges, compiled code, graphs, inference; see docs/api.md. */
import type { CompiledAnswer, EngineAnswer, GraphsAnswer, PhasesAnswer } from "./schema.gen";

export type Phases = PhasesAnswer;
export type Phase = PhasesAnswer["phases"][number]["name"];
export type Compiled = CompiledAnswer;
export type Graphs = GraphsAnswer;
export type Inference = EngineAnswer;
