import { type Color, css, type Palette, readable, type ReadablePalette } from './colors.js';
import { make } from './dom.js';

/** The property of a computed style in which the probe shows each colour; `styles.ts` has the same list. */
const PROBED: Readonly<Record<keyof Palette, string>> = {
  background: 'background-color',
  text: 'color',
  muted: 'border-top-color',
  bubble: 'border-right-color',
  border: 'border-bottom-color',
  accent: 'border-left-color',
  accentText: 'outline-color',
  problem: 'text-decoration-color',
};

const USED: Readonly<Record<keyof ReadablePalette, string>> = {
  background: '--b',
  text: '--t',
  muted: '--m',
  bubble: '--u',
  border: '--o',
  accent: '--a',
  accentText: '--at',
  problem: '--p',
  link: '--link',
  edge: '--edge',
  ring: '--ring',
};

let pen: CanvasRenderingContext2D | null | undefined;

/** @param color a computed value. @returns null if the browser does not tell its channels */
function parse(color: string): Color | null {
  const [red, green, blue, alpha = 1] = /^rgba?\(/.test(color) ? (color.match(/[\d.]+/g) ?? []).map(Number) : [];
  if (red !== undefined && green !== undefined && blue !== undefined) return [red, green, blue, alpha];
  // Newer notations such as oklch() stay as they are in a computed value; a canvas converts them.
  pen ??= Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', {
    willReadFrequently: true,
  });
  if (!pen) return null;
  pen.clearRect(0, 0, 1, 1);
  pen.fillStyle = color;
  pen.fillRect(0, 0, 1, 1);
  const [r = 0, g = 0, b = 0, a = 0] = pen.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
}

/** Computes from the page's colours those that can be read, and sets them for the parts in `target`. */
export class ColorKeeper {
  /** Stands outside of `target`, where the page's colours are unchanged. */
  readonly probe = make('i', { className: 'probe', attributes: { 'aria-hidden': 'true' } });

  constructor(private readonly target: HTMLElement) {}

  /** @param accent any CSS colour; null for that of the custom properties */
  update(accent: string | null): void {
    if (accent !== null && CSS.supports('color', accent)) this.probe.style.setProperty('--a', accent);
    else this.probe.style.removeProperty('--a');
    const computed = getComputedStyle(this.probe);
    const given: Partial<Record<keyof Palette, Color>> = {};
    for (const name of keysOf(PROBED)) {
      const color = parse(computed.getPropertyValue(PROBED[name]));
      if (color) given[name] = color;
    }
    if (!isWhole(given)) return;
    const isDark = computed.colorScheme.includes('dark');
    const used = readable(given, isDark ? [0, 0, 0, 1] : [255, 255, 255, 1]);
    for (const name of keysOf(USED)) this.target.style.setProperty(USED[name], css(used[name]));
  }
}

function keysOf<Name extends string>(names: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(names) as Name[];
}

function isWhole(given: Partial<Record<keyof Palette, Color>>): given is Record<keyof Palette, Color> {
  return keysOf(PROBED).every((name) => given[name] !== undefined);
}
