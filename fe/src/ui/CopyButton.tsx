import { useEffect, useState } from "react";
import { copyText } from "../host";
import { t } from "../i18n";
import { Button } from "./Button";

const SHOWN_MS = 1_500;

export function CopyButton({ text, label = t.copy.copy }: { text: string; label?: string }) {
  const [copied, setCopied] = useState<boolean | null>(null);
  useEffect(() => {
    if (copied === null) return;
    const timer = setTimeout(() => setCopied(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <Button onClick={() => void copyText(text).then(setCopied)} aria-live="polite">
      {copied === null ? label : copied ? t.copy.copied : t.copy.refused}
    </Button>
  );
}
