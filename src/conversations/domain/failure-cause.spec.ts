import { expect, it } from '@jest/globals';
import { failureCause } from './failure-cause.js';
import { RUN_ERROR_CODES } from './run.js';

const PROVIDERS = ['provider_error', 'provider_rate_limited', 'provider_auth', 'provider_overloaded'] as const;
const OURS = ['server_shutdown', 'internal'] as const;

const causeOf = (
  code: (typeof RUN_ERROR_CODES)[number],
  facts: object = {},
  access: 'own' | 'managed' = 'managed',
): string => failureCause({ code, message: '' }, { ownKey: false, ...facts }, access);

it('names the operator for failures of the service and of the access that it manages, and for no others', () => {
  const operators = RUN_ERROR_CODES.filter((code) => causeOf(code) === 'operator');
  expect(new Set(operators)).toEqual(new Set([...PROVIDERS, ...OURS]));
});

it.each(PROVIDERS)('names the customer for %s by an own key, an own gateway or a refused request', (code) => {
  expect(causeOf(code, { ownKey: true })).toBe('customer');
  expect(causeOf(code, {}, 'own')).toBe('customer');
  expect(causeOf(code, { refusedContent: true })).toBe('customer');
});

it.each(OURS)('names the operator for %s whatever key the run has used', (code) => {
  expect(causeOf(code, { ownKey: true }, 'own')).toBe('operator');
});
