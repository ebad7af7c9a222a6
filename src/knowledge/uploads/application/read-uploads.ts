import { Injectable } from '@nestjs/common';
import { TimeSlice } from '../../../platform/clock/index.js';
import type { Upload } from '../domain/upload.js';
import { LISTED_AT_ONCE } from '../limits.js';
import { UploadRepository } from '../persistence/upload.repository.js';

@Injectable()
export class ReadUploads {
  constructor(private readonly uploads: UploadRepository) {}

  /** All of an agent, newest first: several short statements, between which others have their turn, since one that answers thousands of rows holds them up. */
  async ofAgent(organizationId: string, agentId: string): Promise<Upload[]> {
    const all: Upload[] = [];
    // The embedded database answers without giving other requests their turn.
    const slice = new TimeSlice(0);
    let page: Upload[];
    do {
      page = await this.uploads.list(organizationId, agentId, LISTED_AT_ONCE, all.at(-1)?.id);
      all.push(...page);
      await slice.rest();
    } while (page.length === LISTED_AT_ONCE);
    return all;
  }
}
