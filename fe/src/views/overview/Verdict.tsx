import type { Overview } from "../../api";
import { duration, fraction } from "../../format";
import { categoryName, findingTitle, overviewTexts as text } from "../../i18n";

import { findingId } from "./Findings";

export function Verdict({ overview: { meta, verdict, findings } }: { overview: Overview }) {
  if (!verdict) return null;
  const { category, share, largest_loss: loss } = verdict;
  const isWork = category === (meta.device_type === "GPU" ? "kernel" : "cpu_exec");
  // A rule that has its category's name explains that loss.
  const finding = findings.find(({ id }) => id === loss) ?? findings[0];
  return (
    <p className="verdict">
      <strong>
        {category === "kernel"
          ? text.verdict.kernels(fraction(share))
          : text.verdict.largest(categoryName(category), fraction(share))}
      </strong>
      {loss && (
        <span className="verdict-loss">
          <i className="swatch" style={{ background: `var(--cat-${loss})` }} />
          {(isWork ? text.verdict.loss : text.verdict.nextLoss)(
            categoryName(loss),
            fraction(verdict.largest_loss_share),
            duration(verdict.largest_loss_ns),
          )}
        </span>
      )}
      {finding && (
        <button
          type="button"
          className="link"
          onClick={() => {
            const target = document.getElementById(findingId(finding.id));
            target?.scrollIntoView({ block: "center" });
            target?.focus({ preventScroll: true });
          }}
        >
          {text.verdict.finding(findingTitle(finding))}
        </button>
      )}
    </p>
  );
}
