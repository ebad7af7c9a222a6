import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { KEPT_VERSIONS, PURGED_VERSIONS, PURGE_VERSIONS_EVERY_MINUTES } from '../application/limits.js';
import { OldVersionsRepository } from '../persistence/old-versions.repository.js';

/** Removes all but the newest versions of agents. */
export const purgeVersions = definePeriodicJob('agents.purge-versions', PURGE_VERSIONS_EVERY_MINUTES);

@Processor(purgeVersions.name)
export class PurgeVersions extends WorkerHost {
  constructor(private readonly versions: OldVersionsRepository) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    const bounds = { kept: KEPT_VERSIONS, limit: PURGED_VERSIONS };
    for (const { organizationId, agentId } of await this.versions.agents(KEPT_VERSIONS)) {
      signal.throwIfAborted();
      await this.versions.removeUnusedTexts(organizationId, agentId);
      do signal.throwIfAborted();
      while ((await this.versions.removeSome(organizationId, agentId, bounds)) === PURGED_VERSIONS);
    }
  }
}
