/** Red, green and blue from 0 to 255, and the opacity from 0 to 1. */
export type Color = readonly [red: number, green: number, blue: number, alpha: number];

/** The colours of the widget, as the page gives them or as they are used. */
export interface Palette {
  readonly background: Color;
  readonly text: Color;
  readonly muted: Color;
  readonly bubble: Color;
  readonly border: Color;
  readonly accent: Color;
  readonly accentText: Color;
  readonly problem: Color;
}

export interface ReadablePalette extends Palette {
  /** The accent as a text on background and bubble. */
  readonly link: Color;
  /** The border of an input. */
  readonly edge: Color;
  /** The ring around the focused element. */
  readonly ring: Color;
}

/** WCAG 2.2, level AA: of text, and of parts that a visitor has to see to operate them. */
const TEXT = 4.5;
const SHAPE = 3;
const WHITE: Color = [255, 255, 255, 1];
const BLACK: Color = [0, 0, 0, 1];
/** Colours are rounded after the computation, which changes their contrast a little. */
const STEPS = 32;

function luminance([red, green, blue]: Color): number {
  const linear = (value: number): number => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** From 1 to 21, by WCAG 2.2, of two opaque colours. */
export function contrast(one: Color, other: Color): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** @param part from 0 for `one` to 1 for `other`; the result is opaque */
function mix(one: Color, other: Color, part: number): Color {
  const channel = (index: 0 | 1 | 2): number => Math.round(one[index] + (other[index] - one[index]) * part);
  return [channel(0), channel(1), channel(2), 1];
}

/** The first colour on the way from `color` to `end` that passes; `end` itself if no other does. */
function moved(color: Color, end: Color, passes: (color: Color) => boolean): Color {
  for (let step = 0; step < STEPS; step += 1) {
    const candidate = mix(color, end, step / STEPS);
    if (passes(candidate)) return candidate;
  }
  return end;
}

function textOn(background: Color, given: Color): Color {
  if (contrast(given, background) >= TEXT) return given;
  return contrast(BLACK, background) > contrast(WHITE, background) ? BLACK : WHITE;
}

/** Keeps each given colour as far as it can be read. `given` may have transparent colours; `canvas` is opaque and is behind them. */
export function readable(given: Palette, canvas: Color): ReadablePalette {
  const opaque = (color: Color, behind: Color): Color => mix(behind, color, color[3]);
  const background = opaque(given.background, canvas);
  const on = (color: Color): Color => opaque(color, background);
  const text = textOn(background, on(given.text));
  const bubble = moved(on(given.bubble), background, (color) => contrast(color, text) >= TEXT);
  const seen = (least: number) => (color: Color) =>
    contrast(color, background) >= least && contrast(color, bubble) >= least;
  const accent = on(given.accent);
  return {
    background,
    text,
    bubble,
    accent,
    muted: moved(on(given.muted), text, seen(TEXT)),
    problem: moved(on(given.problem), text, seen(TEXT)),
    link: moved(accent, text, seen(TEXT)),
    accentText: textOn(accent, opaque(given.accentText, accent)),
    border: on(given.border),
    edge: moved(on(given.border), text, seen(SHAPE)),
    ring: moved(accent, text, seen(SHAPE)),
  };
}

export function css([red, green, blue]: Color): string {
  return `rgb(${String(red)} ${String(green)} ${String(blue)})`;
}
