/**
 * The door TensorBoard knows: it imports `index.js` by this name and calls render(). The rest has
 * hashed names, so that only this file is fetched anew on every visit.
 */
export async function render(): Promise<void> {
  // First, because code reads its texts while it is loaded.
  const { settleLanguage } = await import("./i18n");
  await settleLanguage();
  const { mount } = await import("./app");
  mount();
}
