/** Findings, as the Overview of a trace and the Distributed view of a run show them. Not a part of the first load. */
export { BoundSentence } from "./BoundSentence";
export { inCode } from "./code";
export { FindingItem, type ItemProps } from "./FindingItem";
export { JobFindings, JobVerdict, useJob } from "./JobVerdict";
export { Places } from "./Places";
export { ShowIn } from "./ShowIn";
export { markInTrace, showInTrace } from "./showInTrace";
export { Verdict } from "./Verdict";
