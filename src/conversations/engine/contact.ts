import { CONTACT_GAP_SECONDS } from './limits.js';

/**
 * How long a process and its database have been hearing of each other. The database tells after each heartbeat how
 * long it had not heard of the process: what was missed (an outage, a process or a machine that stood still, a clock
 * that was set) shows there, whatever the process itself has noticed.
 */
export class Contact {
  private since: number | undefined;

  /**
   * @param time of this process, in milliseconds
   * @param silentSeconds before this heartbeat; null when the database did not know the process
   */
  heard(time: number, silentSeconds: number | null): void {
    const goesOn = silentSeconds !== null && Math.abs(silentSeconds) <= CONTACT_GAP_SECONDS;
    this.since = goesOn ? (this.since ?? time) : time;
  }

  lost(): void {
    this.since = undefined;
  }

  /** Whether it has lasted for so long without a break. */
  lasted(time: number, seconds: number): boolean {
    return this.since !== undefined && time - this.since >= seconds * 1_000;
  }
}
