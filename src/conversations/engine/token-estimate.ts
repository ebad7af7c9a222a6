/** In prose and code a token has at least so many lower-case letters, spaces and line breaks. */
const PLAIN_CHARACTERS_A_TOKEN = 3;

/**
 * An upper bound of the tokens of a text, for the tokenizers of all models in the catalogue: a lower-case letter, a
 * space or a line break counts a third, any other character one. Base64, identifiers, numbers and scripts such as
 * Chinese have far fewer characters a token than prose.
 */
export function estimateTokens(text: string): number {
  let plain = 0;
  for (let at = 0; at < text.length; at += 1) if (isPlain(text.charCodeAt(at))) plain += 1;
  return text.length - plain + Math.ceil(plain / PLAIN_CHARACTERS_A_TOKEN);
}

/** How many characters (UTF-16) of the text's start or end fit into so many tokens. Does not split a surrogate pair. */
export function charactersWithin(text: string, tokens: number, from: 'start' | 'end' = 'start'): number {
  const codeAt = (nth: number): number => text.charCodeAt(from === 'start' ? nth : text.length - 1 - nth);
  let left = tokens * PLAIN_CHARACTERS_A_TOKEN;
  let count = 0;
  while (count < text.length) {
    left -= isPlain(codeAt(count)) ? 1 : PLAIN_CHARACTERS_A_TOKEN;
    if (left < 0) break;
    count += 1;
  }
  const half = from === 'start' ? isHighSurrogate : isLowSurrogate;
  return count > 0 && half(codeAt(count - 1)) ? count - 1 : count;
}

function isPlain(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || code === 0x20 || code === 0x0a;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd8_00 && code <= 0xdb_ff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc_00 && code <= 0xdf_ff;
}
