import type { ClaimedSource } from '../../persistence/drive-source.repository.js';
import type { DriveAccess } from '../drive-api.js';

export interface SyncStep {
  readonly source: ClaimedSource;
  readonly access: DriveAccess;
  readonly signal: AbortSignal;
}
