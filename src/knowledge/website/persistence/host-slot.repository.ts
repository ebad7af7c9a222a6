import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/index.js';
import {
  CLAIM_SLOTS, CLAIM_TURN, FORGET_HOSTS, HOLD_BACK, PAUSES, RELEASE_ALL, RELEASE_SLOTS, RELEASE_TURN, RENEW_SLOTS,
} from './host-slots.sql.js';

export interface ClaimedTurn {
  readonly claimed: boolean;
  /** Where it was not claimed: until the host's pause is over, as far as it is known. */
  readonly waitMs: number;
}

export interface RenewedSlots {
  readonly slots: readonly number[];
  /** Another process holds none and waits. */
  readonly wanted: boolean;
}

/** Claims of hosts' slots, shared by all processes. Each call is one statement; times are durations, counted by the database's clock. */
@Injectable()
export class HostSlotRepository {
  constructor(private readonly database: Database) {}

  /** @returns the slots that were claimed, at most as many as `wanted` */
  async claim(
    host: string,
    holder: string,
    claim: { readonly slots: number; readonly wanted: number; readonly leaseMs: number; readonly holdsNone: boolean },
  ): Promise<number[]> {
    const { slots, wanted, holdsNone } = claim;
    const rows = await CLAIM_SLOTS.run<{ slot: number }>(this.database, {
      host, holder, slots, wanted, leaseSeconds: claim.leaseMs / 1_000, holdsNone,
    });
    return rows.map(({ slot }) => slot);
  }

  async claimTurn(host: string, holder: string, { delayMs, leaseMs }: { readonly delayMs: number; readonly leaseMs: number }): Promise<ClaimedTurn> {
    const [row] = await CLAIM_TURN.run<{ claimed: boolean; wait_ms: number | null }>(this.database, {
      host, holder, delaySeconds: delayMs / 1_000, leaseSeconds: leaseMs / 1_000,
    });
    return { claimed: row?.claimed ?? false, waitMs: Math.max(0, Math.ceil(row?.wait_ms ?? 0)) };
  }

  async renew(
    host: string,
    holder: string,
    renewal: { readonly slots: readonly number[]; readonly leaseMs: number; readonly wantedWithinMs: number },
  ): Promise<RenewedSlots> {
    const rows = await RENEW_SLOTS.run<{ slot: number; wanted: boolean }>(this.database, {
      host, holder, slots: renewal.slots.map(String), leaseSeconds: renewal.leaseMs / 1_000, wantedSeconds: renewal.wantedWithinMs / 1_000,
    });
    return { slots: rows.map(({ slot }) => slot), wanted: rows.some(({ wanted }) => wanted) };
  }

  async release(host: string, holder: string, slots: readonly number[]): Promise<void> {
    await RELEASE_SLOTS.run(this.database, { host, holder, slots: slots.map(String) });
  }

  /** @param restMs what is left of the host's pause */
  async releaseTurn(host: string, holder: string, restMs: number): Promise<void> {
    await RELEASE_TURN.run(this.database, { host, holder, restSeconds: restMs / 1_000 });
  }

  async holdBack(host: string, ms: number): Promise<void> {
    await HOLD_BACK.run(this.database, { host, seconds: ms / 1_000 });
  }

  async pauses(hosts: readonly string[]): Promise<Map<string, number>> {
    const rows = await PAUSES.run<{ host: string; ms: number }>(this.database, { hosts });
    return new Map(rows.map(({ host, ms }) => [host, Math.ceil(ms)]));
  }

  async releaseAll(holder: string): Promise<void> {
    await RELEASE_ALL.run(this.database, { holder });
  }

  async forgetHosts(idleMs: number): Promise<void> {
    await FORGET_HOSTS.run(this.database, { idleSeconds: idleMs / 1_000 });
  }
}
