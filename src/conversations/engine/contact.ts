import { CONTACT_GAP_SECONDS } from './limits.js';

/**
 * How long this process has been in contact with the database. Each heartbeat answers for how long the database had
 * received none before it: an outage, a suspended process or machine, or a clock that was set shows there, whether or
 * not the process has noticed.
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
