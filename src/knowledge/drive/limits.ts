/** One request for a listing, a file's description or a token. No longer than `MAX_REQUEST_MS` of the OAuth module. */
export const REQUEST_MS = 15_000;
/** Time for the content of one file. */
export const DOWNLOAD_MS = 60_000;
/** One response that describes files. */
export const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;
export const MAX_TOKEN_RESPONSE_BYTES = 64 * 1024;
/** Entries of one page of a folder, or of the changes. */
export const PAGE_SIZE = 100;

/** Entries that one agent may select. */
export const MAX_SELECTED = 500;
export const MAX_FILE_ID_LENGTH = 256;
export const MAX_NAME_LENGTH = 1_000;
export const MAX_URL_LENGTH = 2_048;
export const MAX_PAGE_TOKEN_LENGTH = 4_096;
/** Selected entries that are looked up at a time. */
export const LOOK_UPS_AT_ONCE = 8;
/** All look-ups of one request together. */
export const LOOK_UP_MS = 60_000;
/** The pause before a failed look-up is retried, where the drive names none. */
export const RETRY_PAUSE_MS = 1_000;
/** Longest time that a failed look-up and that pause may take; otherwise it is not retried. */
export const MAX_RETRY_MS = 5_000;

/** Files of one source. Contract, section 5. */
export const MAX_FILES = 2_000;
/** Folders and shortcuts of one source. */
export const MAX_FOLDERS = 2_000;
/** Pages of one folder. The listing of one with more fails. */
export const MAX_FOLDER_PAGES = 50;
/** Pages of changes that one sync reads. With more, everything is listed instead. */
export const MAX_CHANGE_PAGES = 50;

/** Files and pages of folders that one step of a sync works on. */
export const STEP_ITEMS = 10;
/** Steps that one process runs at a time. They mostly wait for the drive; each may hold one file of 50 MB. */
export const STEPS_AT_ONCE = 3;
/** Documents that are removed at a time. */
export const REMOVE_BATCH = 50;
/** A step that has not renewed its lease for this long counts as dead. Longer than one file may take. */
export const STEP_LEASE_MS = 120_000;
/** Attempts to fetch a file before it counts as failed. An attempt that ends the process counts too. */
export const MAX_ATTEMPTS = 3;
/** Steps in a row without progress before the sync fails. */
export const MAX_STALLS = 8;
export const STALL_PAUSE_MS = 2_000;
/** Longest pause between two steps. */
export const MAX_STALL_MS = 60_000;

/** Interval of the job that starts due syncs and resumes those whose process died. */
export const SCHEDULE_EVERY_MINUTES = 1;
export const SCHEDULE_BATCH = 100;
/** A step that is overdue for this long is enqueued again. */
export const OVERDUE_MS = 30_000;
/** Time between two syncs of a source, plus or minus a tenth, so that not all start together. */
export const SYNC_EVERY_MS = 3_600_000;

/** Access tokens of service accounts that a process caches. */
export const CACHED_TOKENS = 5_000;
/** How long the assertion of a service account is valid. RFC 7523. */
export const ASSERTION_SECONDS = 3_600;
