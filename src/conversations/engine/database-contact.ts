/**
 * How long this process has been in contact with the database. Each heartbeat returns the contact's id, which the
 * database changes when the previous heartbeat was too long ago. So an outage, a suspended process or a changed clock
 * shows, even when the process has not noticed it.
 */
export class DatabaseContact {
  private current: { readonly id: string; readonly since: number } | undefined;

  /** Null before the first heartbeat and after a failed one. */
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

  /** Whether the contact has lasted for so long without a break. */
  lasted(time: number, seconds: number): boolean {
    return this.current !== undefined && time - this.current.since >= seconds * 1_000;
  }
}
