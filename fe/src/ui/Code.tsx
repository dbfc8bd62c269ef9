import { CopyButton } from "./CopyButton";

/** Code to take away. */
export function Code({ text }: { text: string }) {
  return (
    <div className="code-block">
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} />
    </div>
  );
}
