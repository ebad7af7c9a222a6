import { Injectable } from '@nestjs/common';
import { PromptSource, type RunContext } from '../../conversations/index.js';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import type { SectionText } from '../domain/section.js';
import { SELECT_PROMPT } from '../persistence/prompt.sql.js';

/**
 * How long a run may use sections that were changed outside of the service. A change by the service raises the agent's version,
 * which is part of the cache key.
 */
const PROMPT_CACHE_MS = 5_000;

const PROMPT_CACHE_ENTRIES = 200;

/** UTF-16 code units of one entry; longer instructions are read for each run. Bounds the cache to 200 MB. */
const MAX_PROMPT_CACHE = 500_000;

/** Adds an agent's sections in their order after its system prompt, each under its name. */
@Injectable()
export class SectionsPromptSource extends PromptSource {
  readonly scope = 'agent';
  private readonly cache: TtlCache<readonly string[]>;

  constructor(
    private readonly database: Database,
    clock: Clock,
  ) {
    super();
    this.cache = new TtlCache({ clock, ttlMs: PROMPT_CACHE_MS, maxEntries: PROMPT_CACHE_ENTRIES });
  }

  async parts({ organizationId, agent }: RunContext): Promise<readonly string[]> {
    if (agent.type === 'classic') return [];
    const key = `${organizationId}/${agent.id}/${agent.version}`;
    const read = async (): Promise<string[]> => {
      const sections = await SELECT_PROMPT.run<SectionText>(this.database, { organizationId, agentId: agent.id });
      return sections.map(promptPart);
    };
    const parts = (await this.cache.get(key, read)) ?? [];
    if (lengthOf(parts) > MAX_PROMPT_CACHE) this.cache.delete(key);
    return parts;
  }
}

function promptPart({ name, content }: SectionText): string {
  return `## ${name}\n\n${content}`;
}

function lengthOf(parts: readonly string[]): number {
  return parts.reduce((length, part) => length + part.length, 0);
}
