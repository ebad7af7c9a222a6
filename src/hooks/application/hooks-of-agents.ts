import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Database } from '../../platform/database/index.js';
import { SecretUnreadable } from '../../platform/vault/index.js';
import { HOOK_EVENTS, type HookEvent } from '../domain/hook-event.js';
import { handlersOf, type PlacedHandler } from '../domain/hooks-document.js';
import { headerPlacesIn, type HeaderValues } from '../domain/header-values.js';
import type { SessionStartHook } from '../domain/session-start.js';
import { HOOKS_CACHE_CHARACTERS, NO_HOOKS_CHARACTERS } from '../limits.js';
import { AgentHooksRepository, type HooksOwner, type HookSettings, NO_HOOKS } from '../persistence/agent-hooks.repository.js';
import { HookSecretStore, type SigningSecret } from './hook-secrets.js';

/** What http handlers are sent besides the input, secrets in clear. */
export interface HttpCredentials {
  readonly headers: HeaderValues;
  readonly signing: SigningSecret | null;
}

/** The hooks of one agent, ready to be called. */
export interface AgentHooks extends HooksOwner {
  /** Something was set once; threads may have begun with it. */
  readonly isConfigured: boolean;
  readonly handlers: Readonly<Record<HookEvent, readonly PlacedHandler[]>>;
  readonly sessionStart: SessionStartHook | null;
  /** Null where they cannot be read, or are those of another document: http handlers then fail, as they would be sent without them. */
  readonly credentials: HttpCredentials | null;
}

/** Each but the first follows upon a change that came in between. */
const READ_TRIES = 5;

const NO_SECRETS: HttpCredentials = { headers: {}, signing: null };

/**
 * The hooks that agents run with, kept by the version of the agent: every change of them raises it, so that what is kept of a
 * version never becomes old. How soon a process learns of a version is the agents' matter.
 */
@Injectable()
export class HooksOfAgents {
  private readonly kept: LRUCache<string, AgentHooks, HooksOwner>;

  constructor(
    private readonly database: Database,
    private readonly settings: AgentHooksRepository,
    private readonly secrets: HookSecretStore,
  ) {
    this.kept = new LRUCache<string, AgentHooks, HooksOwner>({
      maxSize: HOOKS_CACHE_CHARACTERS,
      sizeCalculation: (hooks) => NO_HOOKS_CHARACTERS + sizeOf(hooks),
      fetchMethod: (_key, _stale, { context }) => this.load(context),
    });
  }

  /** @param version of the agent */
  of(organizationId: string, agentId: string, version: number): Promise<AgentHooks> {
    const context = { organizationId, agentId };
    return this.kept.forceFetch(`${organizationId}/${agentId}/${version}`, { context });
  }

  /** As they are stored now. */
  async load(owner: HooksOwner): Promise<AgentHooks> {
    for (let tries = 1; ; tries += 1) {
      const stored = await this.settings.find(this.database, owner);
      const credentials = stored === null ? NO_SECRETS : await this.credentialsOf(owner, stored);
      if (credentials !== 'of_another_document') return agentHooks(owner, stored, credentials);
      if (tries === READ_TRIES) return agentHooks(owner, stored, null);
    }
  }

  private async credentialsOf(
    owner: HooksOwner,
    { document, secretCreatedAt }: HookSettings,
  ): Promise<HttpCredentials | 'of_another_document' | null> {
    const places = headerPlacesIn(document);
    if (secretCreatedAt === null && places === '') return NO_SECRETS;
    try {
      const secrets = await this.secrets.read(owner);
      // Both have been changed since the document was read: what is for one URL must not go to another.
      return secrets.headerPlaces === places ? secrets : 'of_another_document';
    } catch (error) {
      if (error instanceof SecretUnreadable) return null;
      throw error;
    }
  }
}

function agentHooks(owner: HooksOwner, stored: HookSettings | null, credentials: HttpCredentials | null): AgentHooks {
  const { document, sessionStart } = stored ?? NO_HOOKS;
  const handlers = Object.fromEntries(HOOK_EVENTS.map((event) => [event, handlersOf(document, event)]));
  return { ...owner, isConfigured: stored !== null, handlers: handlers as Record<HookEvent, PlacedHandler[]>, sessionStart, credentials };
}

function sizeOf({ isConfigured, handlers, sessionStart, credentials }: AgentHooks): number {
  return isConfigured ? JSON.stringify([handlers, sessionStart, credentials]).length : 0;
}
