import { once } from 'node:events';
import { type Clock, untilAborted } from '../../../../platform/clock/index.js';
import type { ChildProcess, ProcessEnd } from '../../../../platform/processes/index.js';
import { UnreadableDocument } from '../../domain/parsing.errors.js';
import type { Block, DocumentRequest, ParsedDocument } from '../../domain/parsed-document.js';
import {
  CONTENT_STALL_MS,
  ELAPSED_PER_PROCESSOR_TIME,
  MAX_ANSWER_BYTES,
  MAX_FRAME_BYTES,
  MAX_PART_BYTES,
  PARSER_START_MS,
  QUICK_PROCESSOR_MS,
  TIME_CHECK_MS,
} from '../../limits.js';
import { frameHeader, frameOf, type ParserMessage, readFrames } from './frames.js';
import type { QueuedDocument } from './parser-queue.js';

/** The parser process ended before it had answered. */
export class ParserEnded extends Error {
  constructor(
    readonly end: ProcessEnd,
    /** Whether this was its first document. Otherwise memory that earlier documents left behind may be the cause. */
    readonly wasFresh: boolean,
  ) {
    super('The parser process has ended');
  }

  /** The watch, the runtime or the system ended it for its memory. */
  get tookTooMuchMemory(): boolean {
    return this.end.excess !== null || this.end.signal === 'SIGABRT' || this.end.signal === 'SIGTRAP';
  }

  asUnreadable(): UnreadableDocument {
    return this.tookTooMuchMemory
      ? new UnreadableDocument('too_large', 'Reading the file takes more memory than is allowed.', { cause: this })
      : new UnreadableDocument('broken', 'The file is broken: reading it does not come to an end.', { cause: this });
  }
}

/** The document turned out to be slow and has to wait for other slow ones. It is parsed again from its beginning. */
export class ParsingPostponed extends Error {}

type Answer = ParsedDocument | UnreadableDocument;

export interface Delivery {
  readonly request: DocumentRequest;
  readonly content: (stop: AbortSignal) => AsyncIterable<Buffer> | Iterable<Buffer>;
  /** Its processor time is counted once its last byte is sent. */
  readonly queued: QueuedDocument;
  /** Called when the document turns out to be slow. */
  readonly mayContinue: () => boolean;
}

export class ParserProcess {
  private readonly frames: AsyncGenerator<Buffer>;
  private parsed = 0;
  private received = 0;

  private constructor(
    readonly child: ChildProcess,
    private readonly clock: Clock,
  ) {
    this.frames = readFrames(child.output as AsyncIterable<Buffer>, MAX_FRAME_BYTES);
  }

  /** @throws an error if the process does not become ready, which is no fault of the document */
  static async start(child: ChildProcess, clock: Clock): Promise<ParserProcess> {
    const parser = new ParserProcess(child, clock);
    const cancel = clock.after(PARSER_START_MS, () => void child.kill());
    try {
      const message = await parser.next();
      if (message?.kind !== 'ready') throw new Error('The parser process did not become ready');
    } catch (error) {
      await child.kill();
      throw error;
    } finally {
      cancel();
    }
    return parser;
  }

  /** @throws UnreadableDocument; ParserEnded; ParsingPostponed; the signal's reason. Without an answer the process is killed. */
  async parse(delivery: Delivery, signal: AbortSignal): Promise<ParsedDocument> {
    const stop = new AbortController();
    const stopped = AbortSignal.any([signal, stop.signal]);
    const received = this.receive();
    // If the signal aborts first, `received` rejects without a handler.
    received.catch(() => undefined);
    let answer: Answer;
    try {
      answer = await untilAborted(this.exchange(delivery, received, stop, stopped), stopped);
    } catch (error) {
      // Ends the reading of the document's content.
      stop.abort(error);
      await this.child.kill();
      throw error;
    } finally {
      this.parsed += 1;
    }
    if (answer instanceof UnreadableDocument) throw answer;
    return answer;
  }

  private async exchange(
    delivery: Delivery,
    received: Promise<Answer>,
    stop: AbortController,
    stopped: AbortSignal,
  ): Promise<Answer> {
    // `received` settles before the whole document is sent only if the parser has ended.
    await Promise.race([this.send(delivery, stop, stopped), received]);
    const cancel = this.watchTime(delivery, stop);
    try {
      return await received;
    } finally {
      cancel();
    }
  }

  /** From this process, since one call may block the parser's thread. Counts elapsed time where the system reports no processor time. */
  private watchTime({ queued, mayContinue }: Delivery, stop: AbortController): () => void {
    const begin = { used: queued.usedMs, processor: this.child.processorTimeMs(), elapsed: this.clock.monotonic() };
    return this.clock.every(TIME_CHECK_MS, () => {
      if (this.child.hasEnded) return;
      const elapsed = this.clock.monotonic() - begin.elapsed;
      const processor = this.child.processorTimeMs();
      queued.usedMs =
        begin.used + (processor === undefined || begin.processor === undefined ? elapsed : processor - begin.processor);
      if (queued.usedMs >= queued.limitMs || elapsed >= queued.limitMs * ELAPSED_PER_PROCESSOR_TIME) {
        const message = `Reading the file takes too long: more than ${queued.limitMs / 1_000} seconds.`;
        stop.abort(new UnreadableDocument('too_slow', message));
      } else if (queued.usedMs >= QUICK_PROCESSOR_MS && !mayContinue()) stop.abort(new ParsingPostponed());
    });
  }

  private async send({ request, content }: Delivery, stop: AbortController, stopped: AbortSignal): Promise<void> {
    await this.write(frameOf(request), stopped);
    const startTimer = (): (() => void) =>
      this.clock.after(CONTENT_STALL_MS, () =>
        stop.abort(new Error('The content of a document did not arrive in time')),
      );
    let cancel = startTimer();
    try {
      for await (const part of content(stopped)) {
        cancel();
        for (let start = 0; start < part.length; start += MAX_PART_BYTES) {
          const piece = part.subarray(start, start + MAX_PART_BYTES);
          await this.write(frameHeader(piece.length), stopped);
          await this.write(piece, stopped);
        }
        cancel = startTimer();
      }
    } finally {
      cancel();
    }
    await this.write(frameHeader(0), stopped);
  }

  /** Waits until the parser has read enough, so that this process holds little of a document. */
  private async write(bytes: Buffer, stopped: AbortSignal): Promise<void> {
    stopped.throwIfAborted();
    if (this.child.input.write(bytes)) return;
    const drained = once(this.child.input, 'drain', { signal: stopped }).catch(() => undefined);
    await Promise.race([drained, this.child.ended]);
    stopped.throwIfAborted();
  }

  private async receive(): Promise<Answer> {
    const blocks: Block[] = [];
    const before = this.received;
    for (;;) {
      const message = await this.next();
      if (!message) throw new ParserEnded(await this.child.ended, this.parsed === 0);
      if (this.received - before > MAX_ANSWER_BYTES)
        throw new UnreadableDocument('too_large', 'The document holds more text than can be read.');
      if (message.kind === 'blocks') for (const block of message.blocks) blocks.push(block);
      else if (message.kind === 'document') return { ...message.document, blocks };
      else if (message.kind === 'unreadable')
        return new UnreadableDocument(message.reason, message.message, { detail: message.detail });
    }
  }

  /** @returns undefined if the process has ended */
  private async next(): Promise<ParserMessage | undefined> {
    try {
      const frame = await this.frames.next();
      if (frame.done === true) return undefined;
      this.received += frame.value.length;
      return JSON.parse(frame.value.toString('utf8')) as ParserMessage;
    } catch {
      // The output is cut off where the process was killed. A process that writes no valid message cannot be used either.
      await this.child.kill();
      return undefined;
    }
  }
}
