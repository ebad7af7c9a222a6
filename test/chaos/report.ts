import type { Generation } from './cluster/service.ts';
import type { Finding } from './findings.ts';

export interface Report {
  readonly seed: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly former: string | null;
  /** The folder of the logs, which stays where something was found. */
  readonly logs: string;
  readonly faults: Readonly<Record<string, number>>;
  readonly outages: readonly { readonly part: string; readonly what: string; readonly ms: number }[];
  readonly statuses: Readonly<Record<string, number>>;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly threads: number;
  readonly messages: number;
  readonly deletions: number;
  readonly documents: number;
  readonly crawls: number;
  readonly payments: number;
  readonly modelCalls: number;
  readonly webhooks: number;
  readonly cancelledAfterMs: readonly number[];
  readonly generations: readonly (Omit<Generation, 'samples'> & {
    readonly samples: number;
    readonly growthMiB: number | null;
  })[];
  readonly counts: Readonly<Record<string, number>>;
  readonly findings: readonly Finding[];
}

/** Characters of one finding's evidence, whose logs are lost with the machine that CI ran on. */
const TOLD = 6000;

function listOf(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).sort(([, one], [, other]) => other - one);
  return entries.map(([name, count]) => `${count} ${name}`).join(', ');
}

function highest(numbers: readonly number[]): string {
  return numbers.length === 0 ? 'none' : String(Math.max(...numbers));
}

/** What a person reads; the whole is in the JSON. */
export function summaryOf(report: Report): string {
  const ready = report.generations.flatMap(({ readyAfterMs, service }) =>
    readyAfterMs === null || !service.startsWith('api') ? [] : readyAfterMs,
  );
  const grown = report.generations.flatMap(({ growthMiB }) => growthMiB ?? []);
  const cancelled = report.cancelledAfterMs.toSorted((one, other) => one - other);
  return [
    `Chaos, seed ${report.seed}: ${report.minutes} minutes of faults, ${report.seconds} s in all`,
    `faults: ${listOf(report.faults)}`,
    `customers: ${report.messages} messages on ${report.threads} threads, ${report.deletions} of them deleted; runs: ${listOf(report.outcomes)}`,
    `also: ${report.documents} files, ${report.crawls} crawls, ${report.payments} payments, ${report.webhooks} webhook deliveries, ${report.modelCalls} calls of the model`,
    `answers: ${listOf(report.statuses)}`,
    `processes: ${report.generations.length} lives, ready after ${highest(ready)} ms at most, memory grown by ${highest(grown)} MiB at most (${grown.length} long lives)`,
    `cancelled from the other replica: after ${cancelled[Math.floor(cancelled.length / 2)] ?? '-'} ms (p50), ${cancelled.at(-1) ?? '-'} ms at most`,
    ...(report.findings.length === 0
      ? ['found: nothing']
      : [
          `FOUND: ${listOf(report.counts)}`,
          ...report.findings.map(
            ({ kind, at, text, evidence }) => `  ${at} ${kind}: ${text} ${JSON.stringify(evidence).slice(0, TOLD)}`,
          ),
          `logs: ${report.logs}`,
        ]),
  ].join('\n');
}
