import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../../../../src/platform/cache/index.js';
import { Clock } from '../../../../../src/platform/clock/index.js';
import { EventBus } from '../../../../../src/platform/events/index.js';
import { GlossaryChanged } from '../domain/glossary.events.js';
import type { Term } from '../domain/term.js';
import { TermRepository } from '../persistence/term.repository.js';

/** Every run of an agent asks, so the answer is kept; what another process changes shows within this time. */
const CACHE_MS = 5_000;
const CACHED_ORGANIZATIONS = 1_000;

@Injectable()
export class ReadTerms {
  private readonly cache: TtlCache<readonly Term[]>;

  constructor(
    private readonly terms: TermRepository,
    clock: Clock,
    events: EventBus,
  ) {
    this.cache = new TtlCache({ clock, ttlMs: CACHE_MS, maxEntries: CACHED_ORGANIZATIONS });
    events.subscribe(GlossaryChanged, ({ organizationId }) => this.cache.delete(organizationId));
  }

  /** By name. */
  async of(organizationId: string): Promise<readonly Term[]> {
    return (await this.cache.get(organizationId, () => this.terms.list(organizationId))) ?? [];
  }
}
