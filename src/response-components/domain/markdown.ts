/** Components as Markdown. Their texts are plain text, so Markdown in them is escaped. */

/** One line of plain text. */
export function inline(text: string): string {
  return escaped(text.replace(/\s+/gu, ' ').trim());
}

/** Plain text with its line breaks. */
export function multiline(text: string): string {
  const lines = text.split(/\r\n?|\n/u).map((line) => escaped(line.trim()));
  // In Markdown two trailing spaces keep a line break, and an empty line begins a paragraph.
  return lines
    .join('\n')
    .replace(/\n{2,}/gu, '\n\n')
    .replace(/(?<=[^\n])\n(?=[^\n])/gu, '  \n')
    .trim();
}

export function bold(text: string): string {
  return `**${inline(text)}**`;
}

export function link({ label, url }: { readonly label: string; readonly url: string }): string {
  return `[${inline(label)}](${destination(url)})`;
}

export function picture({ alt, url }: { readonly alt: string; readonly url: string }): string {
  return `!${link({ label: alt, url })}`;
}

/** The parts that are present, as paragraphs. */
export function blocks(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n');
}

export function bullets(entries: readonly string[]): string {
  return entries.map((entry) => `- ${entry.replaceAll(/\n(?=[^\n])/gu, '\n  ')}`).join('\n');
}

const MARKUP = /[\\`*[\]<>~|]|(?<=\])\(|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|&(?=#?\w+;)/gu;

function escaped(line: string): string {
  return line
    .replace(MARKUP, '\\$&')
    .replace(/^(?:[#+=-]|:(?=-))/u, '\\$&')
    .replace(/^(\d+)([.)])/u, '$1\\$2');
}

/** Escapes the characters of a URL that have a meaning in Markdown. */
function destination(url: string): string {
  const encoded = url.replace(/[()\\`]/gu, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return encoded.replace(/&(?=#?\w+;)/gu, '&amp;');
}
