import { type HostPace, HostSlots } from '../../src/knowledge/crawl/host-slots.js';
import { Robots, type RobotsRules } from '../../src/knowledge/crawl/robots.js';

/** Slots without end, which remember who asked. */
export class FreeSlots extends HostSlots {
  readonly heldBack: { readonly host: string; readonly ms: number }[] = [];
  readonly asked: { readonly host: string; readonly delayMs: number }[] = [];

  within<Result>(host: string, { delayMs }: HostPace, work: () => Promise<Result>): Promise<Result> {
    this.asked.push({ host, delayMs });
    return work();
  }

  holdBack(host: string, ms: number): Promise<void> {
    this.heldBack.push({ host, ms });
    return Promise.resolve();
  }

  pausesOf(): Promise<ReadonlyMap<string, number>> {
    return Promise.resolve(new Map());
  }

  /** Of a host that nobody lets time pass for. */
  knownPauseMs(host: string): number {
    return this.heldBack.findLast((pause) => pause.host === host)?.ms ?? 0;
  }
}

/** The same rules everywhere: none, unless a test says otherwise. */
export class SameRobots extends Robots {
  constructor(private readonly rules: Partial<RobotsRules> = {}) {
    super();
  }

  rulesOf(): Promise<RobotsRules> {
    return Promise.resolve({ allows: () => true, crawlDelayMs: 0, sitemaps: [], closed: null, ...this.rules });
  }
}
