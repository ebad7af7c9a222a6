import { INSTANT, type ReplyScript } from './script.ts';
import type { TargetKind, TurnForm } from './targets.ts';

/** One line of the throughput table: the same load on each of some targets. */
export interface Cell {
  readonly form: TurnForm;
  readonly concurrency: number;
  readonly script: ReplyScript;
  /** How long a round lasts on each target. */
  readonly seconds: number;
  readonly rounds: number;
}

export interface Pass {
  readonly targets: readonly TargetKind[];
  readonly warmUpSeconds: number;
  readonly throughput: readonly Cell[];
  readonly firstToken: readonly Cell[];
  readonly holds: readonly { readonly streams: number; readonly script: ReplyScript }[];
  /** Threads of the service and of the bare server; turns rotate over them. */
  readonly threads: number;
}

export interface Plan {
  readonly postgres: Pass;
  readonly embedded: Pass | null;
}

/** Turns of one round on the service at most: bounds how many agents are needed to stay below their limits. */
export const MOST_TURNS_A_ROUND = 1200;

function throughput(concurrencies: readonly number[], seconds: number, rounds: number): Cell[] {
  const forms: readonly TurnForm[] = ['waiting', 'streamed'];
  return forms.flatMap((form) =>
    concurrencies.map((concurrency) => ({ form, concurrency, script: INSTANT, seconds, rounds })),
  );
}

/** The first token comes at once and the rest later, so that finishing one turn does not delay the start of another. */
function firstToken(seconds: number, rounds: number): Cell[] {
  const cell = (concurrency: number, everyMs: number): Cell => ({
    form: 'streamed',
    concurrency,
    script: { writes: 2, everyMs },
    seconds,
    rounds,
  });
  return [cell(1, 20), cell(16, 200)];
}

/** Streams must last longer than it takes to open all of them. */
const SLOW = { few: { writes: 20, everyMs: 500 }, many: { writes: 20, everyMs: 1100 } };
/** Opening them takes the embedded database longer. */
const SLOW_EMBEDDED = { writes: 20, everyMs: 800 };

const FULL: Plan = {
  postgres: {
    targets: ['direct', 'bare', 'service'],
    warmUpSeconds: 2,
    throughput: throughput([1, 16, 64], 1.2, 3),
    firstToken: firstToken(1.5, 3),
    holds: [
      { streams: 500, script: SLOW.few },
      { streams: 2000, script: SLOW.many },
    ],
    threads: 2000,
  },
  embedded: {
    targets: ['bare', 'service'],
    warmUpSeconds: 2,
    throughput: throughput([1, 64], 1.5, 1),
    firstToken: firstToken(1.5, 1),
    holds: [{ streams: 500, script: SLOW_EMBEDDED }],
    threads: 500,
  },
};

const QUICK: Plan = {
  postgres: {
    targets: ['direct', 'bare', 'service'],
    warmUpSeconds: 1,
    throughput: throughput([1, 64], 1, 1),
    firstToken: firstToken(1, 1),
    holds: [{ streams: 500, script: { writes: 20, everyMs: 300 } }],
    threads: 500,
  },
  embedded: null,
};

export function planFor(options: { readonly quick: boolean }): Plan {
  return options.quick ? QUICK : FULL;
}

/** Turns that a pass can take on the service at most. */
export function mostTurns({ throughput: cells, firstToken: firsts, holds, warmUpSeconds }: Pass): number {
  const rounds = [...cells, ...firsts].reduce((total, { rounds }) => total + rounds, 0);
  const held = holds.reduce((total, { streams }) => total + streams, 0);
  return rounds * MOST_TURNS_A_ROUND + held + (warmUpSeconds > 0 ? 2 * MOST_TURNS_A_ROUND : 0);
}
