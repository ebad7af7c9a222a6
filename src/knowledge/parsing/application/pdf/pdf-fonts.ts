import type { PageText, TextPiece } from './pdf-lines.js';

/**
 * So many texts tell whether the characters of their font are all as wide: with letters, since all digits are; of different
 * lengths, since what counts up is alike; and short, since in whole lines wide and narrow letters even out.
 */
const MIN_SAMPLES = 6;
const SAMPLE = /^(?=.*[a-z])[ -~]{4,40}$/;
/** Their widths differ by no more than this, since lines are stretched a little, but for a few. */
const TOLERANCE = 0.02;
const MIN_SHARE = 0.9;
const USUAL_WIDTH = 0.6;

/** Knows the fonts of a PDF whose characters are all as wide. Many of them do not say so: several texts of a font are measured. */
export class FixedWidthFonts {
  /** By font, and by the length of a text: how wide a character of it is, in sizes. */
  private readonly samples = new Map<string, Map<number, number>>();

  /** The widths of characters in the fixed-width fonts of a page, in sizes, by what is known of the pages so far. */
  on(pieces: readonly TextPiece[], styles: PageText['styles']): ReadonlyMap<string, number> {
    for (const { fontName, str, width, height } of pieces) {
      const texts = this.samples.get(fontName) ?? new Map<number, number>();
      this.samples.set(fontName, texts);
      if (height > 0 && SAMPLE.test(str)) texts.set(str.length, width / height / str.length);
    }
    return new Map(
      Object.entries(styles).flatMap(([name, { fontFamily }]) => {
        const width = this.widthIn(name, fontFamily === 'monospace');
        return width === undefined ? [] : [[name, width] as const];
      }),
    );
  }

  private widthIn(name: string, saysSo: boolean): number | undefined {
    const widths = [...(this.samples.get(name)?.values() ?? [])].sort((a, b) => a - b);
    const usual = widths[Math.floor(widths.length / 2)];
    // Its spaces may be narrower than its letters where lines are justified.
    if (saysSo) return usual ?? USUAL_WIDTH;
    if (usual === undefined || widths.length < MIN_SAMPLES) return undefined;
    const alike = widths.filter((width) => Math.abs(width - usual) < usual * TOLERANCE);
    return alike.length >= widths.length * MIN_SHARE ? usual : undefined;
  }
}
