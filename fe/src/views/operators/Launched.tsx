import { tables, useTable } from "../../api";
import { operatorsTexts as text } from "../../i18n";
import { goToView, useTrace } from "../../state";
import { only, rowCount, SimpleTable } from "../../table";
import { Async } from "../../ui";

/** Another operator's details would mislead while these are on their way. */
const DETAIL = { keep: false };

interface Props {
  readonly name: string;
  readonly shape: string | null;
  /** Only what fits beside the page. */
  readonly compact?: boolean;
}

const ESSENTIAL = ["name", "calls", "total_ns"];

/** The kernels that one operator launched itself. */
export function Launched({ name, shape, compact = false }: Props) {
  const { sel } = useTrace();
  const query = useTable(tables.operatorKernels(sel, name, shape), DETAIL);
  return (
    <section>
      <Async query={query}>
        {(answer) =>
          rowCount(answer) === 0 ? (
            <p className="muted">{text.kernelsNone}</p>
          ) : (
            <SimpleTable
              caption={text.kernels}
              table={compact ? only(answer, ESSENTIAL) : answer}
              renderName={(_, kernel) => (
                <button
                  type="button"
                  className="link"
                  onClick={() => goToView("kernels", { kind: "kernel", name: kernel })}
                >
                  {kernel}
                </button>
              )}
            />
          )
        }
      </Async>
    </section>
  );
}
