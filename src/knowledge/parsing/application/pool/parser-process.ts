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
import type { ParserTurn } from './parser-turns.js';

/** A parser has ended in mid-document. */
export class ParserEnded extends Error {
  constructor(
    readonly end: ProcessEnd,
    /** It had read others before, whose remains may be what was too much. */
    readonly wasFresh: boolean,
  ) {
    super('The parser process has ended');
  }

  /** It was ended for its memory, by the watch, by the runtime or by the system. */
  get tookTooMuchMemory(): boolean {
    return this.end.excess !== null || this.end.signal === 'SIGABRT' || this.end.signal === 'SIGTRAP';
  }

  /** What it says of the document. */
  asUnreadable(): UnreadableDocument {
    if (this.tookTooMuchMemory)
      return new UnreadableDocument('too_large', 'Reading the file takes more memory than is allowed.', {
        cause: this,
      });
    return new UnreadableDocument('broken', 'The file is broken: reading it does not come to an end.', { cause: this });
  }
}

/** The document is slow and has to wait for other slow ones: it is read again from its beginning. */
export class SetBack extends Error {}

/** What a parser says of a document. */
type Answer = ParsedDocument | UnreadableDocument;

/** A document on its way to a parser. */
export interface Delivery {
  readonly request: DocumentRequest;
  readonly content: (stop: AbortSignal) => AsyncIterable<Buffer>;
  /** Its time is counted from the last byte on. */
  readonly turn: ParserTurn;
  /** Asked once it is no quick document any more. */
  readonly mayGoOn: () => boolean;
}

/** A running parser, which reads one document after the other. */
export class ParserProcess {
  private readonly frames: AsyncGenerator<Buffer>;
  private parsed = 0;
  /** Bytes, of all its answers. */
  private received = 0;

  private constructor(
    readonly child: ChildProcess,
    private readonly clock: Clock,
  ) {
    this.frames = readFrames(child.output as AsyncIterable<Buffer>, MAX_FRAME_BYTES);
  }

  /** @throws where it does not come up, which is no document's fault */
  static async start(child: ChildProcess, clock: Clock): Promise<ParserProcess> {
    const parser = new ParserProcess(child, clock);
    const cancel = clock.after(PARSER_START_MS, () => void child.kill());
    try {
      const message = await parser.next();
      if (message?.kind !== 'ready') throw new Error('The parser process has not come up');
    } catch (error) {
      await child.kill();
      throw error;
    } finally {
      cancel();
    }
    return parser;
  }

  /** @throws UnreadableDocument; ParserEnded; SetBack; the signal's reason. After anything but an answer the process is gone. */
  async parse(delivery: Delivery, signal: AbortSignal): Promise<ParsedDocument> {
    const stop = new AbortController();
    const stopped = AbortSignal.any([signal, stop.signal]);
    const answer = this.receive();
    // Heard of too late where the signal came first.
    answer.catch(() => undefined);
    let said: Answer;
    try {
      said = await untilAborted(this.exchange(delivery, answer, stop, stopped), stopped);
    } catch (error) {
      // What still comes of the document is not taken any more.
      stop.abort(error);
      await this.child.kill();
      throw error;
    } finally {
      this.parsed += 1;
    }
    if (said instanceof UnreadableDocument) throw said;
    return said;
  }

  private async exchange(
    delivery: Delivery,
    answer: Promise<Answer>,
    stop: AbortController,
    stopped: AbortSignal,
  ): Promise<Answer> {
    // An answer before the end of the document means that the parser has ended.
    await Promise.race([this.send(delivery, stop, stopped), answer]);
    const cancel = this.watchTime(delivery, stop);
    try {
      return await answer;
    } finally {
      cancel();
    }
  }

  /** From outside, since a parser's thread may be held in one call. Where the system does not tell the processor time it is the time that passes. */
  private watchTime({ turn, mayGoOn }: Delivery, stop: AbortController): () => void {
    const begin = { used: turn.usedMs, processor: this.child.processorTimeMs(), elapsed: this.clock.monotonic() };
    return this.clock.every(TIME_CHECK_MS, () => {
      if (this.child.hasEnded) return;
      const elapsed = this.clock.monotonic() - begin.elapsed;
      const processor = this.child.processorTimeMs();
      turn.usedMs =
        begin.used + (processor === undefined || begin.processor === undefined ? elapsed : processor - begin.processor);
      if (turn.usedMs >= turn.limitMs || elapsed >= turn.limitMs * ELAPSED_PER_PROCESSOR_TIME) {
        stop.abort(
          new UnreadableDocument(
            'too_slow',
            `Reading the file takes too long: more than ${turn.limitMs / 1_000} seconds.`,
          ),
        );
      } else if (turn.usedMs >= QUICK_PROCESSOR_MS && !mayGoOn()) stop.abort(new SetBack());
    });
  }

  private async send({ request, content }: Delivery, stop: AbortController, stopped: AbortSignal): Promise<void> {
    await this.write(frameOf(request), stopped);
    const watch = (): (() => void) =>
      this.clock.after(CONTENT_STALL_MS, () => stop.abort(new Error('The document has not come in time')));
    let cancel = watch();
    try {
      for await (const part of content(stopped)) {
        cancel();
        for (let start = 0; start < part.length; start += MAX_PART_BYTES) {
          const piece = part.subarray(start, start + MAX_PART_BYTES);
          await this.write(frameHeader(piece.length), stopped);
          await this.write(piece, stopped);
        }
        cancel = watch();
      }
    } finally {
      cancel();
    }
    await this.write(frameHeader(0), stopped);
  }

  /** No faster than the parser reads. */
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

  /** Undefined when it has ended. */
  private async next(): Promise<ParserMessage | undefined> {
    try {
      const frame = await this.frames.next();
      if (frame.done === true) return undefined;
      this.received += frame.value.length;
      return JSON.parse(frame.value.toString('utf8')) as ParserMessage;
    } catch {
      // Its output breaks off where it is killed. What is no message comes from a parser that is lost as well.
      await this.child.kill();
      return undefined;
    }
  }
}
