import type { SelectedFile } from './drive-file.js';
import type { SyncStatus } from '../../index/domain/sync-status.js';

/** With whose eyes the drive is seen. */
export type DriveSourceKind = 'service_account' | 'sign_in';

export interface SourceId {
  readonly organizationId: string;
  readonly id: string;
}

/** `begin`: nothing is known yet of what has to be done. `changes`: the drive is asked what has changed. `work`: items have work left. */
export type SyncPhase = 'begin' | 'changes' | 'work';

/** What an agent knows of a drive, while a step of its sync has the lease. */
export interface ClaimedSource extends SourceId {
  readonly agentId: string;
  /** Of a service account. */
  readonly accountId: string | null;
  readonly files: readonly SelectedFile[];
  readonly lease: string;
  readonly syncId: string;
  readonly phase: SyncPhase;
  /** Everything is listed anew, so that what is not seen is gone. */
  readonly isFull: boolean;
  readonly isTruncated: boolean;
  readonly changeToken: string | null;
  readonly changePages: number;
  /** Steps in a row that came to nothing. */
  readonly stalls: number;
}

export interface DriveItem {
  readonly fileId: string;
  /** `unknown` until it was looked up. */
  readonly kind: 'unknown' | 'file' | 'folder' | 'shortcut';
  /** How the sync came to it. */
  readonly via: 'selected' | 'folder' | 'shortcut';
  readonly name: string;
  readonly mimeType: string;
  readonly url: string | null;
  readonly size: number | null;
  readonly fingerprint: string | null;
  readonly todo: 'look_up' | 'list' | 'fetch' | 'remove' | null;
  readonly pageToken: string | null;
  /** Of a folder, that were read. */
  readonly pages: number;
  /** How often its present work was begun. */
  readonly attempts: number;
  readonly result: 'indexed' | 'failed' | 'unreadable' | 'skipped' | 'gone' | null;
  readonly error: string | null;
  readonly documentId: string | null;
  /** The sync that saw it last. */
  readonly seenIn: string;
}

/** What a sync has come to, for its last state. */
export interface SyncTotals {
  readonly indexed: number;
  /** Files that failed, cannot be read or are gone. */
  readonly wrong: number;
  readonly firstWrong: { readonly name: string; readonly error: string } | null;
  readonly isTruncated: boolean;
}

export function endOf({ indexed, wrong, firstWrong, isTruncated }: SyncTotals, maxFiles: number): Pick<SyncStatus, 'lastError'> & { readonly state: 'SUCCESS' | 'PARTIAL_SUCCESS' | 'FAILED' } {
  if (wrong === 0 && !isTruncated) return { state: 'SUCCESS', lastError: null };
  const others = wrong > 1 ? ` (and ${wrong - 1} more)` : '';
  const complaints = [
    ...(firstWrong ? [`${firstWrong.name.slice(0, 200)}: ${firstWrong.error}${others}`] : []),
    ...(isTruncated ? [`There are more than ${maxFiles} files or folders; the others were left out.`] : []),
  ];
  return { state: indexed === 0 ? 'FAILED' : 'PARTIAL_SUCCESS', lastError: complaints.join(' ') };
}
