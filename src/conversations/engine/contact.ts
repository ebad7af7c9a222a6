/**
 * How long this process has been in contact with the database. Each heartbeat answers with the name of the contact,
 * which the database changes where it had received none for too long: an outage, a suspended process or machine, or a
 * clock that was set shows there, whether or not the process has noticed.
 */
export class Contact {
  private current: { readonly id: string; readonly since: number } | undefined;

  /** Its name in the database; null before the first heartbeat and after one that failed. */
  get id(): string | null {
    return this.current?.id ?? null;
  }

  /** @param time of this process, in milliseconds */
  heard(time: number, id: string): void {
    if (this.current?.id !== id) this.current = { id, since: time };
  }

  lost(): void {
    this.current = undefined;
  }

  /** Whether it has lasted for so long without a break. */
  lasted(time: number, seconds: number): boolean {
    return this.current !== undefined && time - this.current.since >= seconds * 1_000;
  }
}
