import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import {
  AgentWrites,
  type Changed,
  type FieldChange,
  type VersionedPart,
  VersionedParts,
  VersionNotRestorable,
  type WriteTarget,
} from '../../agents/index.js';
import { AppTools } from '../../integrations/index.js';
import type { Transaction } from '../../platform/database/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { type Stored, storedObject } from '../../platform/stored-json/index.js';
import { sessionStartHook, type SessionStartHook } from '../domain/session-start.js';
import { AgentHooksRepository, type HooksOwner, NO_HOOKS } from '../persistence/agent-hooks.repository.js';

const FIELD = 'sessionStartHook';

/** An object around the hook, because a version stores no null. */
const snapshotSchema = storedObject({ hook: sessionStartHook.nullable().default(null) });
type Snapshot = Stored<typeof snapshotSchema>;

/** Sets the session-start hook, and stores it in the agent's versions. */
@Injectable()
export class ChangeSessionStartHook implements VersionedPart<typeof snapshotSchema> {
  readonly field = FIELD;
  readonly stored = snapshotSchema;

  constructor(
    private readonly writes: AgentWrites,
    private readonly settings: AgentHooksRepository,
    parts: VersionedParts,
    private readonly tools: AppTools,
  ) {
    parts.register(this);
  }

  /**
   * Stores nothing when it throws.
   * @param hook null removes the hook
   * @throws ValidationFailed for an `app` that the agent does not have; AgentNotFound, VersionConflict
   */
  execute<Hook extends SessionStartHook | null>(target: WriteTarget, hook: Hook): Promise<Changed<Hook>> {
    return this.writes.change(target, async (transaction) => {
      if (hook) await this.requireApp(transaction, target, hook.app);
      return { result: hook, changes: await this.put(transaction, target, hook) };
    });
  }

  async snapshot(source: Transaction, organizationId: string, agentId: string): Promise<Snapshot> {
    return { hook: (await this.settings.find(source, { organizationId, agentId }))?.sessionStart ?? null };
  }

  /** @throws VersionNotRestorable when the agent no longer has the app */
  async restore(
    transaction: Transaction,
    organizationId: string,
    agentId: string,
    snapshot: Snapshot | null,
  ): Promise<readonly FieldChange[]> {
    const owner = { organizationId, agentId };
    const hook = snapshot?.hook ?? null;
    const changes = await this.put(transaction, owner, hook);
    if (!hook || changes.length === 0 || (await this.hasApp(transaction, owner, hook.app))) return changes;
    throw new VersionNotRestorable(
      `its ${FIELD} calls the app '${hook.app}', which no custom-mcp integration of the agent has any more; add one first, then restore.`,
    );
  }

  private async requireApp(transaction: Transaction, owner: HooksOwner, app: string): Promise<void> {
    if (await this.hasApp(transaction, owner, app)) return;
    throw new ValidationFailed(
      `body/app must be the app of one of the agent's custom-mcp integrations, and '${app}' is not`,
    );
  }

  private async hasApp(
    transaction: Transaction,
    { organizationId, agentId }: HooksOwner,
    app: string,
  ): Promise<boolean> {
    return (await this.tools.appsOf(transaction, organizationId, agentId)).has(app);
  }

  private async put(
    transaction: Transaction,
    owner: HooksOwner,
    sessionStart: SessionStartHook | null,
  ): Promise<FieldChange[]> {
    const current = (await this.settings.find(transaction, owner)) ?? NO_HOOKS;
    if (isDeepStrictEqual(current.sessionStart, sessionStart)) return [];
    await this.settings.store(transaction, owner, { ...current, sessionStart });
    return [{ field: FIELD, before: current.sessionStart, after: sessionStart }];
  }
}
