/** A line about the whole run, where the trace is one of several ranks: what bounds them all, and where that is shown. */

import { type Overview, useRunFindings } from "../../api";
import { unbroken } from "../../format";
import { boundText, overviewTexts } from "../../i18n";
import { ShowIn } from "../../shell/findings";
import { useTrace } from "../../state";

const text = overviewTexts.run;

/** Nothing while it is not known, and where the traces of the run do not communicate. */
export function RunLine({ overview }: { overview: Overview }) {
  return overview.workers > 1 ? <Line /> : null;
}

function Line() {
  const { sel } = useTrace();
  const { data } = useRunFindings(sel);
  if (!data || data.loaded < 2 || data.collectives === 0) return null;
  return (
    <p className="overview-run" role="note">
      {unbroken(text.line(data.loaded, boundText(data.bound)))} <ShowIn view="distributed" inText />
    </p>
  );
}
