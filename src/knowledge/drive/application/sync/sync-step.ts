import type { ClaimedSource } from '../../persistence/drive-source.repository.js';
import type { DriveAccess } from '../drive-api.js';

/** What one step of a sync works with. */
export interface SyncStep {
  readonly source: ClaimedSource;
  readonly access: DriveAccess;
  readonly signal: AbortSignal;
}
