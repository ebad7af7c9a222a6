import { EventType } from '@ag-ui/core';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type EventStream, EventStreams } from '../../platform/http/index.js';
import { type RunLogEntry, RunLogUnavailable } from '../../platform/run-log/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { RunEntries } from '../application/follow-run.js';
import { JoinRun } from '../application/join-run.js';
import { type ActiveRun, COMMENT, REASONING } from '../application/run-supervisor.js';
import type { StreamError } from '../domain/run.js';
import { type RunEvent, runError, type StreamComment } from '../engine/agui-events.js';
import { Chunks, completionFields, errorChunk } from './chat-completions.presenters.js';

const DONE = '[DONE]';

/** Sends runs as server-sent events. Answers 200, so later errors are sent inside the stream. */
@Injectable()
export class RunStreams {
  constructor(
    private readonly joinRun: JoinRun,
    private readonly streams: EventStreams,
    private readonly logger: Logger,
  ) {}

  /** Sends the entries that `open` yields, each with its number as `id`. The last event is always a terminal one. */
  async send(
    reply: FastifyReply,
    showReasoning: boolean,
    open: (closed: AbortSignal) => Promise<RunEntries>,
  ): Promise<void> {
    const stream = await this.write(reply, runError, async (to) =>
      copy(await open(to.closed), to, ({ number, tag, data }) => {
        if (showReasoning || tag !== REASONING) to.send(data, number);
      }),
    );
    stream.end();
  }

  /** Sends the run as the chunks of a streamed chat completion, which always end with `[DONE]`. */
  async sendCompletion(reply: FastifyReply, run: ActiveRun, includeUsage: boolean): Promise<void> {
    const chunks = new Chunks(completionFields(run), includeUsage);
    const stream = await this.write(reply, errorChunk, async (to) => {
      to.send(JSON.stringify(chunks.first()));
      await copy(await this.joinRun.wholeRun(run, to.closed), to, ({ tag, data }) => {
        const text = tag === REASONING ? '' : textOf(data);
        if (text !== '') to.send(JSON.stringify(chunks.text(text)));
      });
      if (to.closed.aborted) return;
      const ended = await run.ended;
      const last = ended.failure ? [errorChunk(ended.failure.error)] : chunks.end(ended);
      for (const chunk of last) to.send(JSON.stringify(chunk));
    });
    stream.send(DONE);
    stream.end();
  }

  private async write(
    reply: FastifyReply,
    present: (failure: StreamError) => object,
    write: (stream: EventStream) => Promise<void>,
  ): Promise<EventStream> {
    const stream = this.streams.open(reply);
    try {
      await write(stream);
    } catch (error) {
      if (!stream.closed.aborted) {
        this.logger.error(
          { err: error, requestId: reply.request.id },
          'The events of a run could not be sent completely',
        );
        // Without a number: a reader that rejoins continues after the last event of the run that it has.
        stream.send(JSON.stringify(present(failureOf(error))));
      }
    }
    return stream;
  }
}

function failureOf(error: unknown): StreamError {
  if (error instanceof RunLogUnavailable) return { code: 'run_events_unavailable', message: error.message };
  return { code: 'internal', message: 'The events of this run cannot be read.' };
}

async function copy(entries: RunEntries, stream: EventStream, send: (entry: RunLogEntry) => void): Promise<void> {
  let catchingUp = true;
  for await (const batch of entries) {
    for (const entry of batch) {
      if (entry.tag === COMMENT) stream.comment((JSON.parse(entry.data) as StreamComment).comment);
      else send(entry);
      // Events from before the reader came arrive at once; waiting keeps the reader from counting as slow.
      if (catchingUp) await stream.ready();
    }
    catchingUp = false;
  }
}

/** Only the text matters to the caller, since the agent runs its tools itself. */
function textOf(data: string): string {
  const event = JSON.parse(data) as RunEvent;
  return event.type === EventType.TEXT_MESSAGE_CONTENT ? event.delta : '';
}
