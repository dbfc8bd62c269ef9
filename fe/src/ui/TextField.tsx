import type { ComponentProps } from "react";
import "./textField.css";

/** A field for text of several lines. */
export function TextField(props: ComponentProps<"textarea">) {
  return <textarea className="text-field" spellCheck={false} {...props} />;
}
