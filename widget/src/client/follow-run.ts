import { applyEvent, NO_REPLY, type ReplyProgress } from './apply-event.js';
import { ChatError } from './chat-error.js';
import type { Seams } from './seams.js';
import type { ServiceRequests } from './service-requests.js';
import { readServerSentEvents } from './sse.js';
import type { WireEvent } from './wire.js';

/** Keep-alives come every 15 s: a connection that is silent for longer than this is dead, whatever it looks like. */
const SILENCE_MS = 45_000;
/** How long a lost stream is tried to be joined again. */
const REJOIN_MS = 120_000;
const FIRST_PAUSE_MS = 300;
const MAX_PAUSE_MS = 8_000;

export interface FollowedRun {
  readonly runsPath: string;
  /** Undefined where the stream's first event will tell. */
  readonly runId?: string;
  /** Where the run has begun with this request; else the stream is joined from its first event. */
  readonly response?: Response;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ReplyProgress) => void;
  readonly onConnected: (connected: boolean) => void;
}

/**
 * Reads a reply to its end, over as many connections as it takes, with no gap and no repeat.
 * @returns how it ended; null when its events are no longer kept, and what is stored tells
 * @throws ChatError `network` when the stream cannot be joined again, `internal` for a stream that nobody understands;
 * the signal's reason once that is aborted
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
    if (joined === 'gone') return null;
    response = joined;
    run.onConnected(response !== null);
  }
}

/** @returns null where the service cannot be reached */
async function rejoin(
  requests: ServiceRequests,
  { runsPath, signal }: FollowedRun,
  runId: string,
  startingAfter: number,
): Promise<Response | null | 'gone'> {
  try {
    return await requests.send({
      method: 'POST',
      path: `${runsPath}/stream`,
      body: { rejoin: { runId, startingAfter } },
      signal,
    });
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    if (error.status === 410) return 'gone';
    if (error.code === 'network' || error.status >= 500) return null;
    throw error;
  }
}

/** Ends with the run, or with the connection. */
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
      // A number that was seen is a repeat, and one that is none belongs to no event of a run.
      if (!Number.isSafeInteger(number) || number <= position.lastId) continue;
      position.progress = applyEvent(position.progress, parsed(data));
      position.lastId = number;
      onProgress(position.progress);
      if (position.progress.end) return;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ChatError) throw error;
    // The connection broke.
  } finally {
    silence.end();
    // Lets the connection go; one that has failed already has nothing to cancel.
    reader.cancel().catch(() => undefined);
  }
}

function parsed(data: string): WireEvent {
  try {
    const event: unknown = JSON.parse(data);
    if (typeof event === 'object' && event !== null && 'type' in event) return event as WireEvent;
  } catch {
    // Told below.
  }
  throw new ChatError('internal', 'The service sent something that is no event.');
}

/** Notices when nothing has come for too long. */
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
    // Nobody may be waiting for it when it ends.
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
