import { type HostPace, HostPaused, HostSlots } from '../../src/knowledge/website/application/host-slots.js';
import { Robots, type RobotsRules } from '../../src/knowledge/website/application/robots.js';

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

/** Of hosts that want a pause after each request, which a test grants; who asks to wait for it has it granted. */
export class PacedSlots extends FreeSlots {
  private isFree = true;

  override async within<Result>(host: string, pace: HostPace, work: () => Promise<Result>): Promise<Result> {
    if (pace.delayMs === 0) return work();
    if (!this.isFree && pace.inTurnOnly === true) throw new HostPaused();
    this.isFree = false;
    return super.within(host, pace, work);
  }

  passPause(): void {
    this.isFree = true;
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
