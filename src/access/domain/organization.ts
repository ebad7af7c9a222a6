import { ValidationFailed } from '../../platform/errors/index.js';
import { effectiveFeatures, type Feature, type FeatureChoice, parseFeatureChoices } from './feature.js';
import { parsePlan, type Plan } from './plan.js';
import { checkName } from './text.js';

/** Settings as an operator writes them; what is undefined keeps its value, or its default at creation. */
export interface OrganizationSettings {
  readonly plan?: string;
  /** Replaces every earlier choice. */
  readonly features?: readonly string[];
  /** null lifts the limit. */
  readonly agentLimit?: number | null;
}

/** The tenant: everything the service stores belongs to one. */
export class Organization {
  readonly id: string;
  readonly name: string;
  plan: Plan;
  /** The operator's explicit choices; `effectiveFeatures` knows the defaults. */
  features: FeatureChoice[];
  /** Most agents the plan allows; null means any number. */
  agentLimit: number | null;
  readonly createdAt: Date;

  constructor(id: string, name: string, createdAt: Date) {
    this.id = id;
    this.name = checkName(name);
    this.plan = 'free';
    this.features = [];
    this.agentLimit = null;
    this.createdAt = createdAt;
  }

  /** @throws ValidationFailed naming the setting; nothing has changed then */
  configure(settings: OrganizationSettings): void {
    const plan = settings.plan === undefined ? this.plan : parsePlan(settings.plan);
    const features = settings.features === undefined ? this.features : parseFeatureChoices(settings.features);
    const { agentLimit = this.agentLimit } = settings;
    if (agentLimit !== null && (!Number.isInteger(agentLimit) || agentLimit < 0 || agentLimit > 2_147_483_647)) {
      throw new ValidationFailed('agentLimit: must be a whole number from 0 to 2147483647');
    }
    Object.assign(this, { plan, features, agentLimit });
  }

  effectiveFeatures(): ReadonlySet<Feature> {
    return effectiveFeatures(this.plan, this.features);
  }
}
