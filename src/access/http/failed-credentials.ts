import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { Settings } from '../../platform/config/index.js';
import { DomainError } from '../../platform/errors/index.js';
import { clientAddresses } from '../../platform/http/index.js';
import { MemoryWindows, type WindowRecord, type WindowRequest } from '../../platform/limits/index.js';
import { LimitRefusals } from './limit-refusals.js';

const LIMIT = 60;
const WINDOW_SECONDS = 60;
/** One IPv6 subscriber has a whole network, and could use a new address for each attempt. */
const IPV6_SUBSCRIBER_BITS = 64;

/**
 * Counts the failed credentials of each client address. Beyond the limit, failures answer 429 instead of 401. A valid key still
 * works from the same address, because of NAT and proxies. Each process counts separately, so that a flood of invalid keys costs
 * nothing outside of it.
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
   * @throws DomainError `rate_limited` when the address is beyond the limit
   */
  async count(request: FastifyRequest): Promise<void> {
    const [state] = await this.windows.incrementAll([this.windowOf(request)]);
    if (!state?.isBlocked) return;
    this.refusals.count('failed_credentials');
    const message =
      `The API key is not valid, and ${LIMIT} credentials from this address have failed within ${WINDOW_SECONDS} seconds. ` +
      'Check the API key before trying again.';
    throw new DomainError('rate_limited', message, {
      code: 'rate_limited',
      retryAfterSeconds: state.timeToBlockExpire,
    });
  }

  /** The state of the address's budget, for the headers of the response. */
  stateOf(request: FastifyRequest): WindowRecord & { readonly limit: number } {
    return { ...this.windows.read(this.windowOf(request)), limit: LIMIT };
  }

  private windowOf({ raw }: FastifyRequest): WindowRequest {
    const key = `failed-credentials:${subscriberOf(this.addressOf(raw))}`;
    return { throttler: 'failed_credentials', key, ttl: WINDOW_SECONDS * 1000, limit: LIMIT };
  }
}

/** The IPv4 address, or the IPv6 network of the subscriber. */
export function subscriberOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_SUBSCRIBER_BITS}`).toString();
}
