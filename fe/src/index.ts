/**
 * The door TensorBoard knows: it imports `index.js` by this name and calls render(). The rest has
 * hashed names, so that only this file is fetched anew on every visit.
 */
export async function render(): Promise<void> {
  const { mount } = await import("./app");
  mount();
}
