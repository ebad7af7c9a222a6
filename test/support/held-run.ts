import type { Exchange } from './fake-upstream.js';
import { type Answer, type StreamedEvent, type TestService, until } from './harness.js';
import { HeldReply } from './scripted-models.js';
import { type RunResult, Talk, textOf } from './talk.js';

/** A run that waits for its model, which has sent the first part of its reply. */
export interface HeldRun<Running> {
  readonly talk: Talk;
  readonly held: HeldReply;
  /** What the caller of the run gets. */
  readonly running: Running;
  readonly asked: Exchange;
}

/** @param send starts the run, in a new thread */
export async function heldRequest<Running>(
  service: TestService,
  send: (talk: Talk) => Running,
  held = new HeldReply(['Half'], [' and half']),
): Promise<HeldRun<Running>> {
  const talk = await Talk.start(service);
  service.models.next(held.script);
  const running = send(talk);
  return { talk, held, running, asked: await held.asked };
}

/** A run whose caller waits for its end. */
export function heldRun(service: TestService): Promise<HeldRun<Promise<Answer<RunResult>>>> {
  return heldRequest(service, (talk) => talk.run('Hi'));
}

/** A run whose caller has read the first part of the reply. */
export async function heldStream(
  service: TestService,
  held?: HeldReply,
): Promise<HeldRun<Promise<StreamedEvent[]>> & { readonly runId: string }> {
  const events: StreamedEvent[] = [];
  const read = async (talk: Talk): Promise<StreamedEvent[]> => {
    for await (const event of talk.stream('Hi')) events.push(event);
    return events;
  };
  const run = await heldRequest(service, read, held);
  await until(() => textOf(events) === run.held.before.join(''), 'the caller has read the first part');
  return { ...run, runId: String(events[0]?.event['runId']) };
}
