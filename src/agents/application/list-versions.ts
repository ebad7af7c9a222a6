import { Injectable } from '@nestjs/common';
import type { AgentVersion } from '../domain/agent-version.js';
import { AgentVersionsRepository } from '../persistence/agent-versions.repository.js';
import { VERSIONS_PAGE_BYTES } from './limits.js';

@Injectable()
export class ListVersions {
  constructor(private readonly versions: AgentVersionsRepository) {}

  /**
   * Newest first, as many as fit a page.
   * @param page.before only versions older than this one; undefined for the newest
   */
  async execute(
    organizationId: string,
    agentId: string,
    page: { readonly before: number | undefined; readonly most: number },
  ): Promise<AgentVersion[]> {
    return this.versions.list(organizationId, agentId, { ...page, mostBytes: VERSIONS_PAGE_BYTES });
  }
}
