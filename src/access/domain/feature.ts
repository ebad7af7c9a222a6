import { ValidationFailed } from '../../platform/errors/index.js';
import type { Plan } from './plan.js';

export const FEATURES = [
  'knowledge_search',
  'claude_agent_sdk',
  'response_components',
  'ai_gateway',
  'session_start_hook',
  'hipaa',
] as const;

/** A switch of an organization. */
export type Feature = (typeof FEATURES)[number];

/** An explicit setting of a feature; `-name` switches it off. Features without one have their default. */
export type FeatureChoice = Feature | `-${Feature}`;

/**
 * @param names as the operator wrote them
 * @throws ValidationFailed naming the first unknown feature
 */
export function parseFeatureChoices(names: readonly string[]): FeatureChoice[] {
  return [...new Set(names)].map((name) => {
    if (isFeatureChoice(name)) return name;
    throw new ValidationFailed(`features: '${name}' is not one of ${FEATURES.join(', ')} (a leading - turns one off)`);
  });
}

function isFeatureChoice(name: string): name is FeatureChoice {
  return (FEATURES as readonly string[]).includes(name.replace(/^-/, ''));
}

/** The enabled features: the plan's defaults, overridden by the choices. When a list has both, off wins. */
export function effectiveFeatures(plan: Plan, choices: readonly FeatureChoice[]): ReadonlySet<Feature> {
  const chosen = new Set<string>(choices);
  return new Set(
    FEATURES.filter((feature) => {
      if (chosen.has(`-${feature}`)) return false;
      return chosen.has(feature) || isOnByDefault(feature, plan);
    }),
  );
}

function isOnByDefault(feature: Feature, plan: Plan): boolean {
  if (feature === 'session_start_hook') return true;
  return feature === 'ai_gateway' && plan === 'enterprise';
}
