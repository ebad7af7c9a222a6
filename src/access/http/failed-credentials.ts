import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { Settings } from '../../platform/config/index.js';
import { DomainError } from '../../platform/errors/index.js';
import { clientAddresses } from '../../platform/http/index.js';
import { MemoryWindows, type WindowRecord } from '../../platform/limits/index.js';
import { LimitRefusals } from './limit-refusals.js';

const LIMIT = 60;
const WINDOW_SECONDS = 60;
const TTL_MS = WINDOW_SECONDS * 1000;
/** What one subscriber has of IPv6; whoever holds it could else come from a new address with each attempt. */
const IPV6_SUBSCRIBER_BITS = 64;

/**
 * Counts the failed credentials of each client address, and answers 429 instead of 401 once they are too many. A good key
 * still works from the same address (NAT, a proxy). Each process counts its own, so that a flood of bad keys costs nothing
 * outside of it.
 */
@Injectable()
export class FailedCredentials {
  private readonly addressOf: (request: FastifyRequest['raw']) => string;

  constructor(
    private readonly windows: MemoryWindows,
    private readonly refusals: LimitRefusals,
    { trustedProxies }: Settings,
  ) {
    this.addressOf = clientAddresses(trustedProxies);
  }

  /**
   * Counts a credential that has failed.
   * @throws DomainError `rate_limited`, in place of what was wrong with it, when the address has used up its budget
   */
  async count(request: FastifyRequest): Promise<void> {
    this.refuseBeyond(await this.windows.increment(this.bucketOf(request), TTL_MS, LIMIT, 0, 'failed_credentials'));
  }

  /** What the client of a failed credential is told of the budget. */
  async stateOf(request: FastifyRequest): Promise<WindowRecord & { readonly limit: number }> {
    const { totalHits, ...next } = await this.windows.read(this.bucketOf(request), TTL_MS, LIMIT);
    // What is read is the state that one more attempt would find.
    return { ...next, totalHits: totalHits - 1, limit: LIMIT };
  }

  private refuseBeyond({ isBlocked, timeToBlockExpire: retryAfterSeconds }: WindowRecord): void {
    if (!isBlocked) return;
    this.refusals.count('failed_credentials');
    const message =
      `The API key is not valid, and ${LIMIT} credentials from this address have failed within ${WINDOW_SECONDS} seconds. ` +
      'Check the API key before trying again.';
    throw new DomainError('rate_limited', message, { code: 'rate_limited', retryAfterSeconds });
  }

  private bucketOf({ raw }: FastifyRequest): string {
    return `failed-credentials:${subscriberOf(this.addressOf(raw))}`;
  }
}

/** The address, or the network that one subscriber has of IPv6. */
export function subscriberOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_SUBSCRIBER_BITS}`).toString();
}
