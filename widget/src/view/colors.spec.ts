import { describe, expect, it } from '@jest/globals';
import { type Color, contrast, type Palette, readable } from './colors.js';

/** A small generator with a seed, so that a failure can be repeated. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const WHITE: Color = [255, 255, 255, 1];
const BLACK: Color = [0, 0, 0, 1];
const next = numbers(7);
const channel = (): number => Math.round(next() * 255);
const anyColor = (): Color => [channel(), channel(), channel(), next() < 0.7 ? 1 : next()];
const anyPalette = (): Palette => ({
  background: anyColor(),
  text: anyColor(),
  muted: anyColor(),
  bubble: anyColor(),
  border: anyColor(),
  accent: anyColor(),
  accentText: anyColor(),
  problem: anyColor(),
});

const LIGHT: Palette = {
  background: WHITE,
  text: [27, 31, 39, 1],
  muted: [90, 99, 114, 1],
  bubble: [241, 243, 247, 1],
  border: [217, 222, 231, 1],
  accent: [47, 82, 217, 1],
  accentText: WHITE,
  problem: [179, 38, 30, 1],
};

describe('contrast', () => {
  it('is that of WCAG', () => {
    expect(contrast(BLACK, WHITE)).toBeCloseTo(21);
    expect(contrast(WHITE, WHITE)).toBe(1);
    expect(contrast([119, 119, 119, 1], WHITE)).toBeCloseTo(4.478, 2);
  });
});

describe('readable', () => {
  it('keeps colours that can be read', () => {
    expect(readable(LIGHT, WHITE)).toMatchObject(LIGHT);
    expect(readable(LIGHT, WHITE).link).toEqual(LIGHT.accent);
  });

  it('keeps contrast at AA for any colours, opaque or not', () => {
    for (let round = 0; round < 1000; round += 1) {
      const used = readable(anyPalette(), round % 2 === 0 ? WHITE : BLACK);
      expect(contrast(used.accentText, used.accent)).toBeGreaterThanOrEqual(4.5);
      for (const behind of [used.background, used.bubble]) {
        for (const name of ['text', 'muted', 'problem', 'link'] as const)
          expect(contrast(used[name], behind)).toBeGreaterThanOrEqual(4.5);
        for (const name of ['edge', 'ring'] as const) expect(contrast(used[name], behind)).toBeGreaterThanOrEqual(3);
      }
      for (const [, , , alpha] of Object.values(used) as Color[]) expect(alpha).toBe(1);
    }
  });

  it.each<[string, Color]>([
    ['yellow', [255, 255, 0, 1]],
    ['white', WHITE],
    ['black', BLACK],
    ['nothing', [0, 0, 0, 0]],
    ['grey', [128, 128, 128, 1]],
  ])('makes an accent of %s a readable text', (_, accent) => {
    const used = readable({ ...LIGHT, accent }, WHITE);
    expect(contrast(used.link, used.bubble)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(used.accentText, used.accent)).toBeGreaterThanOrEqual(4.5);
  });
});
