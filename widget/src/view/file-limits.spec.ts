import { describe, expect, it } from '@jest/globals';
import { ENGLISH } from './strings.js';
import { isPicture, limitsText, refusalOf, sizeText, withReadableType } from './file-limits.js';

const MB = 1024 * 1024;

/** A file that says it has this size. */
function sized(name: string, type: string, size = 10): File {
  return Object.defineProperty(new File(['x'], name, { type }), 'size', { value: size });
}
const refusal = (file: File, others: readonly File[] = []): string | null => refusalOf(file, others, ENGLISH, 'en');

describe('the limits of files', () => {
  it.each([
    ['a.png', 'image/png', 20 * MB],
    ['a.pdf', 'application/pdf', 20 * MB],
    ['a.txt', 'text/plain', MB],
    ['a.json', 'application/vnd.api+json', MB],
    ['unknown', '', MB],
    ['a.csv', 'application/vnd.ms-excel', MB],
    ['a.ts', 'video/mp2t', MB],
  ])('of %s (%s) are those of its kind', (name, type, most) => {
    expect(refusal(sized(name, type, most))).toBeNull();
    expect(refusal(sized(name, type, most + 1))).toContain('is larger than');
    expect(refusal(sized(name, type, 0))).toBe(`${name} is empty.`);
  });

  it.each([
    ['a.zip', 'application/zip'],
    ['a.heic', 'image/heic'],
    ['a.mp4', 'video/mp4'],
  ])('exclude %s', (name, type) => {
    expect(refusal(sized(name, type))).toContain('files of this type cannot be attached');
  });

  it('of pictures and PDFs hold for all of a message together; texts do not count', () => {
    const others = [sized('a.png', 'image/png', 15 * MB), sized('a.txt', 'text/plain', MB)];
    expect(refusal(sized('b.pdf', 'application/pdf', 6 * MB), others)).toBeNull();
    expect(refusal(sized('b.pdf', 'application/pdf', 6 * MB + 1), others)).toBe('b.pdf is larger than 6 MB.');
    expect(refusal(sized('b.txt', 'text/plain', MB), others)).toBeNull();
  });

  it('are told in the language of the visitor', () => {
    expect(limitsText(ENGLISH, 'en')).toBe('Attach files: at most 20, of 20 MB each');
    expect([sizeText(1, 'en'), sizeText(1.26 * MB, 'de'), sizeText(20 * MB, 'de')]).toEqual([
      '1 kB',
      '1,3 MB',
      '20 MB',
    ]);
  });
});

describe('a text with the type of another program', () => {
  it('is uploaded as text; other files stay as they are', () => {
    expect(withReadableType(sized('a.csv', 'application/vnd.ms-excel')).type).toBe('text/plain');
    for (const type of ['image/png', 'text/csv', 'application/json', '']) {
      const file = sized('a.csv', type);
      expect(withReadableType(file)).toBe(file);
    }
  });

  it('is no picture, nor is an SVG', () => {
    expect([isPicture(sized('a.svg', 'image/svg+xml')), isPicture(sized('a.png', 'image/png'))]).toEqual([false, true]);
  });
});
