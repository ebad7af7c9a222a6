import { DomainError } from '../errors/index.js';

export type EgressRefusal = 'url' | 'address';
export type EgressFailure = 'connect' | 'timeout' | 'too_large' | 'protocol' | 'redirect';

const REFUSALS: Readonly<Record<EgressRefusal, string>> = {
  url: 'The URL cannot be requested.',
  // The same text for unknown and internal names: a difference would reveal the internal network.
  address: 'The host of the URL does not resolve to public addresses.',
};

const FAILURES: Readonly<Record<EgressFailure, string>> = {
  connect: 'The host of the URL cannot be reached.',
  timeout: 'The host of the URL did not answer in time.',
  too_large: 'The answer is larger than accepted.',
  protocol: 'The answer is not valid HTTP.',
  redirect: 'The redirect is not followed.',
};

/** Nothing was sent, and a retry would not help: the URL or its addresses are not allowed. */
export class EgressRefused extends DomainError {
  constructor(
    readonly reason: EgressRefusal,
    options: { readonly message?: string; readonly detail?: string; readonly cause?: unknown } = {},
  ) {
    const { message = REFUSALS[reason], detail, cause } = options;
    super('unprocessable', message, { code: 'egress_refused', ...(detail !== undefined && { detail }), cause });
  }
}

/** The server could not be reached or its response is not acceptable. `detail` and `cause` are for the log. */
export class EgressFailed extends DomainError {
  constructor(
    readonly reason: EgressFailure,
    options: { readonly detail?: string; readonly cause?: unknown } = {},
  ) {
    const { detail, cause } = options;
    const kind = reason === 'timeout' ? 'gateway_timeout' : 'bad_gateway';
    super(kind, FAILURES[reason], { code: 'egress_failed', ...(detail !== undefined && { detail }), cause });
  }
}
