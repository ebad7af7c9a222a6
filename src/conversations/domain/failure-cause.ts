import type { FailureFacts, RunError } from './run.js';

/**
 * Who can do something about a failed run: the operator of the service, or the customer, who has chosen the key, the gateway, the
 * limits and the tools. Operators are woken by the first kind alone.
 */
export type FailureCause = 'operator' | 'customer';

/** @param access `own`: the run reached its provider by a key or a gateway of the customer */
export function failureCause({ code }: RunError, facts: FailureFacts, access: 'own' | 'managed'): FailureCause {
  switch (code) {
    case 'provider_error':
    case 'provider_rate_limited':
    case 'provider_auth':
    case 'provider_overloaded':
      return access === 'own' || facts.ownKey || facts.refusedContent === true ? 'customer' : 'operator';
    // The limits of agents and requests. Slow tools and hooks are the customer's, and a slow provider shows in other metrics.
    case 'run_timeout':
    case 'context_too_long':
    case 'run_limit_reached':
    case 'invalid_structured_output':
    case 'invalid_response_format':
      return 'customer';
    case 'server_shutdown':
    case 'internal':
      return 'operator';
    default:
      return code satisfies never;
  }
}
