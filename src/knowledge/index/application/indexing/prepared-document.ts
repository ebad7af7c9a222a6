import { createHash } from 'node:crypto';
import { TimeSlice } from '../../../../platform/clock/index.js';
import { storableText } from '../../../../platform/database/index.js';
import { detectLanguage, fold, tokensOf, WORDS_TO_DETECT } from '../../../../platform/text/index.js';
import type { ParsedDocument } from '../../../parsing/domain/parsed-document.js';
import { type Chunk, chunksOf } from '../../domain/chunker.js';
import type { IndexedSource } from './document-index.js';
import { type ChunkTerms, TermAnalyzer } from '../../domain/chunk-terms.js';
import { embeddedText } from '../../domain/embedded-text.js';
import { COMPUTE_SLICE_MS } from '../../limits.js';

export interface PreparedChunk extends Chunk {
  readonly position: number;
  readonly anchor: string | null;
  /** Of the title, the heading and the text: what is searched, and what a vector is made of. In hex. */
  readonly digest: string;
}

export interface PreparedDocument {
  readonly chunks: readonly PreparedChunk[];
  /** Of everything that is stored. */
  readonly digest: Buffer;
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
  const whole = createHash('sha256').update(JSON.stringify([title, source.url, source.scope === null ? null : Object.entries(source.scope).sort()]));
  const chunks: PreparedChunk[] = [];
  let bytes = 0;
  for (const { heading: given, anchor: name, page, text: raw } of chunksOf(parsed)) {
    const [heading, anchor, text] = [given === null ? null : storableText(given), name === null ? null : storableText(name), storableText(raw)];
    const digest = createHash('sha256').update(embeddedText(title, heading, text)).digest('hex');
    whole.update(`${digest} ${String(page)} ${anchor === null ? '' : JSON.stringify(anchor)}`);
    bytes += Buffer.byteLength(text);
    chunks.push({ heading, anchor, page, text, digest, position: chunks.length });
    await slice.rest();
  }
  return { chunks, digest: whole.digest(), bytes, title, language: await languageOf(parsed, chunks, slice) };
}

async function languageOf({ language }: ParsedDocument, chunks: readonly PreparedChunk[], slice: TimeSlice): Promise<string | null> {
  const told = language?.toLowerCase().split(/[-_]/)[0];
  // Templates say `en` of pages in any language: what function words tell comes first.
  return detectLanguage(await firstWords(chunks, slice)) ?? (told !== undefined && /^[a-z]{2}$/.test(told) ? told : null);
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

/** The terms of a document's chunks, computed once each. */
export class DocumentTerms {
  private readonly known = new Map<string, ChunkTerms>();
  private readonly analyzer: TermAnalyzer;

  constructor(private readonly document: PreparedDocument) {
    this.analyzer = new TermAnalyzer(document.language);
  }

  /** Ahead of a transaction, in slices. */
  async prepare(chunks: readonly PreparedChunk[]): Promise<void> {
    const slice = new TimeSlice(COMPUTE_SLICE_MS);
    for (const chunk of chunks) {
      this.of(chunk);
      await slice.rest();
    }
  }

  of(chunk: PreparedChunk): ChunkTerms {
    const known = this.known.get(chunk.digest);
    if (known) return known;
    const terms = this.analyzer.termsOf({ title: this.document.title, heading: chunk.heading, text: chunk.text });
    this.known.set(chunk.digest, terms);
    return terms;
  }

  forget(chunks: readonly PreparedChunk[]): void {
    for (const { digest } of chunks) this.known.delete(digest);
  }
}
