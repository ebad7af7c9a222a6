import { Injectable } from '@nestjs/common';
import { Logger } from '../../platform/telemetry/index.js';
import type { MemoryOwner } from '../domain/memory.js';

/** Who reads or erases a person's memories. */
export interface Auditor {
  readonly keyId: string;
  readonly memberId: string;
}

/** Tells in the log who has read or erased the memories of whom: the user by key, and never what they say. */
@Injectable()
export class MemoryAudit {
  constructor(private readonly logger: Logger) {}

  read(owner: MemoryOwner, { keyId, memberId }: Auditor, memories: number): void {
    this.logger.info(
      { audit: 'memories_read', ...owner, keyId, memberId, memories },
      'The memories of a user were read',
    );
  }

  erased(owner: MemoryOwner, { keyId, memberId }: Auditor, memories: number): void {
    this.logger.info(
      { audit: 'memories_erased', ...owner, keyId, memberId, memories },
      'The memories of a user were erased',
    );
  }
}
