/** Where one is in a table that comes in pages. Pure. */
export interface Pages {
  /** From 0. */
  readonly page: number;
  readonly pages: number;
  /** Rows of the page, counted from 1; both 0 when there are none. */
  readonly first: number;
  readonly last: number;
}

export function pagesOf(total: number, offset: number, size: number): Pages {
  const pages = Math.max(1, Math.ceil(total / size));
  const page = Math.min(pages - 1, Math.floor(offset / size));
  return {
    page,
    pages,
    first: total === 0 ? 0 : page * size + 1,
    last: Math.min(total, (page + 1) * size),
  };
}

/** The page that the address or a field asks for, counted from 1 there; the first for what is no page. */
export function parsePage(text: string): number {
  return /^[1-9]\d{0,8}$/.test(text.trim()) ? Number(text) - 1 : 0;
}
