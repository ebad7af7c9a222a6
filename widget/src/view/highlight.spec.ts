import { describe, expect, it } from '@jest/globals';
import { isRegistered, treeOf } from './highlight.js';
import { HIGHLIGHTED } from './highlight-names.js';
import { HIGHLIGHT_STYLES } from './highlight-styles.js';

const NAMES = HIGHLIGHTED.source.slice('^(?:'.length, -')$'.length).replaceAll('\\', '').split('|');

describe('Highlighted code', () => {
  it.each(NAMES)('may be in %s', (name) => {
    expect(HIGHLIGHTED.test(name.toUpperCase())).toBe(true);
    expect(isRegistered(name)).toBe(true);
  });

  it('is marked by classes', () => {
    expect(treeOf('const a = 1;', 'JS')).toMatchObject([
      { type: 'element', properties: { className: ['hl-keyword'] }, children: [{ type: 'text', value: 'const' }] },
      { type: 'text', value: ' a = ' },
      { type: 'element', properties: { className: ['hl-number'] } },
      { type: 'text', value: ';' },
    ]);
  });

  it('has colours that can be read in light and dark', () => {
    const pairs = [...HIGHLIGHT_STYLES.matchAll(/light-dark\((#\w{6}),(#\w{6})\)/g)];
    expect(pairs.length).toBeGreaterThan(5);
    for (const [, light = '', dark = ''] of pairs) {
      expect({ light, isReadable: contrast(light, '#ffffff') >= 4.5 }).toEqual({ light, isReadable: true });
      expect({ dark, isReadable: contrast(dark, '#171a21') >= 4.5 }).toEqual({ dark, isReadable: true });
    }
  });
});

/** As WCAG defines it. */
function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
