import { Injectable } from '@nestjs/common';
import { Logger } from '../../platform/telemetry/index.js';
import type { MemoryOwner } from '../domain/memory.js';

/** The API key, and its member, that reads or erases a user's memories. */
export interface Auditor {
  readonly keyId: string;
  readonly memberId: string;
}

/** Logs who read or erased whose memories. The user appears as a key, and texts never appear. */
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
