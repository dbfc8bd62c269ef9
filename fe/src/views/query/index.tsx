/** SQL over the trace; only on a server started with `serve --sql`. */

import { allSteps, useTraceQuery } from "../../api";
import { query as words } from "../../i18n/en/query";
import { Choice } from "../../shell";
import { useAddress, useTrace } from "../../state";
import { Panel } from "../../ui";
import { Columns } from "./Columns";
import { Editor } from "./Editor";
import { params } from "./params";
import { Result } from "./Result";
import "./query.css";

export default function Query() {
  const { sel } = useTrace();
  const trace = sel && allSteps(sel);
  const [statement, setStatement] = useAddress(params.statement);
  const [of] = useAddress(params.of);
  const tables = useTraceQuery("sql/tables", trace, { of });
  const found = useTraceQuery(
    "sql",
    statement ? trace : null,
    { query: statement, of },
    { keep: false },
  );
  return (
    <div className="query">
      <Panel
        title={words.title}
        help={words.help}
        actions={<Choice param={params.of} label={words.of.label} names={words.of} />}
      >
        <Editor
          key={statement}
          statement={statement}
          schema={of === "span" ? (tables.data?.schemas[0] ?? "main") : "main"}
          limits={tables.data ?? null}
          onRun={(next) => (next === statement ? void found.refetch() : setStatement(next))}
        />
        {statement && <Result found={found} />}
      </Panel>
      <Panel title={words.columns.title} help={words.columns.help}>
        <Columns query={tables} />
      </Panel>
    </div>
  );
}
