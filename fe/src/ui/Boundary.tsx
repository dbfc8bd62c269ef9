import { Component, type ReactNode } from "react";
import { t } from "../i18n";
import { Button } from "./Button";

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
    return (
      <div className="state error" role="alert">
        <strong>{t.panel.crashed}</strong>
        <code>{error.message}</code>
        <Button onClick={() => this.setState({ error: null })}>{t.panel.again}</Button>
      </div>
    );
  }
}
