import { Injectable } from '@nestjs/common';
import { Clock, Semaphore } from '../../../platform/clock/index.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { type DriveFile, selectedOf, type SelectedFile } from '../domain/drive-file.js';
import { ASK_AGAIN_MS, ASK_AGAIN_PAUSE_MS, LOOK_UP_MS, LOOK_UPS_AT_ONCE } from '../limits.js';
import { isFileId } from './drive-answers.js';
import { type DriveAccess, DriveApi } from './drive-api.js';

export interface LookedUp {
  readonly files: SelectedFile[];
  /** What the account cannot see, trashed entries included. */
  readonly unseen: readonly string[];
}

/** Finds out what selected entries are. */
@Injectable()
export class DriveLookUp {
  constructor(
    private readonly api: DriveApi,
    private readonly clock: Clock,
  ) {}

  /** @param ids one that is there twice counts once. @throws DriveFailure */
  async execute(access: DriveAccess, ids: readonly string[]): Promise<LookedUp> {
    const deadline = this.clock.monotonic() + LOOK_UP_MS;
    const turns = new Semaphore(LOOK_UPS_AT_ONCE);
    const rest = new AbortController();
    const find = async (id: string) => ({
      id,
      file: await turns.run(() => this.find(access, id, deadline, rest.signal)),
    });
    // After a failure the drive is not asked for the others.
    const found = await Promise.all([...new Set(ids)].map(find)).finally(() => rest.abort());
    // An alias, such as `root`, is another name of the same entry.
    const files = new Map(found.flatMap(({ file }) => (file ? [[file.id, selectedOf(file)] as const] : [])));
    return { files: [...files.values()], unseen: found.flatMap(({ id, file }) => (file ? [] : [id])) };
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
    try {
      const file = await this.read(access, id, signal);
      return file.isTrashed ? null : file;
    } catch (error) {
      if (error instanceof DriveFailure && ['not_found', 'forbidden', 'bad_request'].includes(error.reason))
        return null;
      throw error;
    }
  }

  /** Asks once more when the drive is busy or unreachable, unless that takes longer than a waiting request should. */
  private async read(access: DriveAccess, id: string, signal: AbortSignal): Promise<DriveFile> {
    const askedAt = this.clock.monotonic();
    try {
      return await this.api.file(access, id, signal);
    } catch (error) {
      if (!(error instanceof DriveFailure) || !['busy', 'unreachable'].includes(error.reason)) throw error;
      const pauseMs = error.retryAfterMs ?? ASK_AGAIN_PAUSE_MS;
      if (this.clock.monotonic() - askedAt + pauseMs > ASK_AGAIN_MS) throw error;
      await this.clock.sleep(pauseMs);
      return this.api.file(access, id, signal);
    }
  }
}
