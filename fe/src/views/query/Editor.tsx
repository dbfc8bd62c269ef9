/** The field for a statement, with examples. */
import { useState } from "react";
import type { Answers } from "../../api/schema.gen";
import { count } from "../../format";
import { query as words } from "../../i18n/en/query";
import { Button, Link, TextField } from "../../ui";
import { EXAMPLES, exampleIn } from "./examples";

interface Props {
  readonly statement: string;
  /** In which the tables of the examples are. */
  readonly schema: string;
  readonly limits: Answers["sql/tables"] | null;
  readonly onRun: (statement: string) => void;
}

export function Editor({ statement, schema, limits, onRun }: Props) {
  const [typed, setTyped] = useState(statement);
  const run = () => typed.trim() && onRun(typed.trim());
  return (
    <form
      className="query-editor"
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <div className="query-examples">
        <span>{words.examples}</span>
        {EXAMPLES.map((example) => (
          <Link
            key={example.id}
            onClick={() => {
              const text = exampleIn(example, schema);
              setTyped(text);
              onRun(text);
            }}
          >
            {words.exampleNames[example.id]}
          </Link>
        ))}
      </div>
      <TextField
        rows={Math.min(14, Math.max(5, typed.split("\n").length + 1))}
        aria-label={words.field}
        placeholder="SELECT … FROM kernels"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          run();
        }}
      />
      <div className="query-run">
        <Button className="primary" type="submit" disabled={!typed.trim()}>
          {words.run}
        </Button>
        {limits && <span>{words.limits(count(limits.rows), String(limits.seconds))}</span>}
      </div>
    </form>
  );
}
