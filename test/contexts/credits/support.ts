import type { Answer, TestService } from '../../support/harness.js';
import { HeldReply, type ModelScript } from '../../support/scripted-models.js';
import type { Talk } from '../../support/talk.js';
import type { WireUsage } from '../../support/wire.js';

export interface PeriodView {
  readonly id: string;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly creditsUsed: number;
  readonly creditsIncluded: number | null;
}

export interface PeriodPage {
  readonly periods: readonly PeriodView[];
  readonly nextCursor: string | null;
}

export interface EntryView {
  readonly id: string;
  readonly createdAt: string;
  readonly thread_id: string;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly credits: number;
}

export interface EntryPage {
  readonly entries: readonly EntryView[];
  readonly nextCursor: string | null;
}

/** Output that costs this many tenths of a credit on the default model of Anthropic, and input that costs none. */
export function costs(tenths: number): ModelScript {
  return costing({ input: 0, output: tenths * 100 });
}

export function costing(usage: WireUsage): ModelScript {
  return (exchange, wire) => exchange.sendAll(wire.text(['ok'], usage));
}

/** Reports its input, streams text, and fails before it reports its output. */
export function breaksOffCosting(usage: WireUsage): ModelScript {
  return async (exchange, wire) => {
    for (const frame of wire.text(['ok'], usage).slice(0, -2)) await exchange.send(frame);
    exchange.reset();
  };
}

/** Streams a run whose model has reported `input` tokens, and cancels it after its text was read. */
export async function cancelAfterText(service: TestService, talk: Talk, input: number): Promise<void> {
  const held = new HeldReply(['All of the answer'], ['.'], { input, output: 5 });
  service.models.next(held.script);
  let runId = '';
  for await (const { event } of talk.stream('Hi')) {
    if (event.type === 'RUN_STARTED') runId = String(event['runId']);
    if (event.type === 'TEXT_MESSAGE_CONTENT')
      await service.http('POST', `${talk.path}/runs/${runId}/cancel`, { key: talk.key });
  }
  held.finish();
}

export function periods(service: TestService, key: string, query = ''): Promise<Answer<PeriodPage>> {
  return service.http<PeriodPage>('GET', `/v1/credits/usage/periods${query}`, { key });
}

export function entries(service: TestService, key: string, query = ''): Promise<Answer<EntryPage>> {
  return service.http<EntryPage>('GET', `/v1/credits/usage/entries${query}`, { key });
}

/** The credits used in the current month, as the period shows them. */
export async function used(service: TestService, key: string): Promise<number | undefined> {
  return (await periods(service, key)).body.periods[0]?.creditsUsed;
}
