import { createHash } from 'node:crypto';
import type { Block } from '../../parsing/domain/parsed-document.js';

/** Whether there is a letter or digit. */
export function hasText(blocks: readonly Block[]): boolean {
  return blocks.some((block) => /[\p{L}\p{N}]/u.test(blockText(block)));
}

/** Equal for pages with the same text, whatever their address and title. In hex. */
export function textDigest(blocks: readonly Block[]): string {
  const hash = createHash('sha256');
  for (const block of blocks) hash.update(`${comparedText(block)}\0`);
  return hash.digest('hex');
}

export function charactersOf(blocks: readonly Block[]): number {
  return blocks.reduce(
    (sum, block) => sum + (block.kind === 'table' ? block.rows.flat().join(' ') : block.text).length,
    0,
  );
}

/** Equal for blocks with the same content. Two terms with the same definition differ. */
export function comparedText(block: Block): string {
  return `${block.kind} ${block.term ?? ''}\t${blockText(block)}`;
}

/** White space is normalized. */
function blockText(block: Block): string {
  const text = block.kind === 'table' ? block.rows.map((row) => row.join('\t')).join('\n') : block.text;
  return text.replaceAll(/\s+/g, ' ').trim();
}
