/** Small and quick; equal names have equal colours in every trace. */
export function hash(text: string): number {
  let found = 0;
  for (let i = 0; i < text.length; i++) found = (Math.imul(found, 31) + text.charCodeAt(i)) | 0;
  return found >>> 0;
}
