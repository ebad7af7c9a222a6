import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { UnreadableDocument } from '../../domain/parsing.errors.js';
import type { Block, DocumentRequest } from '../../domain/parsed-document.js';
import { parseContent } from '../formats/parse-content.js';
import { ANSWER_PART_CHARACTERS, MAX_DOCUMENT_BYTES, MAX_PART_BYTES } from '../../limits.js';
import { frameOf, type ParserMessage, readFrames } from '../pool/frames.js';
import { splitBlock, weightOf } from './split-block.js';

export async function serve(input: AsyncIterable<Buffer>, output: Writable): Promise<void> {
  const frames = readFrames(input, MAX_PART_BYTES);
  const ready: ParserMessage = { kind: 'ready' };
  output.write(frameOf(ready));
  for (let head = await frames.next(); head.done !== true; head = await frames.next()) {
    const request = JSON.parse(head.value.toString('utf8')) as DocumentRequest;
    for await (const message of answers(request, frames)) {
      if (!output.write(frameOf(message))) await once(output, 'drain');
    }
  }
}

async function* answers(request: DocumentRequest, frames: AsyncGenerator<Buffer>): AsyncGenerator<ParserMessage> {
  try {
    const { blocks, ...document } = await parseContent({ ...request, content: await receive(frames) });
    for (const part of partsOf(blocks)) yield { kind: 'blocks', blocks: part };
    yield { kind: 'document', document };
  } catch (error) {
    // The stack of what else went wrong ends the process, and the service hears that.
    if (!(error instanceof UnreadableDocument)) throw error;
    yield { kind: 'unreadable', reason: error.reason, message: error.message, detail: error.detail };
  }
}

async function receive(frames: AsyncGenerator<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for (let frame = await frames.next(); frame.done !== true && frame.value.length > 0; frame = await frames.next()) {
    size += frame.value.length;
    // The rest is still taken, so that the next document begins where it should.
    if (size <= MAX_DOCUMENT_BYTES) parts.push(frame.value);
  }
  if (size > MAX_DOCUMENT_BYTES) {
    throw new UnreadableDocument(
      'too_large',
      `The file is too large: at most ${MAX_DOCUMENT_BYTES / 1024 / 1024} MB can be read.`,
    );
  }
  return Buffer.concat(parts);
}

function* partsOf(blocks: readonly Block[]): Generator<readonly Block[]> {
  let part: Block[] = [];
  let weight = 0;
  for (const whole of blocks) {
    for (const block of splitBlock(whole, ANSWER_PART_CHARACTERS)) {
      part.push(block);
      weight += weightOf(block);
      if (weight < ANSWER_PART_CHARACTERS) continue;
      yield part;
      [part, weight] = [[], 0];
    }
  }
  if (part.length > 0) yield part;
}
