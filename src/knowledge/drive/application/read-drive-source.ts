import { Injectable } from '@nestjs/common';
import type { DriveSourceKind } from '../domain/drive-source.js';
import { DriveSourceNotFound } from '../domain/drive-errors.js';
import type { StoreUsage } from '../../index/domain/source-kind.js';
import type { StoredDriveSource } from '../persistence/drive.entities.js';
import { DriveItemRepository } from '../persistence/drive-item.repository.js';
import { DriveSourceRepository } from '../persistence/drive-source.repository.js';

export type ReadSource = StoredDriveSource & StoreUsage;

@Injectable()
export class ReadDriveSource {
  constructor(
    private readonly sources: DriveSourceRepository,
    private readonly items: DriveItemRepository,
  ) {}

  /** @throws DriveSourceNotFound */
  async execute(organizationId: string, agentId: string, kind: DriveSourceKind): Promise<ReadSource> {
    const source = await this.sources.find(organizationId, agentId, kind);
    if (!source) throw new DriveSourceNotFound();
    return { ...source, ...(await this.items.usage(source)) };
  }
}
