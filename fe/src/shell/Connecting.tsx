/** Instead of everything while the server has not said what there is. */
import type { ApiError } from "../api";
import { t } from "../i18n";
import { Failure } from "../ui";
import "./page.css";

export function Connecting() {
  return (
    <div className="page" role="status">
      <p className="muted">
        <span className="spinner" /> {t.loading.connecting}
      </p>
    </div>
  );
}

export function Unreachable({ error, onRetry }: { error: ApiError; onRetry: () => void }) {
  return (
    <div className="page">
      <h1>{t.loading.unreachable}</h1>
      <p>{t.loading.unreachableHelp}</p>
      <Failure error={error} onRetry={onRetry} />
    </div>
  );
}
