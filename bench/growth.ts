import { median, percentile, round, type Spread, spreadOf, sum } from './figures.ts';
import type { LoadClient } from './load-client.ts';
import { databaseMsPerRun, measureRound, type Place, type Round } from './measure.ts';
import type { OrderedProcess } from './ordered-process.ts';
import type { Growth } from './plan.ts';
import { INSTANT } from './script.ts';
import type { HistoryMessage, SdkOrder, SdkReply } from './sdk-orders.ts';

/** The cost of one run, in milliseconds. */
interface Cost {
  readonly p50: number;
  readonly processor: number;
  readonly withDatabase: number | null;
}
export type CostKind = keyof Cost;

/** The results for one thread size at one concurrency. */
export interface GrowthFigures {
  readonly messages: number;
  readonly concurrency: number;
  readonly runs: number;
  /** Messages in the last request to the upstream, including the new one; older messages did not fit. */
  readonly sentMessages: number;
  readonly upstreamBytesPerRun: number;
  readonly p50Ms: number;
  readonly processorMsPerRun: number;
  readonly databaseMsPerRun: number | null;
  /** The same request, sent to the upstream by the provider's official client. */
  readonly input: { readonly p50Ms: number; readonly processorMsPerRun: number };
  /** A run on a thread that the process has not used since its start. */
  readonly first: {
    readonly p50Ms: number;
    readonly processorMsPerRun: number;
    readonly databaseMsPerRun: number | null;
  };
  /** Relative to the smallest threads of the same round. */
  readonly growth: Readonly<
    Record<CostKind, { readonly raw: Spread; readonly input: Spread; readonly net: Spread } | null>
  >;
}

/** One round: the cost of the service, and then that of the input alone. */
interface GrowthRound {
  readonly service: Round;
  readonly input: Round;
  readonly sentMessages: number;
  readonly bytes: number;
}

export interface GrowthPlaces {
  readonly load: LoadClient;
  readonly sdk: OrderedProcess<SdkOrder, SdkReply>;
  readonly upstreamOrigin: string;
  /** Targets of the service, by number of messages in the threads. */
  readonly service: ReadonlyMap<number, Place>;
}

export async function measureGrowth(
  places: GrowthPlaces,
  { sizes, concurrencies, rounds, warmUpSeconds, ...limits }: Growth,
  writeLine: (line: string) => void,
): Promise<GrowthFigures[]> {
  const figures: GrowthFigures[] = [];
  writeLine('warming up');
  const [{ messages: few, threads: many } = { messages: 0, threads: 0 }] = sizes;
  await measureOnce(places, few, { concurrency: 16, seconds: warmUpSeconds, maxRuns: many / 2 });
  writeLine('first runs');
  const firsts = new Map<number, Round>();
  for (const { messages, threads } of sizes) {
    const limits = { concurrency: 16, seconds: FIRST_RUNS_SECONDS, maxRuns: messages === few ? threads / 2 : threads };
    firsts.set(messages, (await measureService(places, messages, limits)).service);
  }
  for (const concurrency of concurrencies) {
    const measured = new Map<number, GrowthRound[]>(sizes.map(({ messages }) => [messages, []]));
    writeLine(`${concurrency} at a time`);
    for (let number = 0; number < rounds; number += 1) {
      for (const [messages, of] of measured) of.push(await measureOnce(places, messages, { ...limits, concurrency }));
    }
    const [smallest = []] = measured.values();
    for (const [messages, of] of measured) {
      figures.push({ ...figuresOf(messages, concurrency, of, smallest), first: firstOf(firsts.get(messages)) });
    }
  }
  return figures;
}

/** A thread with so many short messages is sent whole. */
const SENT_WHOLE = 2_000;
/** Of a longer one, at least so many: the service cuts more than it must, so that several runs begin with the same message. */
const LEAST_AFTER_CUT = 1_500;
/** Longer than one run on every thread takes. */
const FIRST_RUNS_SECONDS = 60;

type Limits = Pick<SdkOrder, 'concurrency' | 'seconds' | 'maxRuns'>;

async function measureOnce(places: GrowthPlaces, messages: number, limits: Limits): Promise<GrowthRound> {
  const measured = await measureService(places, messages, limits);
  const { sdk } = places;
  // This request adds nothing to a thread. More requests measure its small cost more precisely.
  const send = { kind: 'send', messages: measured.said, ...limits, maxRuns: Infinity } as const;
  const input = await measureRound(
    { pid: sdk.pid, database: undefined },
    async () => (await sdk.order(send, 'sent')).result,
  );
  return { ...measured, input };
}

type Measured = Omit<GrowthRound, 'input'> & { readonly said: HistoryMessage[] };

async function measureService(places: GrowthPlaces, messages: number, limits: Limits): Promise<Measured> {
  const place = places.service.get(messages);
  if (!place) throw new Error(`No threads of ${messages} messages`);
  const { load, upstreamOrigin } = places;
  const before = await receivedBy(upstreamOrigin);
  const service = await measureRound(place, () =>
    load.slice({ target: place.name, form: 'waiting', script: INSTANT, ...limits }),
  );
  const after = await receivedBy(upstreamOrigin);
  const runs = service.latencies.length;
  if (after.requests - before.requests !== runs) {
    throw new Error(`The upstream got ${after.requests - before.requests} requests in ${runs} runs`);
  }
  const said = saidIn(after.last);
  // A thread whose history was not read would look cheap.
  if (said.length < (messages <= SENT_WHOLE ? messages : LEAST_AFTER_CUT) + 1) {
    throw new Error(`The upstream got ${said.length} messages of a thread of ${messages}`);
  }
  return { service, said, sentMessages: said.length, bytes: after.bytes - before.bytes };
}

interface Received {
  readonly requests: number;
  readonly bytes: number;
  readonly last: string;
}

async function receivedBy(upstreamOrigin: string): Promise<Received> {
  return (await (await fetch(upstreamOrigin)).json()) as Received;
}

/** The messages of a request in Anthropic's protocol. */
function saidIn(body: string): HistoryMessage[] {
  const request = JSON.parse(body) as {
    readonly messages: readonly {
      readonly role: HistoryMessage['role'];
      readonly content: string | readonly { readonly text: string }[];
    }[];
  };
  return request.messages.map(({ role, content }) => ({
    role,
    text: typeof content === 'string' ? content : content.map(({ text }) => text).join(''),
  }));
}

function figuresOf(
  messages: number,
  concurrency: number,
  rounds: readonly GrowthRound[],
  smallest: readonly GrowthRound[],
): Omit<GrowthFigures, 'first'> {
  const service = rounds.map((round) => round.service);
  const runs = sum(service.map(({ latencies }) => latencies.length));
  const input = rounds.map((round) => round.input);
  return {
    messages,
    concurrency,
    runs,
    sentMessages: rounds.at(-1)?.sentMessages ?? 0,
    upstreamBytesPerRun: round(sum(rounds.map(({ bytes }) => bytes)) / runs, 0),
    p50Ms: p50Of(service),
    processorMsPerRun: processorMsOf(service),
    databaseMsPerRun: databaseMsPerRun(service),
    input: { p50Ms: p50Of(input), processorMsPerRun: processorMsOf(input) },
    growth: {
      p50: growthOf('p50', rounds, smallest),
      processor: growthOf('processor', rounds, smallest),
      withDatabase: growthOf('withDatabase', rounds, smallest),
    },
  };
}

function firstOf(round: Round | undefined): GrowthFigures['first'] {
  const rounds = round ? [round] : [];
  return { p50Ms: p50Of(rounds), processorMsPerRun: processorMsOf(rounds), databaseMsPerRun: databaseMsPerRun(rounds) };
}

function p50Of(rounds: readonly Round[]): number {
  return round(
    percentile(
      rounds.flatMap(({ latencies }) => latencies),
      0.5,
    ),
    2,
  );
}

function processorMsOf(rounds: readonly Round[]): number {
  const runs = sum(rounds.map(({ latencies }) => latencies.length));
  return round(sum(rounds.map(({ processorMs }) => processorMs)) / runs, 2);
}

function costOf({ latencies, processorMs, databaseMs }: Round): Cost {
  const runs = latencies.length;
  return {
    p50: median(latencies),
    processor: processorMs / runs,
    withDatabase: databaseMs === null ? null : (processorMs + databaseMs) / runs,
  };
}

function growthOf(
  kind: CostKind,
  rounds: readonly GrowthRound[],
  smallest: readonly GrowthRound[],
): GrowthFigures['growth'][CostKind] {
  const costs = (of: readonly GrowthRound[]): { raw: number; input: number }[] =>
    of.flatMap(({ service, input }) => {
      const raw = costOf(service)[kind];
      // The input alone needs no database.
      const alone = costOf(input)[kind === 'withDatabase' ? 'processor' : kind];
      return raw === null ? [] : [{ raw, input: alone }];
    });
  const base = costs(smallest);
  const large = costs(rounds);
  if (large.length < rounds.length) return null;
  const spread = (cost: (of: { raw: number; input: number }) => number): Spread =>
    spreadOf(large.map((of, index) => cost(of) / cost(base[index] ?? { raw: Number.NaN, input: Number.NaN })));
  return { raw: spread(({ raw }) => raw), input: spread((of) => of.input), net: spread((of) => of.raw - of.input) };
}
