import type { Spread } from './figures.ts';
import type { CostKind, GrowthFigures } from './growth.ts';
import { table } from './table.ts';

const COSTS: Readonly<Record<CostKind, string>> = {
  p50: 'p50 latency',
  processor: 'CPU',
  withDatabase: "CPU with PostgreSQL's",
};

export function growthText(lines: readonly GrowthFigures[], spread: (of: Spread) => string): string {
  return [costTable(lines), multiplesTable(lines, spread), firstTable(lines), ...leftOut(lines)].join('\n\n');
}

/** The same for each concurrency, so the first is enough. */
function firstTable(lines: readonly GrowthFigures[]): string {
  const [{ concurrency } = { concurrency: 0 }] = lines;
  return table(
    ['First run on a thread of', 'p50 ms at 16 at a time', 'CPU ms', "PostgreSQL's"],
    lines
      .filter((line) => line.concurrency === concurrency)
      .map(({ messages, first }) => [
        messages,
        first.p50Ms.toFixed(1),
        first.processorMsPerRun.toFixed(2),
        first.databaseMsPerRun?.toFixed(2) ?? '-',
      ]),
  );
}

function costTable(lines: readonly GrowthFigures[]): string {
  return table(
    [
      'Messages',
      'At a time',
      'Runs',
      'Sent',
      'KiB sent a run',
      'p50 ms',
      'CPU ms a run',
      "PostgreSQL's",
      'Input alone: p50 ms',
      'CPU ms a run',
    ],
    lines.map((line) => [
      line.messages,
      line.concurrency,
      line.runs,
      line.sentMessages,
      (line.upstreamBytesPerRun / 1024).toFixed(1),
      line.p50Ms.toFixed(1),
      line.processorMsPerRun.toFixed(2),
      line.databaseMsPerRun?.toFixed(2) ?? '-',
      line.input.p50Ms.toFixed(1),
      line.input.processorMsPerRun.toFixed(2),
    ]),
  );
}

function multiplesTable(lines: readonly GrowthFigures[], spread: (of: Spread) => string): string {
  const smallest = Math.min(...lines.map(({ messages }) => messages));
  return table(
    [`By ${smallest} messages`, 'At a time', 'Cost of a run', 'Service', 'Input alone', 'Net'],
    lines
      .filter(({ messages }) => messages > smallest)
      .flatMap(({ messages, concurrency, growth }) =>
        (Object.keys(COSTS) as CostKind[]).map((kind) => {
          const of = growth[kind];
          const figures = of ? [of.raw, of.input, of.net].map(spread) : ['-', '-', '-'];
          return [messages, concurrency, COSTS[kind], ...figures];
        }),
      ),
  );
}

function leftOut(lines: readonly GrowthFigures[]): string[] {
  const cut = lines.find(({ messages, sentMessages }) => sentMessages < messages);
  if (!cut) return [];
  return [
    `Of ${cut.messages} messages the newest ${cut.sentMessages - 1} were sent (and the run's own): the older ones are more than the model is given.`,
  ];
}
