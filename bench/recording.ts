/** Measures the cost of the run observers for the process that ends a run: the rows of trace and credits, the events for webhooks, the metrics, the log line. */
import { createWriteStream } from 'node:fs';
import { Registry } from 'prom-client';
import type { FinishedRun, RunObserver } from '../src/conversations/index.ts';
import type * as Recording from '../src/observability/application/record-trace.ts';
import type * as Logging from '../src/observability/application/log-runs.ts';
import type * as Measuring from '../src/observability/application/run-metrics.ts';
import type * as Crediting from '../src/credits/application/record-usage.ts';
import type * as Webhooks from '../src/webhooks/application/record-run-events.ts';
import type * as MetricsModule from '../src/platform/metrics/index.ts';
import type * as Telemetry from '../src/platform/telemetry/index.ts';
import { median, round } from './figures.ts';

export interface RecordingFigures {
  readonly observer: string;
  /** Processor time of a run. */
  readonly microseconds: number;
}

const RUNS = 20_000;
const ROUNDS = 5;

export async function measureRecording(): Promise<RecordingFigures[]> {
  const observers = await observersOf();
  return observers.map((observer) => {
    for (let round = 0; round < 2; round += 1) microsecondsOf(observer);
    return {
      observer: observer.constructor.name,
      microseconds: round(median(Array.from({ length: ROUNDS }, () => microsecondsOf(observer))), 1),
    };
  });
}

async function observersOf(): Promise<RunObserver[]> {
  const { RecordTrace } = await built<typeof Recording>('observability/application/record-trace.js');
  const { LogRuns } = await built<typeof Logging>('observability/application/log-runs.js');
  const { RunMetrics } = await built<typeof Measuring>('observability/application/run-metrics.js');
  const { RecordUsage } = await built<typeof Crediting>('credits/application/record-usage.js');
  const { RecordRunEvents } = await built<typeof Webhooks>('webhooks/application/record-run-events.js');
  const { Metrics } = await built<typeof MetricsModule>('platform/metrics/index.js');
  const { createLogger } = await built<typeof Telemetry>('platform/telemetry/index.js');
  const logger = createLogger({ logLevel: 'info' }, createWriteStream('/dev/null'));
  const stored = [new RecordTrace(), new RecordUsage(), new RecordRunEvents({ mayWant: () => true })];
  return [...stored, new RunMetrics(new Metrics(new Registry())), new LogRuns(logger)];
}

async function built<Exports>(path: string): Promise<Exports> {
  return (await import(new URL(`../dist/${path}`, import.meta.url).href)) as Exports;
}

function microsecondsOf(observer: RunObserver): number {
  const { user, system } = process.cpuUsage();
  for (let count = 0; count < RUNS; count += 1) {
    observer.record(FINISHED);
    observer.ended(FINISHED);
  }
  const spent = process.cpuUsage();
  return (spent.user + spent.system - user - system) / RUNS;
}

const ID = '019a0000-0000-7000-8000-000000000000';
const STARTED = new Date('2026-11-01T12:00:00Z');
const STEP = {
  id: ID,
  startedAt: STARTED,
  latencyMs: 40,
  error: null,
  usage: { inputTokens: 900, outputTokens: 120, cachedInputTokens: 640 },
};

/** A run with two model calls and one tool call. */
const FINISHED: FinishedRun = {
  run: {
    ...{
      id: ID,
      organizationId: ID,
      threadId: ID,
      agentId: ID,
      status: 'completed',
      createdAt: STARTED,
      completedAt: STARTED,
      error: null,
      approvals: [],
    },
    usage: { inputTokens: 1_800, outputTokens: 240, totalTokens: 2_040, cachedInputTokens: 1_280, credits: 0.78 },
  },
  failureCause: null,
  agent: { provider: 'anthropic', model: 'claude', useOwnApiKey: false },
  channel: 'api',
  userMessage: { id: ID, text: 'How do I change a tyre? '.repeat(10) },
  decisions: null,
  message: {
    ...{
      id: ID,
      threadId: ID,
      runId: ID,
      role: 'assistant',
      content: 'Lift the car. '.repeat(40),
      status: 'completed',
    },
    ...{ blocked: false, reaction: null, toolCalls: [], components: [], transcript: [], createdAt: STARTED },
  },
  userContext: { userId: 'user-1', plan: 'free' },
  userKey: ID,
  callerSpan: null,
  steps: [
    {
      ...STEP,
      type: 'model',
      name: 'claude',
      input: { last: 'How do I change a tyre?' },
      output: { text: '', toolCalls: [{ id: 'c', name: 'search', input: { query: 'tyre' } }] },
    },
    { ...STEP, type: 'tool', name: 'search', input: { query: 'tyre' }, output: 'A page about tyres. '.repeat(20) },
    {
      ...STEP,
      type: 'model',
      name: 'claude',
      input: { last: 'A page about tyres.' },
      output: { text: 'Lift the car. '.repeat(40), toolCalls: [] },
    },
  ],
  latencyMs: 1_200,
  timeToFirstTokenMs: 400,
};
