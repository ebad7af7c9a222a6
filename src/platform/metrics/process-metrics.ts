import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Clock } from '../clock/index.js';
import { EventLoopDelay } from './event-loop-delay.js';
import { OTHER } from './metrics.js';

const GC_KINDS: ReadonlyMap<number | undefined, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);
const GC_BUCKETS = [0.001, 0.01, 0.1, 1, 2, 5];

/**
 * Memory, processor, garbage collection and event loop of the process, under the names that dashboards for Node use.
 * prom-client's own collectors cannot be stopped: their observers would outlive every service in the process.
 */
@Injectable()
export class ProcessMetrics implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly delay: EventLoopDelay;
  private readonly collections: PerformanceObserver;

  constructor(
    private readonly registry: Registry,
    clock: Clock,
  ) {
    this.delay = new EventLoopDelay(clock);
    this.collections = this.observeCollections();
    this.countProcessor();
    for (const [name, help, read] of this.gauges()) {
      const gauge: Gauge = new Gauge({ name, help, registers: [registry], collect: () => gauge.set(read()) });
    }
  }

  onApplicationBootstrap(): void {
    this.delay.start();
    this.collections.observe({ entryTypes: ['gc'] });
  }

  onApplicationShutdown(): void {
    this.delay.stop();
    this.collections.disconnect();
  }

  private gauges(): readonly (readonly [name: string, help: string, read: () => number])[] {
    const memory = process.memoryUsage;
    return [
      [
        'process_start_time_seconds',
        'When the process started, in seconds since 1970.',
        () => performance.timeOrigin / 1e3,
      ],
      ['process_resident_memory_bytes', 'Memory of the process that is in RAM.', () => memory.rss()],
      ['nodejs_heap_size_total_bytes', 'Size of the JavaScript heap.', () => memory().heapTotal],
      ['nodejs_heap_size_used_bytes', 'The part of the JavaScript heap that is in use.', () => memory().heapUsed],
      ['nodejs_external_memory_bytes', 'Memory outside the heap that objects hold.', () => memory().external],
      [
        'nodejs_eventloop_lag_p99_seconds',
        'Delay of the event loop, 99th percentile of at least the last minute.',
        () => this.delay.read().p99,
      ],
      [
        'nodejs_eventloop_lag_max_seconds',
        'Longest delay of the event loop in at least the last minute.',
        () => this.delay.read().max,
      ],
    ];
  }

  private countProcessor(): void {
    const counter: Counter = new Counter({
      name: 'process_cpu_seconds_total',
      help: 'Processor time of the process, in its own code and in the system.',
      registers: [this.registry],
      collect: () => {
        const { user, system } = process.cpuUsage();
        counter.reset();
        counter.inc((user + system) / 1e6);
      },
    });
  }

  private observeCollections(): PerformanceObserver {
    const durations = new Histogram({
      name: 'nodejs_gc_duration_seconds',
      help: 'How long garbage collections took, by kind.',
      labelNames: ['kind'],
      buckets: GC_BUCKETS,
      registers: [this.registry],
    });
    return new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) durations.observe({ kind: kindOf(entry) }, entry.duration / 1e3);
    });
  }
}

function kindOf(entry: PerformanceEntry & { readonly detail?: NodeGCPerformanceDetail }): string {
  return GC_KINDS.get(entry.detail?.kind) ?? OTHER;
}
