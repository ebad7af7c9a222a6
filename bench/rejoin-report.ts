import type { Spread } from './figures.ts';
import type { Part } from './load-orders.ts';
import type { RejoinResult } from './rejoin.ts';
import { table } from './table.ts';

const PARTS: Readonly<Record<Part, string>> = {
  run: 'the run itself',
  whole: 'its events from 0',
  half: 'its events from the middle',
};

export function rejoinText(result: RejoinResult, spread: (of: Spread) => string): string {
  return [endedTable(result, spread), originals(result), followTable(result)].join('\n\n');
}

function endedTable({ reads }: RejoinResult, spread: (of: Spread) => string): string {
  return table(
    [
      'Read of an ended run',
      'Replica',
      'At a time',
      'Reads/s',
      'p50 ms',
      'p99 ms',
      'CPU ms a read',
      "PostgreSQL's",
      'p50 / the run itself',
    ],
    reads.map((line) => [
      PARTS[line.part],
      line.replica,
      line.concurrency,
      line.perSecond.toFixed(0),
      line.p50Ms.toFixed(1),
      line.p99Ms.toFixed(1),
      line.processorMsPerRead.toFixed(2),
      line.databaseMsPerRead?.toFixed(2) ?? '-',
      line.part === 'run' ? '' : spread(line.toReadingTheRun),
    ]),
  );
}

function originals({ runs, events, original, atOnce }: RejoinResult): string {
  return table(
    [`${runs} runs of ${events} events, one after the other`, 'p50 ms', 'p99 ms'],
    [
      ["the run's own stream, from the request to its end", original.p50Ms.toFixed(1), original.p99Ms.toFixed(1)],
      ['read again on another replica, begun at that end', atOnce.p50Ms.toFixed(1), atOnce.p99Ms.toFixed(1)],
    ],
  );
}

function followTable({ followed }: RejoinResult): string {
  return table(
    [
      'Run under way, joined on',
      'Runs',
      'At a time',
      'Events compared',
      'Behind the first reader p50 ms',
      'p99 ms',
      'First event after joining p50 ms',
      'p99 ms',
    ],
    followed.map((line) => [
      `${line.replica} replica`,
      line.runs,
      line.concurrency,
      line.events,
      line.delay.p50Ms.toFixed(2),
      line.delay.p99Ms.toFixed(2),
      line.joined.p50Ms.toFixed(2),
      line.joined.p99Ms.toFixed(2),
    ]),
  );
}
