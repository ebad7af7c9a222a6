/**
 * Characters that have no look of their own, or that change the order of others. Joiners are kept where scripts and emoji need them. Line
 * breaks and spaces are not among them.
 */
const UNSEEN =
  /(?![\n\t])\p{Cc}|(?<![\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Script=Arabic}])[\u200c\u200d]|(?![\u200c\u200d])\p{Cf}|\u034f|\u17b4|\u17b5|[\u2028\u2029\u115f\u1160\u2800\u3164\uffa0]/gu;
const MANY_SPACES = /[^\S\n]{9,}/g;
const BLANK_LINES = /\n(?:[^\S\n]*\n){2,}/g;
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;
const CONTROL_PICTURES = 0x2400;

/** A text in which nothing hides: control characters are written out, and long blank runs, which push a text out of sight, are short. */
export function visibleText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(UNSEEN, pictureOf)
    .replace(MANY_SPACES, ' '.repeat(8))
    .replace(BLANK_LINES, '\n\n');
}

function pictureOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(CONTROL_PICTURES + code);
  const hex = code.toString(16);
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}

/** A text without the characters that turn around what stands after them. The marks for a single place remain. */
export function withoutBidiControls(text: string): string {
  return text.replace(BIDI_CONTROLS, '');
}
