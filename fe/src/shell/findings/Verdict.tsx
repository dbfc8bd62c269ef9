/** What the Overview says bounds the steps, as other views quote it. */
import type { ReactNode } from "react";
import { useOverview } from "../../api";
import { unbroken } from "../../format";
import { boundText } from "../../i18n";
import { useTrace } from "../../state";
import { ShowIn } from "./ShowIn";

/** children: how what the view itself says is related to that. */
export function Verdict({ children }: { readonly children?: ReactNode }) {
  const { data } = useOverview(useTrace().sel);
  if (!data) return null;
  return (
    <p className="verdict" role="note">
      {unbroken(boundText(data.bound))} {children} <ShowIn view="overview" inText />
    </p>
  );
}
