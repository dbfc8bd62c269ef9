import type { KernelsTable } from "../../api";
import { duration, percent } from "../../format";
import { kernelsTexts as text } from "../../i18n";
import { tensorTime } from "./tensor";

/** One bar over all compute kernels, in colours that do not change with the order of the parts. */
export function TensorShare({ meta }: Pick<KernelsTable, "meta">) {
  const { using, notUsing, unknown } = tensorTime(meta);
  const total = using + notUsing + unknown;
  if (total === 0) return <p className="muted">{text.noTime}</p>;
  const parts = [
    { key: "using", label: text.using, time: using },
    { key: "not-using", label: text.notUsing, time: notUsing },
    { key: "unknown", label: text.unknown, time: unknown },
  ].filter(({ key, time }) => time > 0 || key === "using");
  return (
    <div className="tensor">
      <div className="tensor-bar" aria-hidden="true">
        {parts.map(({ key, time }) => (
          <span key={key} className={`tensor-${key}`} style={{ flexGrow: time / total }} />
        ))}
      </div>
      <ul>
        {parts.map(({ key, label, time }) => (
          <li key={key}>
            <span className={`tensor-swatch tensor-${key}`} aria-hidden="true" />
            {label}: <strong>{percent((time / total) * 100)}</strong>{" "}
            <span className="tensor-time muted">{duration(time)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
