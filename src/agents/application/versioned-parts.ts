import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { Transaction } from '../../platform/database/index.js';
import type { Stored } from '../../platform/stored-json/index.js';
import type { FieldChange } from '../domain/field-change.js';

/**
 * What another context keeps for an agent and wants its versions to hold. Changes of it are made through
 * `AgentWrites`; the fields of its changes are `field`, or begin with it and a dot.
 */
export interface VersionedPart<Schema extends z.ZodType = z.ZodType> {
  /** Names the part, as in `sections`. */
  readonly field: string;
  /** Reads the snapshots of all versions, with a default for every field that earlier releases did not write. */
  readonly stored: Schema;
  /**
   * The whole part as it stands, without secrets; JSON, never null. Asked inside the transaction that changed it, for
   * changes of its own alone.
   */
  snapshot(source: Transaction, organizationId: string, agentId: string): Promise<Stored<Schema>>;
  /**
   * Makes the part what the snapshot says.
   * @param snapshot what `snapshot` answered; null: as it was when the agent was made
   * @returns what differs now; empty when it was so already, and nothing is written then
   */
  restore(
    transaction: Transaction,
    organizationId: string,
    agentId: string,
    snapshot: Stored<Schema> | null,
  ): Promise<readonly FieldChange[]>;
}

/** The parts of all contexts; each registers its own in `onModuleInit`. */
@Injectable()
export class VersionedParts {
  private readonly parts: VersionedPart[] = [];

  register(part: VersionedPart): void {
    if (this.parts.some(({ field }) => field === part.field)) {
      throw new Error(`Two contexts register the versioned part '${part.field}'`);
    }
    this.parts.push(part);
  }

  all(): readonly VersionedPart[] {
    return this.parts;
  }

  /** The part that a change belongs to; undefined for the agent's own settings. */
  of({ field }: FieldChange): VersionedPart | undefined {
    return this.parts.find((part) => field === part.field || field.startsWith(`${part.field}.`));
  }
}
