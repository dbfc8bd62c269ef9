/** What saved pictures say of the page: which trace, which steps, and what bounds them. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { type Overview, traceKey } from "../api";
import { setCaption } from "../draw";
import { count } from "../format";
import { boundText, t } from "../i18n";
import type { CurrentTrace } from "../state";

export function useCaption({ sel, steps, range }: CurrentTrace): void {
  const client = useQueryClient();
  useEffect(() => {
    setCaption(() => {
      if (!sel) return [];
      const [from, to] = [range?.first, range?.last].map((at) => steps?.names[at ?? -1] ?? "");
      const shown =
        steps && range
          ? t.range.chip(from ?? "", to ?? "", count(steps.names.length))
          : steps && `${t.range.label}: ${t.range.all(count(steps.names.length))}`;
      // The verdict is quoted where the page knows it; nothing is asked for a picture.
      const verdict = client
        .getQueriesData<Overview>({
          queryKey: traceKey(sel),
          predicate: ({ queryKey }) => queryKey.includes("overview"),
        })
        .map(([, overview]) => overview?.bound)
        .find((bound) => bound);
      return [
        [sel.run, sel.worker, shown].filter(Boolean).join(" · "),
        ...(verdict ? [boundText(verdict)] : []),
      ];
    });
  });
}
