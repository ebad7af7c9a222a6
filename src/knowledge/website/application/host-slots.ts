/** Right to send requests to one host. */
export interface HostSlot {
  /** Of the slots of the host, for the log. */
  readonly number: number;
}

export interface HostPace {
  /** Least time between two requests to the host; 0 for none. */
  readonly delayMs: number;
  /** Nothing is waited for where the host wants a pause first. */
  readonly inTurnOnly?: boolean;
}

/** It is not the host's turn: whoever wants something else done meanwhile comes back later. */
export class HostPaused extends Error {}

/**
 * At most 4 requests at a time go to one host, whichever agents ask and in whatever process. Claims are rows with a
 * lease, so that nothing is held while the network is waited for, and a dead process's slot is free again.
 */
export abstract class HostSlots {
  /**
   * Runs `work` once a slot is free and the host's pace allows it.
   * @param host `example.com:443`
   * @throws what `work` throws; HostPaused; the reason of `signal` when it aborts first
   */
  abstract within<Result>(host: string, pace: HostPace, work: () => Promise<Result>, signal: AbortSignal): Promise<Result>;

  /** A server has asked for a pause: for everybody, in whatever process. */
  abstract holdBack(host: string, ms: number): Promise<void>;

  /** For how long each of the hosts is to be left alone, in ms; those that may be asked are left out. */
  abstract pausesOf(hosts: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /** The same of one host, as far as this process has heard of it. */
  abstract knownPauseMs(host: string): number;
}
