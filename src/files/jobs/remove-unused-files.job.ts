import { Clock } from '../../platform/clock/index.js';
import { FileStore } from '../../platform/files/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { FileHolders } from '../application/file-holders.js';
import { storageKey } from '../domain/file.js';
import { FileRepository, type StoredContent } from '../persistence/file.repository.js';
import { REMOVE_EVERY_MINUTES } from '../limits.js';

/** Sorts before every id. */
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

/** Removes uploads that were not used for 30 days and that no message refers to, and uploads that were never finished. */
export const removeUnusedFiles = definePeriodicJob('files.remove-unused', REMOVE_EVERY_MINUTES);

@Processor(removeUnusedFiles.name)
export class RemoveUnusedFiles extends WorkerHost {
  constructor(
    private readonly files: FileRepository,
    private readonly store: FileStore,
    private readonly holders: FileHolders,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    const now = this.clock.now();
    let removed = 0;
    let after: string | undefined = LOWEST_ID;
    while (after !== undefined) {
      signal.throwIfAborted();
      const batch = await this.files.removable(now, after);
      const unreferenced = await this.holders.unreferenced(batch.map(({ id }) => id));
      for (const file of batch) {
        if (unreferenced.includes(file.id) && (await this.remove(file, now))) removed += 1;
      }
      after = batch.at(-1)?.id;
    }
    if (removed > 0) this.logger.info({ files: removed }, 'Removed unused uploads');
  }

  /** The claim makes the file invisible. The content is removed before the row, which is the only record of it. */
  private async remove(file: StoredContent, now: Date): Promise<boolean> {
    if (!(await this.files.claim(file.id, now))) return false;
    await this.store.remove(storageKey(file));
    await this.files.delete(file.id);
    return true;
  }
}
