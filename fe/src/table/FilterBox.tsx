import { useId } from "react";
import { tableTexts } from "../i18n";
import { Help } from "../ui";
import { type FilterProblem, WORDS } from "./filter";
import "./tools.css";

interface Props {
  readonly label: string;
  readonly filter: string;
  readonly onFilter: (text: string) => void;
  readonly problem: FilterProblem | null;
  /** What could be filtered for. */
  readonly example?: string;
}

export function FilterBox({ label, filter, onFilter, problem, example = WORDS }: Props) {
  const id = useId();
  return (
    <div className="filter">
      <div className="filter-line">
        <input
          type="search"
          data-filter=""
          className="filter-input"
          aria-label={tableTexts.filter(label)}
          placeholder={tableTexts.filterHint(example)}
          aria-invalid={problem !== null}
          aria-describedby={problem ? id : undefined}
          autoComplete="off"
          spellCheck={false}
          value={filter}
          onChange={(event) => onFilter(event.target.value)}
        />
        <Help title={tableTexts.filterHelpTitle}>
          <dl>
            {tableTexts.filterHelp.map(([example, meaning]) => [
              <dt key={example}>
                <code>{example}</code>
              </dt>,
              <dd key={meaning}>{meaning}</dd>,
            ])}
          </dl>
          {tableTexts.filterHelpNote}
        </Help>
      </div>
      {problem && (
        <p id={id} className="filter-problem" role="status">
          {problemText(problem)} {tableTexts.problem.kept}
        </p>
      )}
    </div>
  );
}

function problemText(problem: FilterProblem): string {
  const texts = tableTexts.problem;
  switch (problem.kind) {
    case "unknown_column":
      return texts.unknown_column(problem.name);
    case "bad_regex":
      return texts.bad_regex(problem.detail);
    case "bad_number":
      return texts.bad_number(problem.token);
    case "bad_unit":
      return texts.bad_unit(problem.token, problem.name);
    case "bad_operator":
      return texts.bad_operator(problem.token, problem.name);
    case "open_quote":
      return texts.open_quote;
    case "too_long":
      return texts.too_long(problem.most);
  }
}
