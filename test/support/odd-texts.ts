/** Texts that a store may change on their way in or out, each with what is odd about it. All are well-formed Unicode. */
export const ODD_TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['a leading U+FEFF', '\uFEFFtext'],
  ['U+FEFF alone', '\uFEFF'],
  ['two leading U+FEFF', '\uFEFF\uFEFFtext'],
  ['U+FEFF in the middle and at the end', 'te\uFEFFxt\uFEFF'],
  ['U+FFFE and U+FFFF', '\uFFFEtext\uFFFF'],
  ['a replacement character', '\uFFFDtext\uFFFD'],
  ['combining marks without a base', '\u0301\u0308 \u20D0'],
  ['the same letter composed and decomposed', '\u00E9 e\u0301 \u212B \u00C5'],
  ['characters beyond the basic plane', '\u{1F600}\u{10FFFF}\u{E0100}\u{1F468}\u200D\u{1F469}'],
  ['line ends of all kinds', '\r\n\n\r\u0085\u2028\u2029\v\f'],
  ['tabs and other control characters', '\t\u0001\u0008\u001B\u007F\u009F'],
  ['backslashes and quotes', '\\ \\\\ \\n \\u0041 \\x41 \' " ` $1 ${x} %s ?'],
  ['the syntax of arrays', '{"a",NULL,{},\\"}'],
  ['the word NULL', 'NULL'],
  ['spaces at both ends', '  text \u00A0\u3000'],
  ['marks of direction', '\u200F\u202Bאבג\u202C \u061Cنص \u2067x\u2069'],
  ['characters that are not seen', '\u200B\u2060\u00AD\u180E'],
];

/** Longer than any buffer on the way, with a character of several bytes at every possible boundary. */
export const LONG_TEXT = `\uFEFF${'a€😀'.repeat(200_000)}\uFEFF`;

/** For comparisons whose failures should show invisible characters. */
export function codePoints(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  return [...text].map((character) => character.codePointAt(0)?.toString(16)).join(' ');
}
