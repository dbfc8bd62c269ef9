/** What the Trace view shows with the lane of phases. */
export const PHASE_LANE = { derived: ["phases"] } as const;
