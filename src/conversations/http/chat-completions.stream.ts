import { EventType } from '@ag-ui/core';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type EventStream, EventStreams } from '../../platform/http/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { JoinRun } from '../application/join-run.js';
import { type ActiveRun, REASONING } from '../application/run-supervisor.js';
import type { RunEvent } from '../engine/agui-events.js';
import { Chunks, errorChunk, completionFields } from './chat-completions.presenters.js';

const DONE = '[DONE]';

/** Sends a run as the chunks of a streamed chat completion. */
@Injectable()
export class ChatCompletionStreams {
  constructor(
    private readonly joinRun: JoinRun,
    private readonly streams: EventStreams,
    private readonly logger: Logger,
  ) {}

  /** Answers 200. Later errors are sent inside the stream, which always ends with `[DONE]`. */
  async send(reply: FastifyReply, run: ActiveRun, includeUsage: boolean): Promise<void> {
    const stream = this.streams.open(reply);
    try {
      await this.copy(stream, run, new Chunks(completionFields(run), includeUsage));
    } catch (error) {
      if (!stream.closed.aborted) {
        this.logger.error({ err: error, runId: run.runId }, 'The events of a run could not be sent completely');
        const message = 'The run failed for a reason inside the service.';
        stream.send(JSON.stringify(errorChunk({ code: 'internal', message })));
      }
    }
    stream.send(DONE);
    stream.end();
  }

  private async copy(stream: EventStream, run: ActiveRun, chunks: Chunks): Promise<void> {
    stream.send(JSON.stringify(chunks.first()));
    let catchingUp = true;
    for await (const batch of await this.joinRun.wholeRun(run, stream.closed)) {
      for (const { tag, data } of batch) {
        const text = tag === REASONING ? '' : textOf(data);
        if (text === '') continue;
        stream.send(JSON.stringify(chunks.text(text)));
        // Events from before the reader came arrive at once; waiting keeps the reader from counting as slow.
        if (catchingUp) await stream.ready();
      }
      catchingUp = false;
    }
    if (stream.closed.aborted) return;
    const ended = await run.ended;
    const last = ended.failure ? [errorChunk(ended.failure.error)] : chunks.end(ended);
    for (const chunk of last) stream.send(JSON.stringify(chunk));
  }
}

/** Only the text matters to the caller, since the agent runs its tools itself. */
function textOf(data: string): string {
  const event = JSON.parse(data) as RunEvent;
  return event.type === EventType.TEXT_MESSAGE_CONTENT ? event.delta : '';
}
