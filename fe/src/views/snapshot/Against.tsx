/** What is in use here and was not in another snapshot. */
import { useMemo } from "react";
import { AnswerTable } from "../../answers/AnswerTable";
import { type TraceKey, useStatus, useTraceQuery } from "../../api";
import { bytes, count } from "../../format";
import { snapshotTexts as text } from "../../i18n";
import { useAddress, useTrace } from "../../state";
import { asDeclared } from "../../table";
import { Combo, QueryPanel } from "../../ui";
import { momentName } from "./Moments";
import { params } from "./params";
import type { Look } from "./useSnapshot";

interface Other {
  readonly all: readonly TraceKey[];
  readonly chosen: TraceKey | null;
  readonly set: (key: string | null) => void;
}

/** As it is in the address. */
export function keyOf({ run, worker, span }: Pick<TraceKey, "run" | "worker" | "span">): string {
  return [run, worker, span ?? ""].map(encodeURIComponent).join("/");
}

/** The other snapshots of the log directory, and the one that is compared with. */
export function useOther(): Other {
  const { sel } = useTrace();
  const { data } = useStatus();
  const [wanted, set] = useAddress(params.other);
  const all = useMemo(() => {
    const own = sel && keyOf(sel);
    return (data?.runs ?? [])
      .flatMap(({ name, traces }) =>
        traces
          .filter(({ kind, state }) => kind === "snapshot" && state === "ready")
          .map(({ worker, span }) => ({ run: name, worker, span })),
      )
      .filter((each) => keyOf(each) !== own);
  }, [data, sel]);
  return { all, chosen: all.find((each) => keyOf(each) === wanted) ?? null, set };
}

export function OtherChoice({ other: { all, chosen, set } }: { readonly other: Other }) {
  if (all.length === 0) return null;
  return (
    <Combo
      label={text.other}
      value={chosen ? keyOf(chosen) : ""}
      options={[
        { value: "", label: text.nothing },
        ...all.map((each) => ({ value: keyOf(each), label: nameOf(each) })),
      ]}
      onChange={(key) => set(key || null)}
    />
  );
}

function nameOf({ run, worker, span }: TraceKey): string {
  return [run, worker, span === "default" ? "" : span].filter(Boolean).join(" · ");
}

interface Props {
  readonly look: Look;
  readonly by: "line" | "stack" | "size" | "module" | "annotation";
  readonly other: TraceKey;
  readonly actions: React.ReactNode;
}

export function AgainstPanel({ look, by, other, actions }: Props) {
  const { sel } = useTrace();
  // a number means another record there
  const wanted = look.since ?? look.at;
  const at = /\d/.test(wanted) ? "peak" : wanted;
  const query = useTraceQuery("snapshot/against", sel && other, {
    at,
    exp_at: look.at,
    exp_device: look.device.device,
    by,
    exp_run: sel?.run,
    exp_worker: sel?.worker,
    exp_span: sel?.span,
  });
  return (
    <QueryPanel title={text.alive} help={text.againstHelp} query={query} actions={actions}>
      {(answer) => (
        <>
          <p>
            {text.againstSaid(
              momentName(look.at),
              bytes(answer.moment.requested),
              momentName(answer.before.kind),
              bytes(answer.before.requested),
              nameOf(other),
            )}
          </p>
          {answer.before.kind !== at && (
            <p className="muted">{text.againstPeak(nameOf(other), momentName(at))}</p>
          )}
          <AnswerTable
            id="snapshot-against"
            label={text.alive}
            answer={answer.rows}
            // the server puts first what differs most, in either direction
            shape={asDeclared}
            filter={params.filter}
            sort={params.sort}
          />
          {answer.left_out > 0 && <p className="muted">{text.more(count(answer.left_out))}</p>}
        </>
      )}
    </QueryPanel>
  );
}
