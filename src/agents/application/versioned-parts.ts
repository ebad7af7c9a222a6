import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { Transaction } from '../../platform/database/index.js';
import type { Stored } from '../../platform/stored-json/index.js';
import type { FieldChange } from '../domain/agent-version.js';

/**
 * A part of an agent that belongs to another context and is included in the agent's versions. It is changed through
 * `AgentWrites`. The field names of its changes are `field`, or begin with `field` and a dot.
 */
export interface VersionedPart<Schema extends z.ZodType = z.ZodType> {
  /** The name of the part, such as `sections`. */
  readonly field: string;
  /** The schema of snapshots, with a default for every field that earlier releases did not write. */
  readonly stored: Schema;
  /** The whole present part without secrets, as JSON other than null. Called within the transaction that changed the part. */
  snapshot(source: Transaction, organizationId: string, agentId: string): Promise<Stored<Schema>>;
  /**
   * Restores the part. Writes nothing when nothing differs.
   * @param snapshot null restores the state at the creation of the agent
   * @returns the differences
   */
  restore(
    transaction: Transaction,
    organizationId: string,
    agentId: string,
    snapshot: Stored<Schema> | null,
  ): Promise<readonly FieldChange[]>;
}

/** The parts of all contexts; each registers its own in a constructor. */
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
