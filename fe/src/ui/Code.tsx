import { CopyButton } from "./CopyButton";

/** Code to take away. */
export function Code({ text }: { text: string }) {
  return (
    <div className="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} />
    </div>
  );
}
