/** Names on the picture, cut to the room there is. */

/** Pixels of the canvas; `y` is the base line. */
export interface Label {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly text: string;
}

/** What is written on, pixels of the canvas. */
export interface Written {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Of the letters above their base line, and of all of them. */
const ASCENT = 9;
const HEIGHT = 12;

export class LabelWriter {
  /** Measuring is slow, and names come again in every frame. */
  private readonly widths = new Map<string, number>();

  /** In the font and the colour that the context has. Returns where it wrote. */
  write(context: CanvasRenderingContext2D, labels: readonly Label[]): Written[] {
    const written: Written[] = [];
    const put = (text: string, x: number, y: number, width: number) => {
      context.fillText(text, x, y);
      written.push({ x: x - 1, y: y - ASCENT, width: width + 2, height: HEIGHT });
    };
    if (this.widths.size > 20_000) this.widths.clear();
    for (const { x, y, width, text } of labels) {
      let needed = this.widths.get(text);
      if (needed === undefined) {
        needed = context.measureText(text.slice(0, 200)).width;
        this.widths.set(text, needed);
      }
      if (needed <= width) {
        put(text, x, y, needed);
        continue;
      }
      const characters = Math.floor((Math.min(text.length, 200) * width) / needed) - 1;
      const cut = this.cut(context, text, characters, width);
      if (cut) put(cut, x, y, this.widths.get(cut) ?? width);
    }
    return written;
  }

  /** Letters are not equally wide: what is still too long loses some more. */
  private cut(
    context: CanvasRenderingContext2D,
    text: string,
    length: number,
    width: number,
  ): string {
    for (let characters = length; characters > 1; characters -= 2) {
      const cut = `${text.slice(0, characters)}…`;
      let needed = this.widths.get(cut);
      if (needed === undefined) {
        needed = context.measureText(cut).width;
        this.widths.set(cut, needed);
      }
      if (needed <= width) return cut;
    }
    return "";
  }
}
