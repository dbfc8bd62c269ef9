/** Of which thread the stacks are. */
import type { StacksTable } from "../../api";
import { duration, inSentence, onOneLine } from "../../format";
import { stacksTexts as text } from "../../i18n";
import { Combo } from "../../ui";

interface Props {
  readonly meta: StacksTable["meta"];
  readonly onChange: (thread: string) => void;
}

export function Threads({ meta: { thread, threads, weight }, onChange }: Props) {
  if (threads.length < 2) return null;
  const options = threads
    .toSorted((one, other) => Number(one.idle) - Number(other.idle))
    .map(({ id, name, idle, device_ns: device, host_ns: host }) => ({
      value: String(id),
      label: text.thread.of(
        onOneLine(inSentence(name)),
        duration(weight === "device" ? device : host),
      ),
      ...(idle && { detail: text.thread.idle }),
    }));
  return (
    <Combo
      label={text.thread.label}
      value={thread < 0 ? "" : String(thread)}
      options={[{ value: "", label: text.thread.all }, ...options]}
      onChange={onChange}
    />
  );
}
