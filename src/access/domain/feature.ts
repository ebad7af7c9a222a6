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

/** An explicit choice; features without one follow their default. `-name` is off. */
export type FeatureChoice = Feature | `-${Feature}`;

/**
 * Reads a list of names as an operator writes it.
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

/** The features that hold: the plan's defaults, then the choices. Off wins where a list names both. */
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
