import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { type DriveFile, selectedOf, type SelectedFile } from '../domain/drive-file.js';
import { isFileId } from './drive-answers.js';
import { DriveApi } from './drive-api.js';
import type { DriveAccess } from './drive-http.js';
import { ASK_AGAIN_MS, ASK_AGAIN_PAUSE_MS, LOOK_UP_MS, LOOK_UPS_AT_ONCE } from '../limits.js';

export interface LookedUp {
  readonly files: readonly SelectedFile[];
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
    const unique = [...new Set(ids)];
    const found = new Map<string, DriveFile | null>();
    const deadline = this.clock.monotonic() + LOOK_UP_MS;
    const rest = unique.values();
    const work = async (): Promise<void> => {
      const patience = { leftMs: ASK_AGAIN_MS };
      for (const id of rest) {
        if (this.clock.monotonic() > deadline) throw new DriveFailure('unreachable', 'The drive is too slow to look up all the files.');
        found.set(id, await this.find(access, id, patience));
      }
    };
    await Promise.all(Array.from({ length: LOOK_UPS_AT_ONCE }, work));
    // An alias, such as `root`, is another name of the same entry.
    const files = new Map(unique.flatMap((id) => found.get(id) ?? []).map((file) => [file.id, selectedOf(file)]));
    return { files: [...files.values()], unseen: unique.filter((id) => !found.get(id)) };
  }

  private async find(access: DriveAccess, id: string, patience: { leftMs: number }): Promise<DriveFile | null> {
    if (!isFileId(id)) return null;
    try {
      const file = await this.read(access, id, patience);
      return file.isTrashed ? null : file;
    } catch (error) {
      if (error instanceof DriveFailure && ['not_found', 'forbidden', 'bad_request'].includes(error.reason)) return null;
      throw error;
    }
  }

  /** Asks once more when the drive is busy or unreachable, unless that would take more time than a waiting request has left. */
  private async read(access: DriveAccess, id: string, patience: { leftMs: number }): Promise<DriveFile> {
    const askedAt = this.clock.monotonic();
    try {
      return await this.api.file(access, id);
    } catch (error) {
      if (!(error instanceof DriveFailure) || !['busy', 'unreachable'].includes(error.reason)) throw error;
      const pauseMs = error.retryAfterMs ?? ASK_AGAIN_PAUSE_MS;
      patience.leftMs -= this.clock.monotonic() - askedAt + pauseMs;
      if (patience.leftMs < 0) throw error;
      await this.clock.sleep(pauseMs);
      return this.api.file(access, id);
    }
  }
}
