/**
 * The program of a parser process. It reads documents from its standard input and writes the answers to its standard
 * output, one document after the other, until the input ends. Of the service it imports only what parsing needs.
 */
import { once } from 'node:events';
import { UnreadableDocument } from '../../domain/parsing.errors.js';
import type { Block, DocumentRequest } from '../../domain/parsed-document.js';
import { parseContent } from '../formats/parse-content.js';
import { ANSWER_PART_CHARACTERS, MAX_DOCUMENT_BYTES, MAX_PART_BYTES } from '../../limits.js';
import { frameOf, type ParserMessage, readFrames } from '../pool/frames.js';
import { splitBlock, weightOf } from './split-block.js';

const frames = readFrames(process.stdin, MAX_PART_BYTES);
await send({ kind: 'ready' });
for (let head = await frames.next(); head.done !== true; head = await frames.next()) {
  await answer(JSON.parse(head.value.toString('utf8')) as DocumentRequest);
}

async function send(message: ParserMessage): Promise<void> {
  if (!process.stdout.write(frameOf(message))) await once(process.stdout, 'drain');
}

async function answer(request: DocumentRequest): Promise<void> {
  try {
    const { blocks, ...document } = await parseContent({ ...request, content: await receive() });
    for (const part of partsOf(blocks)) await send({ kind: 'blocks', blocks: part });
    await send({ kind: 'document', document });
  } catch (error) {
    // Any other error ends the process. The service reports it by the process's end.
    if (!(error instanceof UnreadableDocument)) throw error;
    await send({ kind: 'unreadable', reason: error.reason, message: error.message, detail: error.detail });
  }
}

async function receive(): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for (let frame = await frames.next(); frame.done !== true && frame.value.length > 0; frame = await frames.next()) {
    size += frame.value.length;
    // The rest is read and dropped, so that the next document starts at its first byte.
    if (size <= MAX_DOCUMENT_BYTES) parts.push(frame.value);
  }
  if (size <= MAX_DOCUMENT_BYTES) return Buffer.concat(parts);
  const limit = `at most ${MAX_DOCUMENT_BYTES / 1024 / 1024} MB can be read`;
  throw new UnreadableDocument('too_large', `The file is too large: ${limit}.`);
}

function* partsOf(blocks: readonly Block[]): Generator<readonly Block[]> {
  let part: Block[] = [];
  let weight = 0;
  for (const block of blocks.flatMap((whole) => [...splitBlock(whole, ANSWER_PART_CHARACTERS)])) {
    part.push(block);
    weight += weightOf(block);
    if (weight < ANSWER_PART_CHARACTERS) continue;
    yield part;
    [part, weight] = [[], 0];
  }
  if (part.length > 0) yield part;
}
