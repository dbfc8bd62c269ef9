import { useEffect, useState } from "react";
import { copyText } from "../host";
import { t } from "../i18n";

const SHOWN_MS = 1_500;

export function CopyButton({ text, label = t.copy.copy }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      className="button"
      onClick={() => void copyText(text).then(setCopied)}
      aria-live="polite"
    >
      {copied ? t.copy.copied : label}
    </button>
  );
}
