import type { SyncStatus } from '../../index/domain/sync-status.js';

/** The account as which the drive is read: a service account, or that of a person who has signed in. */
export type DriveSourceKind = 'service_account' | 'sign_in';

export interface SourceId {
  readonly organizationId: string;
  readonly id: string;
}

/** `begin`: nothing is known yet of what has to be done. `changes`: the drive is asked what has changed. `work`: items have work left. */
export type SyncPhase = 'begin' | 'changes' | 'work';

/** What a sync has come to, for its last state. */
export interface SyncTotals {
  readonly indexed: number;
  /** Files that failed, cannot be read or are gone. */
  readonly wrong: number;
  readonly firstWrong: { readonly name: string; readonly error: string } | null;
  readonly isTruncated: boolean;
}

export interface SyncEnd extends Pick<SyncStatus, 'lastError'> {
  readonly state: 'SUCCESS' | 'PARTIAL_SUCCESS' | 'FAILED';
}

export function endOf({ indexed, wrong, firstWrong, isTruncated }: SyncTotals, maxFiles: number): SyncEnd {
  if (wrong === 0 && !isTruncated) return { state: 'SUCCESS', lastError: null };
  const others = wrong > 1 ? ` (and ${wrong - 1} more)` : '';
  const complaints = [
    ...(firstWrong ? [`${firstWrong.name.slice(0, 200)}: ${firstWrong.error}${others}`] : []),
    ...(isTruncated ? [`There are more than ${maxFiles} files or folders; the others were left out.`] : []),
  ];
  return { state: indexed === 0 ? 'FAILED' : 'PARTIAL_SUCCESS', lastError: complaints.join(' ') };
}
