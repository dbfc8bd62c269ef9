import type { Report } from "./api/report";

/**
 * The door TensorBoard knows: it imports `index.js` by this name and calls render(). The rest has
 * hashed names, so that only this file is fetched anew on every visit.
 */
export function render() {
  return show(null);
}

/** The door of a report, which brings the answers of the server with it (`public/report.html`). */
export function renderReport(report: Report) {
  return show(report);
}

async function show(report: Report | null) {
  // First, because code reads its texts while it is loaded.
  const { settleLanguage } = await import("./i18n/current");
  await settleLanguage();
  const { mount } = await import("./app");
  return mount(report);
}
