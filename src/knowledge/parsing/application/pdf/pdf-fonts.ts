import type { PageText, TextPiece } from './pdf-lines.js';

/**
 * The number of texts that show whether all characters of a font have the same width. A sample has letters, because digits
 * have equal widths in every font. The lengths differ, because numbered texts are alike. Samples are short, because wide and
 * narrow letters even out in whole lines.
 */
const MIN_SAMPLES = 6;
const SAMPLE = /^(?=.*[a-z])[ -~]{4,40}$/;
/** The largest difference between widths, since lines are stretched a little, and the share of samples within it. */
const TOLERANCE = 0.02;
const MIN_SHARE = 0.9;
const USUAL_WIDTH = 0.6;

/** Finds the fixed-width fonts of a PDF. Many are not declared as such, so texts of each font are measured. */
export class FixedWidthFonts {
  /** The width of one character in letter sizes, by font and by the length of the sample. */
  private readonly samples = new Map<string, Map<number, number>>();

  /** The widths of characters in the fixed-width fonts of a page, in letter sizes, measured on the pages so far. */
  on(pieces: readonly TextPiece[], styles: PageText['styles']): ReadonlyMap<string, number> {
    for (const { fontName, str, width, height } of pieces) {
      const texts = this.samples.get(fontName) ?? new Map<number, number>();
      this.samples.set(fontName, texts);
      if (height > 0 && SAMPLE.test(str)) texts.set(str.length, width / height / str.length);
    }
    return new Map(
      Object.entries(styles).flatMap(([name, { fontFamily }]) => {
        const width = this.fixedWidth(name, fontFamily === 'monospace');
        return width === undefined ? [] : [[name, width] as const];
      }),
    );
  }

  private fixedWidth(name: string, isDeclared: boolean): number | undefined {
    const widths = [...(this.samples.get(name)?.values() ?? [])].sort((a, b) => a - b);
    const usual = widths[Math.floor(widths.length / 2)];
    // Not measured: in justified lines the spaces may be narrower than the letters.
    if (isDeclared) return usual ?? USUAL_WIDTH;
    if (usual === undefined || widths.length < MIN_SAMPLES) return undefined;
    const alike = widths.filter((width) => Math.abs(width - usual) < usual * TOLERANCE);
    return alike.length >= widths.length * MIN_SHARE ? usual : undefined;
  }
}
