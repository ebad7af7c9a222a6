import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Database } from '../../platform/database/index.js';
import type { SigningSecret } from '../../platform/standard-webhooks/index.js';
import { SecretUnreadable } from '../../platform/vault/index.js';
import { HOOK_EVENTS, type HookEvent } from '../domain/hook-event.js';
import { handlersOf, type PlacedHandler } from '../domain/hooks-document.js';
import type { HeaderValues } from '../domain/header-values.js';
import type { SessionStartHook } from '../domain/session-start.js';
import { HOOKS_CACHE_CHARACTERS, NO_HOOKS_CHARACTERS } from '../limits.js';
import {
  AgentHooksRepository,
  type HooksOwner,
  type HookSettings,
  NO_HOOKS,
} from '../persistence/agent-hooks.repository.js';
import { HookSecretStore } from './hook-secrets.js';

/** Headers and signing secret of http handlers, in clear text. */
export interface HttpCredentials {
  readonly headers: HeaderValues;
  readonly signing: SigningSecret | null;
}

export interface AgentHooks extends HooksOwner {
  /** False when no hook was ever set, so no thread can have started with one. */
  readonly isConfigured: boolean;
  readonly handlers: Readonly<Record<HookEvent, readonly PlacedHandler[]>>;
  readonly sessionStart: SessionStartHook | null;
  /** Null when they cannot be decrypted: http handlers then fail instead of calling an endpoint without its credentials. */
  readonly credentials: HttpCredentials | null;
}

const NO_SECRETS: HttpCredentials = { headers: {}, signing: null };

/** Settings and secrets are two reads; a write in between makes them inconsistent, and they are read again. */
const MAX_READS = 3;

/**
 * The hooks of agents, cached by the version of the agent. Every change of hooks raises that version, so an entry never
 * becomes stale.
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

  /** Reads the hooks from the database, past the cache. */
  async load(owner: HooksOwner): Promise<AgentHooks> {
    for (let reads = 1; ; reads += 1) {
      const stored = await this.settings.find(this.database, owner);
      const credentials = await this.credentialsOf(owner, stored);
      if (credentials !== undefined || reads === MAX_READS) return agentHooks(owner, stored, credentials ?? null);
    }
  }

  /** @returns null when they cannot be decrypted; undefined when a write replaced them after the settings were read */
  private async credentialsOf(
    owner: HooksOwner,
    stored: HookSettings | null,
  ): Promise<HttpCredentials | null | undefined> {
    if (!stored || (stored.secretCreatedAt === null && stored.headers === null)) return NO_SECRETS;
    try {
      const { headers, signing } = await this.secrets.read(owner, stored.headers);
      return headers && { headers, signing };
    } catch (error) {
      if (error instanceof SecretUnreadable) return null;
      throw error;
    }
  }
}

function agentHooks(owner: HooksOwner, stored: HookSettings | null, credentials: HttpCredentials | null): AgentHooks {
  const { document, sessionStart } = stored ?? NO_HOOKS;
  const handlers = Object.fromEntries(HOOK_EVENTS.map((event) => [event, handlersOf(document, event)]));
  return {
    ...owner,
    isConfigured: stored !== null,
    handlers: handlers as Record<HookEvent, PlacedHandler[]>,
    sessionStart,
    credentials,
  };
}

function sizeOf({ isConfigured, handlers, sessionStart, credentials }: AgentHooks): number {
  return isConfigured ? JSON.stringify([handlers, sessionStart, credentials]).length : 0;
}
