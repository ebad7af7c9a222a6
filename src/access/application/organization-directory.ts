import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { OrganizationChanged } from '../domain/access.events.js';
import type { CreditAllowance, CreditsExhausted } from '../domain/credit-allowance.js';
import type { Feature } from '../domain/feature.js';
import type { MemberRole } from '../domain/member.js';
import type { Plan } from '../domain/plan.js';
import type { Retention } from '../domain/retention.js';
import { MemberRepository } from '../persistence/member.repository.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';

const TTL_MS = 4_000;
const MAX_ENTRIES = 10_000;

/** An organization as other contexts see it. */
export interface OrganizationView {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** The enabled features, defaults included. */
  readonly features: ReadonlySet<Feature>;
  /** The most agents of the organization; null means no limit. */
  readonly agentLimit: number | null;
  /** The most pages that a crawl of one agent's sites fetches. */
  readonly crawlPages: number;
  /** Credits that each month includes; null when none are set. */
  readonly creditsIncluded: number | null;
  /** What happens to runs on the managed key when a month's credits are used up. */
  readonly creditsExhausted: CreditsExhausted;
  /** When HIPAA data handling was last switched off; null when it never was. */
  readonly hipaaUntil: Date | null;
  readonly createdAt: Date;
}

/** What other contexts read of an organization. */
@Injectable()
export class OrganizationDirectory {
  private readonly cache: TtlCache<OrganizationView>;

  constructor(
    clock: Clock,
    events: EventBus,
    private readonly organizations: OrganizationRepository,
    private readonly members: MemberRepository,
  ) {
    this.cache = new TtlCache({ clock, ttlMs: TTL_MS, maxEntries: MAX_ENTRIES });
    events.subscribe(OrganizationChanged, ({ organizationId }) => {
      this.cache.delete(organizationId);
    });
  }

  /** From a cache: a change is visible at once in the process that made it, in others within seconds. */
  async find(organizationId: string): Promise<OrganizationView | null> {
    return (await this.cache.get(organizationId, () => this.load(organizationId))) ?? null;
  }

  /** The history of the credits that each month includes: oldest first, one for each change. */
  creditAllowances(organizationId: string): Promise<readonly CreditAllowance[]> {
    return this.organizations.allowances(organizationId);
  }

  /** The organizations that keep conversations for a limited time, as they are now. */
  retentions(): Promise<readonly Retention[]> {
    return this.organizations.retentions();
  }

  /** @returns null when the organization has no such member */
  async memberRole(organizationId: string, memberId: string): Promise<MemberRole | null> {
    return (await this.members.find(organizationId, memberId))?.role ?? null;
  }

  private async load(organizationId: string): Promise<OrganizationView | undefined> {
    const organization = await this.organizations.find(organizationId);
    if (!organization) return undefined;
    const { id, name, plan, agentLimit, crawlPages, creditsIncluded, creditsExhausted, hipaaUntil, createdAt } =
      organization;
    const limits = { agentLimit, crawlPages, creditsIncluded, creditsExhausted };
    return { id, name, plan, ...limits, hipaaUntil, createdAt, features: organization.effectiveFeatures() };
  }
}
