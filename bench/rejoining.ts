import type { Follow, FollowResult, Part, Read, Recorded, Recording, SliceResult } from './load-orders.ts';
import { answered, mustAgree, type ReadEvent, readEvents } from './run-events.ts';
import type { ReplyScript } from './script.ts';
import { type Open, takeThread } from './perform-run.ts';
import { runRequest } from './targets.ts';

interface RecordedRun {
  readonly thread: string;
  readonly id: string;
  readonly events: readonly ReadEvent[];
}

/** Reads ended and active runs again. An event that differs from the first read is an error. */
export class Rejoining {
  private runs: readonly RecordedRun[] = [];

  async record(owner: Open, other: Open, { runs, script }: Recording): Promise<Recorded> {
    const original: number[] = [];
    const atOnce: number[] = [];
    const recorded: RecordedRun[] = [];
    while (recorded.length < runs) {
      const began = performance.now();
      const run = await this.start(owner, script);
      const ended = performance.now();
      original.push(ended - began);
      mustAgree(run.events, await readAgain(other, run, 0));
      atOnce.push(performance.now() - ended);
      recorded.push(run);
    }
    this.runs = recorded;
    return { original, atOnce, events: recorded[0]?.events.length ?? 0 };
  }

  async read(from: Open, { part, concurrency, seconds }: Read): Promise<SliceResult> {
    const latencies: number[] = [];
    const began = performance.now();
    const until = began + seconds * 1000;
    let next = 0;
    const worker = async (): Promise<void> => {
      while (performance.now() < until) {
        const run = this.runs[next++ % this.runs.length];
        if (!run) throw new Error('No run was recorded');
        const asked = performance.now();
        await readPart(from, run, part);
        latencies.push(performance.now() - asked);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return { seconds: (performance.now() - began) / 1000, latencies, firstTokens: [] };
  }

  async follow(owner: Open, joinedOn: Open, { runs, concurrency, script }: Follow): Promise<FollowResult> {
    const delays: number[] = [];
    const joined: number[] = [];
    let started = 0;
    const worker = async (): Promise<void> => {
      while (started < runs) {
        started += 1;
        const followed = await followOne(owner, joinedOn, (onEvent) => this.start(owner, script, onEvent));
        delays.push(...followed.delays);
        joined.push(followed.joined);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return { delays, joined, events: delays.length };
  }

  /** Makes one streamed run and stores its events. */
  private async start(on: Open, script: ReplyScript, onEvent?: (run: RunName) => void): Promise<RecordedRun> {
    const thread = takeThread(on);
    const { path, headers, body } = runRequest(on.target, 'streamed', thread, script);
    const answer = await on.client.request({ path, method: 'POST', headers, body });
    const events = await readEvents(await answered(answer), 0, (event) => {
      if (event.number === 1) onEvent?.({ thread, id: runIdOf(event) });
    });
    on.free.push(thread);
    const [first] = events;
    if (!first) throw new Error('A run without events');
    return { thread, id: runIdOf(first), events };
  }
}

type RunName = Pick<RecordedRun, 'thread' | 'id'>;

/** The second reader joins as soon as the first one has the id of the run. */
async function followOne(
  owner: Open,
  joinedOn: Open,
  start: (onFirst: (run: RunName) => void) => Promise<RecordedRun>,
): Promise<{ delays: number[]; joined: number }> {
  const named = Promise.withResolvers<RunName>();
  const first = start(named.resolve);
  const second = named.promise.then(async (run) => {
    const asked = performance.now();
    const events = await readAgain(joinedOn, run, 0);
    return { asked, events };
  });
  // Without a first event there is no second reader.
  const [{ events }, { asked, events: again }] = await Promise.all([
    first.catch((error: unknown) => {
      named.reject(error);
      throw error;
    }),
    second,
  ]);
  mustAgree(events, again);
  const here = again[0]?.at ?? Number.NaN;
  // The second reader gets events from before it joined late by design.
  const live = again.filter(({ number }) => (events[number - 1]?.at ?? 0) > here);
  if (live.length === 0) throw new Error(`A run on ${owner.target.origin} had ended before it could be joined`);
  return { delays: live.map(({ number, at }) => at - (events[number - 1]?.at ?? at)), joined: here - asked };
}

async function readPart(from: Open, run: RecordedRun, part: Part): Promise<void> {
  switch (part) {
    case 'run': {
      const answer = await from.client.request({ path: pathOf(run), method: 'GET', headers: headersOf(from) });
      let text = '';
      for await (const chunk of await answered(answer)) text += chunk.toString('latin1');
      if (!text.includes('"status":"completed"')) throw new Error(`A run that is not completed: ${text.slice(0, 200)}`);
      return;
    }
    case 'whole':
      mustAgree(run.events, await readAgain(from, run, 0));
      return;
    case 'half':
      mustAgree(run.events, await readAgain(from, run, Math.floor(run.events.length / 2)));
      return;
  }
}

async function readAgain(from: Open, run: RunName, after: number): Promise<ReadEvent[]> {
  const headers = { ...headersOf(from), ...(after === 0 ? {} : { 'last-event-id': String(after) }) };
  const answer = await from.client.request({ path: `${pathOf(run)}/stream`, method: 'GET', headers });
  return readEvents(await answered(answer), after);
}

function pathOf({ thread, id }: RunName): string {
  return `/v1/threads/${thread}/runs/${id}`;
}

function headersOf({ target }: Open): Record<string, string> {
  return { authorization: `Bearer ${target.key}` };
}

function runIdOf({ data }: ReadEvent): string {
  const id = (JSON.parse(data) as { readonly runId?: string }).runId;
  if (id === undefined) throw new Error(`The first event names no run: ${data.slice(0, 200)}`);
  return id;
}
