/** A slider of slack. Pure. */

/** Of a slider of slack: 0 is 0 ns, 1 is 1 µs, and the last is the whole step; the same distance is the same factor. */
export const SLACK_STEPS = 60;
const FIRST_SLACK = 1e3;

export function slackAt(position: number, step: number): number {
  if (position <= 0) return 0;
  const most = Math.max(step, FIRST_SLACK);
  const share = (Math.min(position, SLACK_STEPS) - 1) / (SLACK_STEPS - 1);
  return Math.round(FIRST_SLACK * (most / FIRST_SLACK) ** share);
}

export function slackPosition(slack: number, step: number): number {
  if (slack < FIRST_SLACK) return slack > 0 ? 1 : 0;
  if (step <= FIRST_SLACK) return SLACK_STEPS;
  const share = Math.log(slack / FIRST_SLACK) / Math.log(step / FIRST_SLACK);
  return Math.min(SLACK_STEPS, Math.round(1 + share * (SLACK_STEPS - 1)));
}
