import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type FieldChange, type VersionedPart, VersionedParts, VersionNotRestorable } from '../../agents/index.js';
import type { Transaction } from '../../platform/database/index.js';
import { hooksDocument, type HooksDocument } from '../domain/hooks-document.js';
import { headersIn } from '../domain/header-values.js';
import { AgentHooksRepository } from '../persistence/agent-hooks.repository.js';
import { ChangeHooks } from './change-hooks.js';

/** Stores the hooks document in the agent's versions, without secrets, and restores it from there. */
@Injectable()
export class HooksVersionedPart implements VersionedPart<typeof hooksDocument>, OnModuleInit {
  readonly field = 'hooks';
  readonly stored = hooksDocument;

  constructor(
    private readonly settings: AgentHooksRepository,
    private readonly changes: ChangeHooks,
    private readonly parts: VersionedParts,
  ) {}

  onModuleInit(): void {
    this.parts.register(this);
  }

  async snapshot(source: Transaction, organizationId: string, agentId: string): Promise<HooksDocument> {
    return (await this.settings.find(source, { organizationId, agentId }))?.document ?? {};
  }

  /** @throws VersionNotRestorable when a header's value or a server no longer exists: its guard could not be called */
  async restore(
    transaction: Transaction,
    organizationId: string,
    agentId: string,
    snapshot: HooksDocument | null,
  ): Promise<readonly FieldChange[]> {
    const owner = { organizationId, agentId };
    const document = snapshot ?? {};
    const changes = await this.changes.put(
      transaction,
      owner,
      { document, headers: headersIn(document) },
      missingInVersion,
    );
    if (changes.length === 0) return [];
    const missing = await this.changes.missingServer(transaction, owner, document);
    if (!missing) return changes;
    throw new VersionNotRestorable(
      `its ${missing.path} calls the tool integration '${missing.server}', which the agent no longer has; add it first, then restore.`,
    );
  }
}

function missingInVersion(path: string): never {
  throw new VersionNotRestorable(
    `the value of its ${path} is no longer stored; set the hooks with that value first, then restore.`,
  );
}
