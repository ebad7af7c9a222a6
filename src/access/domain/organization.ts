import { ValidationFailed } from '../../platform/errors/index.js';
import { CREDITS_EXHAUSTED, type CreditsExhausted } from './credit-allowance.js';
import { effectiveFeatures, type Feature, type FeatureChoice, parseFeatureChoices } from './feature.js';
import { type Plan, PLANS } from './plan.js';
import { checkName, checkOneOf } from './text.js';

/** Settings as the operator wrote them. Undefined keeps the present value, or the default of a new organization. */
export interface OrganizationSettings {
  readonly plan?: string;
  /** Replaces the whole list. */
  readonly features?: readonly string[];
  /** Null removes the limit. */
  readonly agentLimit?: number | null;
  readonly crawlPages?: number;
  /** Credits that each month includes; null removes the setting. */
  readonly creditsIncluded?: number | null;
  /** `allow` or `block`. */
  readonly creditsExhausted?: string;
  /** Days without activity after which conversations are removed; null keeps them for ever. */
  readonly retainDays?: number | null;
}

/** Contract, section 5. */
const DEFAULT_CRAWL_PAGES = 500;
const MAX_CRAWL_PAGES = 50_000;
/** A hundred years. */
const MAX_RETAIN_DAYS = 36_500;
/** The largest value of an `integer` column. */
const MAX_INTEGER = 2_147_483_647;

/** The tenant: every stored record belongs to one. */
export class Organization {
  readonly id: string;
  readonly name: string;
  plan: Plan;
  /** The operator's explicit choices; `effectiveFeatures` adds the defaults. */
  features: FeatureChoice[];
  /** The most agents of the organization; null means no limit. */
  agentLimit: number | null;
  /** The most pages that a crawl of one agent's sites fetches. */
  crawlPages: number;
  /** Credits that each month includes; null when none are set. */
  creditsIncluded: number | null;
  /** What happens to runs on the managed key when a month's credits are used up. */
  creditsExhausted: CreditsExhausted;
  /** Days without activity after which conversations are removed; null keeps them for ever. */
  retainDays: number | null;
  /** When HIPAA data handling was last switched off; null when it never was. Data of earlier runs stays separate. */
  hipaaUntil: Date | null;
  readonly createdAt: Date;

  constructor(id: string, name: string, createdAt: Date) {
    this.id = id;
    this.name = checkName(name);
    this.plan = 'free';
    this.features = [];
    this.agentLimit = null;
    this.crawlPages = DEFAULT_CRAWL_PAGES;
    this.creditsIncluded = null;
    this.creditsExhausted = 'allow';
    this.retainDays = null;
    this.hipaaUntil = null;
    this.createdAt = createdAt;
  }

  /** Changes nothing when it throws. @throws ValidationFailed naming the setting */
  configure(settings: OrganizationSettings, now: Date): void {
    const hadHipaa = this.effectiveFeatures().has('hipaa');
    const features = settings.features === undefined ? this.features : parseFeatureChoices(settings.features);
    const {
      agentLimit = this.agentLimit,
      crawlPages = this.crawlPages,
      creditsIncluded = this.creditsIncluded,
      retainDays = this.retainDays,
    } = settings;
    const plan = checkOneOf('plan', PLANS, settings.plan ?? this.plan);
    const exhausted = settings.creditsExhausted ?? this.creditsExhausted;
    const creditsExhausted = checkOneOf('creditsExhausted', CREDITS_EXHAUSTED, exhausted);
    checkLimit('agentLimit', agentLimit);
    checkLimit('creditsIncluded', creditsIncluded);
    checkCount('crawlPages', crawlPages, MAX_CRAWL_PAGES);
    if (retainDays !== null) checkCount('retainDays', retainDays, MAX_RETAIN_DAYS);
    Object.assign(this, { plan, features, agentLimit, crawlPages, creditsIncluded, creditsExhausted, retainDays });
    if (hadHipaa && !this.effectiveFeatures().has('hipaa')) this.hipaaUntil = now;
  }

  effectiveFeatures(): ReadonlySet<Feature> {
    return effectiveFeatures(this.plan, this.features);
  }
}

function checkCount(setting: string, count: number, most: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= most) return;
  throw new ValidationFailed(`${setting}: must be a whole number from 1 to ${String(most)}`);
}

function checkLimit(setting: string, limit: number | null): void {
  if (limit === null || (Number.isInteger(limit) && limit >= 0 && limit <= MAX_INTEGER)) return;
  throw new ValidationFailed(`${setting}: must be a whole number from 0 to ${String(MAX_INTEGER)}`);
}
