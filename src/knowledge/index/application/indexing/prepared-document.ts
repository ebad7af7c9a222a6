import { createHash } from 'node:crypto';
import { TimeSlice } from '../../../../platform/clock/index.js';
import { storableText } from '../../../../platform/database/index.js';
import { detectLanguage, fold, tokensOf, WORDS_TO_DETECT } from '../../../../platform/text/index.js';
import type { ParsedDocument } from '../../../parsing/domain/parsed-document.js';
import { type Chunk, chunksOf } from '../../domain/chunker.js';
import type { IndexedSource } from './indexed-document.js';
import type { ChunkTerms, TermAnalyzer } from '../../domain/chunk-terms.js';
import { embeddedText } from '../../domain/embedded-text.js';
import { COMPUTE_SLICE_MS } from '../../limits.js';

export interface PreparedChunk extends Chunk {
  readonly position: number;
  /** Of the title, the heading and the text: what is searched, and what a vector is made of. In hex. */
  readonly digest: string;
}

export interface PreparedDocument {
  readonly chunks: readonly PreparedChunk[];
  /** Of everything that is stored, in hex. */
  readonly digest: string;
  /** Of the chunks' text. */
  readonly bytes: number;
  readonly title: string;
  /** What it says that it is written in, or seems to be. */
  readonly language: string | null;
}

/** Computed before any transaction, and in slices: a document may have 20 million characters. */
export async function prepareDocument(source: IndexedSource, parsed: ParsedDocument): Promise<PreparedDocument> {
  const slice = new TimeSlice(COMPUTE_SLICE_MS);
  const title = storableText(source.title);
  const whole = createHash('sha256').update(
    JSON.stringify([title, source.url, source.scope === null ? null : Object.entries(source.scope).sort()]),
  );
  const chunks: PreparedChunk[] = [];
  let bytes = 0;
  for (const { heading: given, anchor: name, page, text: raw } of chunksOf(parsed)) {
    const [heading, anchor, text] = [
      given === null ? null : storableText(given),
      name === null ? null : storableText(name),
      storableText(raw),
    ];
    const digest = createHash('sha256')
      .update(embeddedText(title, heading, text))
      .digest('hex');
    whole.update(`${digest} ${String(page)} ${anchor === null ? '' : JSON.stringify(anchor)}`);
    bytes += Buffer.byteLength(text);
    chunks.push({ heading, anchor, page, text, digest, position: chunks.length });
    await slice.rest();
  }
  return { chunks, digest: whole.digest('hex'), bytes, title, language: await languageOf(parsed, chunks, slice) };
}

async function languageOf(
  { language }: ParsedDocument,
  chunks: readonly PreparedChunk[],
  slice: TimeSlice,
): Promise<string | null> {
  const told = language?.toLowerCase().split(/[-_]/)[0];
  // Templates say `en` of pages in any language: what function words tell comes first.
  return (
    detectLanguage(await firstWords(chunks, slice)) ?? (told !== undefined && /^[a-z]{2}$/.test(told) ? told : null)
  );
}

/** A document may be without any for millions of characters. */
async function firstWords(chunks: readonly PreparedChunk[], slice: TimeSlice): Promise<string[]> {
  const words: string[] = [];
  for (const { text } of chunks) {
    for (const { form } of tokensOf(fold(text))) {
      words.push(form);
      if (words.length >= WORDS_TO_DETECT) return words;
    }
    await slice.rest();
  }
  return words;
}

/** A chunk with what keywords find it by. */
export type AnalyzedChunk = PreparedChunk & { readonly terms: ChunkTerms };

/** Ahead of the transaction that stores them, and in slices. @param chunks of one document */
export async function analyzed<Given extends Pick<Chunk, 'heading' | 'text'>>(
  analyzer: TermAnalyzer,
  title: string,
  chunks: readonly Given[],
): Promise<(Given & { readonly terms: ChunkTerms })[]> {
  const slice = new TimeSlice(COMPUTE_SLICE_MS);
  const found: (Given & { readonly terms: ChunkTerms })[] = [];
  for (const chunk of chunks) {
    found.push({ ...chunk, terms: analyzer.termsOf({ title, heading: chunk.heading, text: chunk.text }) });
    await slice.rest();
  }
  return found;
}
