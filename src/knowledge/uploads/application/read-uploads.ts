import { Injectable } from '@nestjs/common';
import { TimeSlice } from '../../../platform/clock/index.js';
import type { Upload } from '../domain/upload.js';
import { LISTED_AT_ONCE } from '../limits.js';
import { UploadRepository } from '../persistence/upload.repository.js';

@Injectable()
export class ReadUploads {
  constructor(private readonly uploads: UploadRepository) {}

  /** Lists all uploads of an agent, newest first. Reads pages, because one statement for thousands of rows would block the embedded database. */
  async ofAgent(organizationId: string, agentId: string): Promise<Upload[]> {
    const all: Upload[] = [];
    // The embedded database runs in this thread: without a pause no other request is served between two pages.
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
