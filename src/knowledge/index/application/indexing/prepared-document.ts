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
  /** Hexadecimal; of the title, the heading and the text, which are searched and embedded. */
  readonly digest: string;
}

export interface PreparedDocument {
  readonly chunks: readonly PreparedChunk[];
  /** Hexadecimal; of everything that is stored. */
  readonly digest: string;
  /** The size of the chunks' text. */
  readonly bytes: number;
  readonly title: string;
  /** The language that its function words suggest, or else the one that it declares. */
  readonly language: string | null;
}

/** Computes in slices, and before any transaction begins: a document may have 20 million characters. */
export async function prepareDocument(source: IndexedSource, parsed: ParsedDocument): Promise<PreparedDocument> {
  const slice = new TimeSlice(COMPUTE_SLICE_MS);
  const title = storableText(source.title);
  const scope = source.scope === null ? null : Object.entries(source.scope).sort();
  const whole = createHash('sha256').update(JSON.stringify([title, source.url, scope]));
  const chunks: PreparedChunk[] = [];
  let bytes = 0;
  for (const { heading: given, anchor: name, page, text: raw } of chunksOf(parsed)) {
    const heading = given === null ? null : storableText(given);
    const anchor = name === null ? null : storableText(name);
    const text = storableText(raw);
    const digest = createHash('sha256')
      .update(embeddedText(title, heading, text))
      .digest('hex');
    whole.update(`${digest} ${String(page)} ${anchor === null ? '' : JSON.stringify(anchor)}`);
    bytes += Buffer.byteLength(text);
    chunks.push({ heading, anchor, page, text, digest, position: chunks.length });
    await slice.rest();
  }
  return { chunks, digest: whole.digest('hex'), bytes, title, language: await findLanguage(parsed, chunks, slice) };
}

async function findLanguage(
  { language }: ParsedDocument,
  chunks: readonly PreparedChunk[],
  slice: TimeSlice,
): Promise<string | null> {
  const declared = language?.toLowerCase().split(/[-_]/)[0];
  // Templates declare `en` for pages in any language, so the function words take precedence.
  const detected = detectLanguage(await firstWords(chunks, slice));
  return detected ?? (declared !== undefined && /^[a-z]{2}$/.test(declared) ? declared : null);
}

/** In slices: a document may have millions of characters without a word. */
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

/** A chunk with the terms by which keyword search finds it. */
export type AnalyzedChunk<Given = PreparedChunk> = Given & { readonly terms: ChunkTerms };

/** Computes in slices, before the transaction that stores the chunks begins. @param chunks of one document */
export async function analyzeChunks<Given extends Pick<Chunk, 'heading' | 'text'>>(
  analyzer: TermAnalyzer,
  title: string,
  chunks: readonly Given[],
): Promise<AnalyzedChunk<Given>[]> {
  const slice = new TimeSlice(COMPUTE_SLICE_MS);
  const analyzed: AnalyzedChunk<Given>[] = [];
  for (const chunk of chunks) {
    analyzed.push({ ...chunk, terms: analyzer.termsOf(title, chunk) });
    await slice.rest();
  }
  return analyzed;
}
