import { readFileSync, writeFileSync } from 'node:fs';
import type { Section } from './report.ts';

const DOCUMENT = new URL('./figures.md', import.meta.url);

/** Replaces the figures of the document by sections, and keeps the text around them. */
export function fillDocument(sections: readonly Section[]): void {
  let document = readFileSync(DOCUMENT, 'utf8');
  for (const { name, text } of sections) {
    const [begin, end] = [`<!-- figures: ${name} -->`, `<!-- end of figures: ${name} -->`];
    const from = document.indexOf(begin);
    const to = document.indexOf(end);
    if (from < 0 || to < from) throw new Error(`bench/figures.md has no place for the figures of ${name}`);
    document = `${document.slice(0, from)}${begin}\n\n${text}\n\n${document.slice(to)}`;
  }
  writeFileSync(DOCUMENT, document);
}
