import { applyEvent, NO_REPLY, type ReplyProgress } from './apply-event.js';
import { ChatError } from './chat-error.js';
import type { Seams } from './seams.js';
import type { ServiceRequests } from './service-requests.js';
import { readServerSentEvents } from './sse.js';
import type { WireEvent } from './wire.js';

/** The service sends a keep-alive every 15 s, so a connection without bytes for this long is dead. */
const SILENCE_MS = 45_000;
/** How long the client tries to reconnect to a stream. */
const REJOIN_MS = 120_000;
const FIRST_PAUSE_MS = 300;
const MAX_PAUSE_MS = 8_000;

export interface FollowedRun {
  readonly runsPath: string;
  /** Undefined if the first event of the stream has it. */
  readonly runId?: string;
  /** The response that has started the run; without it the stream is read from its first event. */
  readonly response?: Response;
  readonly signal: AbortSignal;
  /** @param position number of the last event */
  readonly onProgress: (progress: ReplyProgress, position: number) => void;
  readonly onConnected: (connected: boolean) => void;
}

/**
 * Reads a reply to its end, over any number of connections, without gaps and repeats.
 * @returns how it ended; null if the service no longer has its events, and the stored message has to be read
 * @throws ChatError `network` if it cannot reconnect to the stream, `internal` for an invalid stream; the signal's reason when it aborts
 */
export async function followRun(
  requests: ServiceRequests,
  seams: Seams,
  run: FollowedRun,
): Promise<ReplyProgress | null> {
  const position = { progress: { ...NO_REPLY, runId: run.runId ?? null } as ReplyProgress, lastId: 0 };
  let response = run.response ?? null;
  let lostAt: number | null = null;
  for (let attempt = 0; ; attempt += 1) {
    if (response) {
      const before = position.lastId;
      await readEvents(response, position, run, seams);
      if (position.progress.end) return position.progress;
      if (position.lastId > before) {
        lostAt = null;
        attempt = 0;
      }
    }
    const { runId } = position.progress;
    if (runId === null) throw new ChatError('network', 'The connection was lost before the reply began.');
    const isFirst = !response && attempt === 0;
    if (!isFirst) {
      run.onConnected(false);
      lostAt ??= seams.monotonic();
      if (seams.monotonic() - lostAt > REJOIN_MS)
        throw new ChatError('network', 'The connection to the service was lost.');
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS);
      await seams.sleep(pause * (0.5 + seams.random()), run.signal);
    }
    const joined = await rejoin(requests, run, runId, position.lastId);
    if (joined === 'expired') return null;
    response = joined;
    run.onConnected(response !== null);
  }
}

/** @returns null if the service cannot be reached */
async function rejoin(
  requests: ServiceRequests,
  { runsPath, signal }: FollowedRun,
  runId: string,
  startingAfter: number,
): Promise<Response | null | 'expired'> {
  try {
    return await requests.send({
      method: 'POST',
      path: `${runsPath}/stream`,
      body: { rejoin: { runId, startingAfter } },
      signal,
    });
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    if (error.status === 410) return 'expired';
    // `unavailable`: the customer's server gives no new pass at the moment.
    if (error.code === 'network' || error.code === 'unavailable' || error.status >= 500) return null;
    throw error;
  }
}

/** Returns when the run or the connection ends. */
async function readEvents(
  { body }: Response,
  position: { progress: ReplyProgress; lastId: number },
  { signal, onProgress }: FollowedRun,
  seams: Seams,
): Promise<void> {
  if (!body) return;
  const silence = new Silence(seams, signal);
  const reader = body.getReader();
  const events = readServerSentEvents(reader, () => {
    silence.heard();
  });
  try {
    for (;;) {
      const next = await Promise.race([events.next(), silence.lasting]);
      if (next === 'silent' || next.done) return;
      const { id, data } = next.value;
      const number = Number(id);
      // Skips repeated events, and events without a number, which do not belong to a run.
      if (!Number.isSafeInteger(number) || number <= position.lastId) continue;
      position.progress = applyEvent(position.progress, parsed(data));
      position.lastId = number;
      onProgress(position.progress, number);
      if (position.progress.end) return;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ChatError) throw error;
    // The connection was lost.
  } finally {
    silence.end();
    // Closes the connection. A connection that has failed has nothing to cancel.
    reader.cancel().catch(() => undefined);
  }
}

function parsed(data: string): WireEvent {
  try {
    const event: unknown = JSON.parse(data);
    if (typeof event === 'object' && event !== null && 'type' in event) return event as WireEvent;
  } catch {
    // Thrown below.
  }
  throw new ChatError('internal', 'The service sent an invalid event.');
}

/** Aborts when no byte has arrived for too long. */
class Silence {
  readonly lasting: Promise<'silent'>;
  private readonly seams: Seams;
  private readonly ended = new AbortController();
  private heardAt: number;

  constructor(seams: Seams, signal: AbortSignal) {
    this.seams = seams;
    this.heardAt = seams.monotonic();
    signal.addEventListener('abort', () => this.ended.abort(), { once: true, signal: this.ended.signal });
    this.lasting = this.watch();
    // Avoids an unhandled rejection if no code waits for the promise.
    this.lasting.catch(() => undefined);
  }

  heard(): void {
    this.heardAt = this.seams.monotonic();
  }

  end(): void {
    this.ended.abort();
  }

  private async watch(): Promise<'silent'> {
    for (;;) {
      const rest = this.heardAt + SILENCE_MS - this.seams.monotonic();
      if (rest <= 0) return 'silent';
      await this.seams.sleep(rest, this.ended.signal);
    }
  }
}
