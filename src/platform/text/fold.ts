const ASCII = /^[\0-\x7f]*$/;
/** Accents of Latin, Greek and Cyrillic, except for the breve of й, which is another letter than и. */
const ACCENTS = /(?<![иу]\u0306?)[\u0300-\u036f]|(?<![иу])\u0306/gu;
/** Vowel signs of Hebrew and Arabic, which are usually omitted, and characters that only stretch or break a word. */
const POINTS = /[\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640\u00ad\u200b-\u200f\u2060\ufeff]/gu;
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
  ħ: 'h',
  أ: 'ا',
  إ: 'ا',
  آ: 'ا',
  ى: 'ي',
};
const OTHER_LETTERS = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'gu');

/** The text without differences of spelling: case, width and accents. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(OTHER_LETTERS, (letter) => LETTERS[letter] ?? letter);
  return plain.normalize('NFD').replace(ACCENTS, '').replace(POINTS, '').normalize('NFC');
}
