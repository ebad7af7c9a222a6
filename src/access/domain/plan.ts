export const PLANS = ['free', 'team', 'enterprise'] as const;

export type Plan = (typeof PLANS)[number];
