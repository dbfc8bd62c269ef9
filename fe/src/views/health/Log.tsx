import type { Health } from "../../api";
import { captureTexts } from "../../i18n";
import { Code, Panel } from "../../ui";

const text = captureTexts.log;
const LEVELS = ["error", "warning", "info"] as const;

/** What the profiler wrote while it recorded, as far as the file has it. */
export function Log({ log }: { log: Health["log"] }) {
  const levels = LEVELS.filter((level) => (log?.[level] ?? []).length > 0);
  if (levels.length === 0) return null;
  return (
    <Panel className="area-log" title={text.title} help={text.help}>
      {levels.map((level) => {
        const lines = log?.[level] ?? [];
        return (
          // Everyday remarks are many and rarely wanted.
          <details key={level} open={level !== "info"}>
            <summary>{text.lines[level](lines.length)}</summary>
            <Code text={lines.join("\n")} />
          </details>
        );
      })}
    </Panel>
  );
}
