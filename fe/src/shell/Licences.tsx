/** The notices of the packages that the page is built of; fetched when they are asked for. */
import { useState } from "react";
import { inLanguage } from "../i18n/current";

const TITLE = inLanguage({ en: "Licences of bundled software", "zh-CN": "内含软件的许可证" });
const FAILED = inLanguage({ en: "The text could not be loaded.", "zh-CN": "无法加载文本。" });

export function Licences() {
  const [text, setText] = useState("");
  const load = () =>
    void import("virtual:licences").then(
      (module) => setText(module.default),
      () => setText(FAILED),
    );
  return (
    <details className="muted licences" onToggle={text ? undefined : load}>
      <summary>{TITLE}</summary>
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}
