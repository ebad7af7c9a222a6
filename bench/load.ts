/** A separate process: makes the runs that the bench orders, and reports how long they took. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Alternation, Hold, HoldResult, LoadOrder, LoadReply, Slice, SliceResult } from './load-orders.ts';
import { takeOrders } from './ordered-process.ts';
import { Rejoining } from './rejoining.ts';
import { type Open, takeThread, performRun } from './perform-run.ts';
import type { Target } from './targets.ts';

const MAX_AT_ONCE = 64;
const opened = new Map<string, Open>();
const rejoining = new Rejoining();

function open(name: string, target: Target): void {
  const client = new Pool(target.origin, { connections: MAX_AT_ONCE });
  opened.set(name, { target, client, free: [...target.threads] });
}

function find(name: string): Open {
  const found = opened.get(name);
  if (!found) throw new Error(`No target ${name}`);
  return found;
}

/** Keeps a fixed number of runs active until the time or the number of runs is reached, and waits for the last ones. */
async function runSlice(slice: Slice): Promise<SliceResult> {
  const on = find(slice.target);
  const firstTokens: number[] = [];
  const latencies: number[] = [];
  const began = performance.now();
  const until = began + slice.seconds * 1000;
  let started = 0;
  // Slow replies that start together would end together, and the next ones would start in bursts.
  const stagger = ((slice.script.writes - 1) * slice.script.everyMs) / slice.concurrency;
  const worker = async (_: unknown, index: number): Promise<void> => {
    await sleep(index * stagger);
    while (started < slice.maxRuns && performance.now() < until) {
      started += 1;
      const thread = takeThread(on);
      const times = await performRun(on.client, on.target, { form: slice.form, thread, script: slice.script });
      on.free.push(thread);
      firstTokens.push(times.firstToken);
      latencies.push(times.whole);
    }
  };
  await Promise.all(Array.from({ length: slice.concurrency }, worker));
  return { seconds: (performance.now() - began) / 1000, latencies, firstTokens };
}

/** Each round has one run of each lane, and starts with another lane. */
async function alternate({ lanes, rounds }: Alternation): Promise<number[][]> {
  const taken = lanes.map(({ target, script }) => ({ on: find(target), script, latencies: [] as number[] }));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % taken.length;
    for (const { on, script, latencies } of [...taken.slice(first), ...taken.slice(0, first)]) {
      const thread = takeThread(on);
      latencies.push((await performRun(on.client, on.target, { form: 'waiting', thread, script })).whole);
      on.free.push(thread);
    }
  }
  return taken.map(({ latencies }) => latencies);
}

/** Opens the streams, a few at a time, and holds all of them until they have ended. */
async function hold({ target: name, streams, openAtOnce, script }: Hold): Promise<HoldResult> {
  const { target, client: kept, free } = find(name);
  if (streams > free.length) throw new Error(`More streams than threads: ${streams} of ${free.length}`);
  // Idle connections would count as sockets of the service.
  await kept.close();
  const client = new Pool(target.origin, { connections: streams, headersTimeout: 0, bodyTimeout: 0 });
  const lost: string[] = [];
  const times = { allOpen: 0, firstEnd: 0 };
  let openNow = 0;
  let peakOpen = 0;
  const hold = async (thread: string, onOpen: () => void): Promise<void> => {
    try {
      await performRun(client, target, { form: 'streamed', thread, script }, () => {
        openNow += 1;
        peakOpen = Math.max(peakOpen, openNow);
        if (openNow === streams) times.allOpen = Date.now();
        onOpen();
      });
      openNow -= 1;
    } catch (error) {
      lost.push(String(error));
      onOpen();
    }
    if (times.firstEnd === 0) times.firstEnd = Date.now();
  };
  const ended: Promise<void>[] = [];
  const waiting = free.splice(0, streams);
  const opener = async (): Promise<void> => {
    for (let thread = waiting.shift(); thread !== undefined; thread = waiting.shift()) {
      const next = thread;
      await new Promise<void>((resolve) => {
        ended.push(hold(next, resolve));
      });
    }
  };
  await Promise.all(Array.from({ length: openAtOnce }, opener));
  await Promise.all(ended);
  await client.close();
  opened.set(name, {
    target,
    client: new Pool(target.origin, { connections: MAX_AT_ONCE }),
    free: [...target.threads],
  });
  return { lost, peakOpen, allOpenAt: times.allOpen, firstEndAt: times.firstEnd };
}

async function obey(order: LoadOrder): Promise<LoadReply> {
  switch (order.kind) {
    case 'open':
      open(order.name, order.target);
      return { kind: 'opened' };
    case 'slice':
      return { kind: 'slice', result: await runSlice(order) };
    case 'alternate':
      return { kind: 'alternate', result: await alternate(order) };
    case 'hold':
      return { kind: 'hold', result: await hold(order) };
    case 'record':
      return { kind: 'record', result: await rejoining.record(find(order.target), find(order.other), order) };
    case 'read':
      return { kind: 'slice', result: await rejoining.read(find(order.target), order) };
    case 'follow':
      return { kind: 'follow', result: await rejoining.follow(find(order.target), find(order.joinedOn), order) };
  }
}

takeOrders(obey);
