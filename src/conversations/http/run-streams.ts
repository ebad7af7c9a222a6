import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type EventStream, EventStreams } from '../../platform/http/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { RunEntries } from '../application/join-run.js';
import { REASONING } from '../application/run-supervisor.js';
import { runError } from '../engine/agui-events.js';

/** Sends the events of a run as server-sent events, each with its number as `id`. */
@Injectable()
export class RunStreams {
  constructor(
    private readonly streams: EventStreams,
    private readonly logger: Logger,
  ) {}

  /**
   * Answers 200 and sends the entries that `open` yields. Later errors are sent inside the stream, which always ends
   * with a terminal event.
   */
  async send(
    reply: FastifyReply,
    showReasoning: boolean,
    open: (closed: AbortSignal) => Promise<RunEntries>,
  ): Promise<void> {
    const stream = this.streams.open(reply);
    try {
      await this.copy(stream, showReasoning, await open(stream.closed));
    } catch (error) {
      if (!stream.closed.aborted) {
        this.logger.error({ err: error }, 'The events of a run could not be read completely');
        stream.send(JSON.stringify(runError({ code: 'internal', message: 'The events of this run cannot be read.' })));
      }
    }
    stream.end();
  }

  private async copy(stream: EventStream, showReasoning: boolean, entries: RunEntries): Promise<void> {
    let catchingUp = true;
    for await (const batch of entries) {
      for (const { number, tag, data } of batch) {
        if (!showReasoning && tag === REASONING) continue;
        stream.send(data, number);
        // Events from before the reader came arrive at once; waiting keeps the reader from counting as slow.
        if (catchingUp) await stream.ready();
      }
      catchingUp = false;
    }
  }
}
