import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { DomainError } from '../../platform/errors/index.js';
import { MemoryWindows, type WindowRecord } from '../../platform/limits/index.js';
import { LimitRefusals } from './limit-refusals.js';

const LIMIT = 60;
const WINDOW_SECONDS = 60;
const TTL_MS = WINDOW_SECONDS * 1000;
/** What one subscriber has of IPv6; whoever holds it could else come from a new address with each attempt. */
const IPV6_SUBSCRIBER_BITS = 64;

/**
 * Counts the credentials of each client address that fail. Once the budget is used up, keys that were not good here
 * lately are refused without asking the database; one in use keeps working from an address that it shares with a bad
 * one (NAT, a proxy). Each API server counts its own, so that a flood of bad keys costs nothing outside the process.
 */
@Injectable()
export class FailedCredentials {
  constructor(
    private readonly windows: MemoryWindows,
    private readonly refusals: LimitRefusals,
  ) {}

  /** @throws DomainError `rate_limited` when the address has used up its budget */
  async check(request: FastifyRequest): Promise<void> {
    this.refuseBeyond(await this.windows.read(bucketOf(request), TTL_MS, LIMIT));
  }

  /**
   * Counts a credential that has failed.
   * @throws DomainError `rate_limited`, in place of what was wrong with it, when the address has used up its budget
   */
  async count(request: FastifyRequest): Promise<void> {
    this.refuseBeyond(await this.windows.increment(bucketOf(request), TTL_MS, LIMIT, 0, 'failed_credentials'));
  }

  /** What the client of a failed credential is told of the budget. */
  async stateOf(request: FastifyRequest): Promise<WindowRecord & { readonly limit: number }> {
    const { totalHits, ...next } = await this.windows.read(bucketOf(request), TTL_MS, LIMIT);
    // What is read is the state that one more attempt would find.
    return { ...next, totalHits: totalHits - 1, limit: LIMIT };
  }

  private refuseBeyond({ isBlocked, timeToBlockExpire: retryAfterSeconds }: WindowRecord): void {
    if (!isBlocked) return;
    this.refusals.count('failed_credentials');
    const message =
      `${LIMIT} credentials from this address have failed within ${WINDOW_SECONDS} seconds; until that time is over, ` +
      'only API keys that were in use before are accepted from it. Check the API key before trying again.';
    throw new DomainError('rate_limited', message, { code: 'rate_limited', retryAfterSeconds });
  }
}

function bucketOf({ ip }: FastifyRequest): string {
  return `failed-credentials:${subscriberOf(ip)}`;
}

/** The address, or the network that one subscriber has of IPv6. */
export function subscriberOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_SUBSCRIBER_BITS}`).toString();
}
