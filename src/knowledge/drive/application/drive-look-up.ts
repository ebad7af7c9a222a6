import { Injectable } from '@nestjs/common';
import { Clock, Semaphore } from '../../../platform/clock/index.js';
import { DriveFailure, isFailure, nullOn } from '../domain/drive-failure.js';
import { type DriveFile, type SelectedFile, toSelectedFile } from '../domain/drive-file.js';
import { MAX_RETRY_MS, RETRY_PAUSE_MS, LOOK_UP_MS, LOOK_UPS_AT_ONCE } from '../limits.js';
import { isFileId } from './drive-responses.js';
import { type DriveAccess, DriveApi } from './drive-api.js';

export interface LookedUp {
  readonly files: SelectedFile[];
  /** Ids that the account cannot see, including trashed entries. */
  readonly notVisible: readonly string[];
}

/** Reads the selected entries from the drive. */
@Injectable()
export class DriveLookUp {
  constructor(
    private readonly api: DriveApi,
    private readonly clock: Clock,
  ) {}

  /** @param ids duplicates count once. @throws DriveFailure */
  async execute(access: DriveAccess, ids: readonly string[]): Promise<LookedUp> {
    const deadline = this.clock.monotonic() + LOOK_UP_MS;
    const connections = new Semaphore(LOOK_UPS_AT_ONCE);
    const stop = new AbortController();
    const find = async (id: string) => {
      return { id, file: await connections.run(() => this.find(access, id, deadline, stop.signal)) };
    };
    // After a failure no further request is sent.
    const found = await Promise.all([...new Set(ids)].map(find)).finally(() => stop.abort());
    // By the id that the drive returns: an alias, such as `root`, is another id of the same entry.
    const files = new Map(found.flatMap(({ file }) => (file ? [[file.id, toSelectedFile(file)] as const] : [])));
    return { files: [...files.values()], notVisible: found.flatMap(({ id, file }) => (file ? [] : [id])) };
  }

  private async find(
    access: DriveAccess,
    id: string,
    deadline: number,
    signal: AbortSignal,
  ): Promise<DriveFile | null> {
    signal.throwIfAborted();
    if (!isFileId(id)) return null;
    if (this.clock.monotonic() > deadline)
      throw new DriveFailure('unreachable', 'The drive is too slow to look up all the files.');
    const file = await nullOn(['not_found', 'forbidden', 'bad_request'], this.read(access, id, signal));
    return file?.isTrashed === false ? file : null;
  }

  /** Retries once when the drive is busy or unreachable, unless the caller would wait too long. */
  private async read(access: DriveAccess, id: string, signal: AbortSignal): Promise<DriveFile> {
    const startedAt = this.clock.monotonic();
    try {
      return await this.api.file(access, id, signal);
    } catch (error) {
      if (!isFailure(error, ['busy', 'unreachable'])) throw error;
      const pauseMs = error.retryAfterMs ?? RETRY_PAUSE_MS;
      if (this.clock.monotonic() - startedAt + pauseMs > MAX_RETRY_MS) throw error;
      await this.clock.sleep(pauseMs);
      return this.api.file(access, id, signal);
    }
  }
}
