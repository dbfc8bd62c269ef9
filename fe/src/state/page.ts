/**
 * The parameters of the page: what the shell chooses for all views. They are declared here and not in `shell` because
 * `TraceProvider` resolves them. A view may use no key of these.
 */
import { type Codec, name, param, text } from "./address";
import { PICKED } from "./picked";

/** The version of the meaning of keys, in a link that says it. */
export const SCHEMA = "1";

const STEP = { isStep: true };

/** Ids that views had before, in links that were made then. */
const FORMER: ReadonlyMap<string, string> = new Map([["capture", "health"]]);
const VIEW: Codec<string> = { ...text(), parse: (id) => FORMER.get(id) ?? id };

export const page = {
  schema: param("z", text()),
  /** Id of the view; any other text is the first one. */
  view: param("v", VIEW, STEP),
  run: param("r", name, STEP),
  worker: param("k", name, STEP),
  span: param("s", name, STEP),
  /** First and last step, `5~10`; by the names of the steps, see `range.ts`. */
  steps: param("st", name, STEP),
  /** How steps are found: the name of a rule, or a pattern of annotation names. */
  stepRule: param("sr", name),
  stepPattern: param("sp", name),
  /** The trace that is compared with, `run~rank~span`; see `comparison.ts`. */
  baseline: param("b", name, STEP),
  /** What every view marks and the inspector describes. */
  picked: param("sel", PICKED),
} as const;
