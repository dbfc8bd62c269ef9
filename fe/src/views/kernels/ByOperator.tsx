import { useMemo } from "react";
import { type KernelsTable, useKernels } from "../../api";
import { t } from "../../i18n";
import { goToView, useSelection } from "../../state";
import { SimpleTable } from "../../table";
import { Async } from "../../ui";
import { byOperator, kernelTable, rowsOf } from "./columns";

const text = t.kernels;

interface Props {
  readonly name: string;
  /** One row for each operator: what fits beside the page. */
  readonly compact?: boolean;
}

/** One kernel, split by the operator that launched it and by launch properties. */
export function ByOperator({ name, compact = false }: Props) {
  const { sel } = useSelection();
  const query = useKernels(sel, "name_op_launch");
  return (
    <Async query={query}>
      {(answer) => <Launches answer={answer} name={name} compact={compact} />}
    </Async>
  );
}

function Launches({ answer, name, compact }: Props & { readonly answer: KernelsTable }) {
  const table = useMemo(() => {
    const launches = rowsOf(kernelTable(answer), name);
    return compact ? byOperator(launches) : launches;
  }, [answer, name, compact]);
  return (
    <SimpleTable
      caption={compact ? text.byOperator : text.byLaunch}
      table={table}
      renderName={(row, label) => {
        const operator = table.rows.operator?.[row];
        return typeof operator === "string" && operator !== "" ? (
          <button
            type="button"
            className="link"
            title={text.showOperator(operator)}
            onClick={() => goToView("operators", { kind: "op", name: operator })}
          >
            {label}
          </button>
        ) : (
          <span className="muted">{text.noOperator}</span>
        );
      }}
    />
  );
}
