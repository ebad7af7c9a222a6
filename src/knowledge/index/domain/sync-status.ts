/** The states of a sync, as the service document names them. */
export const SYNC_STATES = ['IN_PROGRESS', 'SUCCESS', 'PARTIAL_SUCCESS', 'FAILED', 'SUSPENDED'] as const;
export type SyncState = (typeof SYNC_STATES)[number];

export interface SyncStatus {
  readonly state: SyncState;
  readonly lastSuccessfulSyncAt: Date | null;
  /** Public text, of the last sync that ended; null if it had no error. */
  readonly lastError: string | null;
  readonly startedAt: Date | null;
}
