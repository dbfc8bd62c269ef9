/** Of which thread the stacks are. */
import type { StacksTable } from "../../api";
import { duration, inSentence, onOneLine } from "../../format";
import { stacksTexts as text } from "../../i18n";

interface Props {
  readonly meta: StacksTable["meta"];
  readonly onChange: (thread: string) => void;
}

export function Threads({ meta: { thread, threads, weight }, onChange }: Props) {
  if (threads.length < 2) return null;
  const options = (idle: boolean) =>
    threads
      .filter((each) => each.idle === idle)
      .map((each) => (
        <option key={each.id} value={each.id}>
          {text.thread.of(
            onOneLine(inSentence(each.name)),
            duration(weight === "device" ? each.device_ns : each.host_ns),
          )}
        </option>
      ));
  return (
    <label className="stacks-threads">
      <span className="muted">{text.thread.label}</span>
      <select
        className="select"
        value={thread < 0 ? "" : thread}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">{text.thread.all}</option>
        {options(false)}
        {threads.some(({ idle }) => idle) && (
          <optgroup label={text.thread.idle}>{options(true)}</optgroup>
        )}
      </select>
    </label>
  );
}
