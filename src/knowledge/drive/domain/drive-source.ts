import type { SyncStatus } from '../../index/domain/sync-status.js';

/** The account as which the drive is read: a service account, or that of a person who has signed in. */
export type DriveSourceKind = 'service_account' | 'sign_in';

export interface SourceId {
  readonly organizationId: string;
  readonly id: string;
}

/** `begin`: the sync decides how to find out what changed. `changes`: it reads the drive's list of changes. `work`: it works on items. */
export type SyncPhase = 'begin' | 'changes' | 'work';

/** The totals that decide how a sync ends. */
export interface SyncTotals {
  readonly indexed: number;
  /** Files that failed, cannot be read or are missing. */
  readonly failed: number;
  readonly firstFailed: { readonly name: string; readonly error: string } | null;
  readonly isTruncated: boolean;
}

export interface SyncEnd extends Pick<SyncStatus, 'lastError'> {
  readonly state: 'SUCCESS' | 'PARTIAL_SUCCESS' | 'FAILED';
}

export function toSyncEnd({ indexed, failed, firstFailed, isTruncated }: SyncTotals, maxFiles: number): SyncEnd {
  if (failed === 0 && !isTruncated) return { state: 'SUCCESS', lastError: null };
  const others = failed > 1 ? ` (and ${failed - 1} more)` : '';
  const problems = [
    ...(firstFailed ? [`${firstFailed.name.slice(0, 200)}: ${firstFailed.error}${others}`] : []),
    ...(isTruncated ? [`There are more than ${maxFiles} files or folders; the others were left out.`] : []),
  ];
  return { state: indexed === 0 ? 'FAILED' : 'PARTIAL_SUCCESS', lastError: problems.join(' ') };
}
