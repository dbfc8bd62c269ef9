import { Component, type ReactNode, useEffect } from "react";
import { useServerReturned, useStatus } from "../api";
import { reloadPage } from "../host";
import { t } from "../i18n";
import { Button } from "./Button";
import { CodeMissing } from "./later";

interface State {
  error: Error | null;
}

/** Keeps a mistake in one view from taking the page down. */
export class Boundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    if (error instanceof CodeMissing) return <Reloading />;
    return (
      <div className="state error" role="alert">
        <strong>{t.panel.crashed}</strong>
        <details>
          <summary>{t.panel.report}</summary>
          <code>{error.message}</code>
        </details>
        <Button onClick={() => this.setState({ error: null })}>{t.panel.again}</Button>
      </div>
    );
  }
}

/** A page younger than this, ms, is not loaded again by itself: what is missing would be missing again. */
const YOUNG_MS = 15_000;

/** In place of what did not arrive: the page is loaded again when the server answers; the address has its state. */
function Reloading() {
  const status = useStatus();
  const { refetch } = status;
  useServerReturned(status, reloadPage);
  useEffect(() => {
    void refetch().then(({ isSuccess }) => {
      if (isSuccess && performance.now() > YOUNG_MS) reloadPage();
    });
  }, [refetch]);
  return (
    <div className="state error" role="alert">
      <strong>{t.panel.codeMissing}</strong>
      <span>{t.panel.codeMissingHelp}</span>
      <Button onClick={reloadPage}>{t.panel.reload}</Button>
    </div>
  );
}
