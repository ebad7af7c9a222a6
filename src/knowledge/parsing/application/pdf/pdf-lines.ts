/** As the parser gives it: text that was drawn at once. */
export interface TextPiece {
  readonly str: string;
  /** Scale, skew and place: the fourth is the size, the fifth and sixth are left and bottom. */
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly hasEOL: boolean;
}

export interface Line {
  readonly text: string;
  /** Of its letters. */
  readonly size: number;
  /** Of its base line, from the bottom of the page. */
  readonly y: number;
}

/** The lines of a page, in the order in which they were written, which is that of reading in nearly every document. */
export function linesOf(pieces: readonly TextPiece[]): readonly Line[] {
  const lines: Line[] = [];
  let [text, size, y, end] = ['', 0, NaN, NaN];
  const finish = (): void => {
    if (text.trim() !== '') lines.push({ text: text.trim(), size, y });
    [text, size, y, end] = ['', 0, NaN, NaN];
  };
  for (const piece of pieces) {
    const [, , , , left = 0, bottom = 0] = piece.transform;
    const height = piece.height || Math.abs(piece.transform[3] ?? 0);
    if (text !== '' && piece.str !== '' && Math.abs(bottom - y) > Math.max(size, height) * 0.6) finish();
    // Words that are placed one by one have no space between them.
    if (text !== '' && piece.str !== '' && left - end > height * 0.2 && !/\s$/.test(text) && !/^\s/.test(piece.str)) text += ' ';
    if (piece.str.trim() !== '') {
      if (text === '') y = bottom;
      size = Math.max(size, height);
      end = left + piece.width;
    }
    text += piece.str;
    if (piece.hasEOL) finish();
  }
  finish();
  return lines;
}
