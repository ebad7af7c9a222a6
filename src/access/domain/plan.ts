import { ValidationFailed } from '../../platform/errors/index.js';

export const PLANS = ['free', 'team', 'enterprise'] as const;

export type Plan = (typeof PLANS)[number];

/** @throws ValidationFailed */
export function parsePlan(name: string): Plan {
  const plan = PLANS.find((known) => known === name);
  if (plan === undefined) throw new ValidationFailed(`plan: must be one of ${PLANS.join(', ')}`);
  return plan;
}
