/** One request for a listing, a file's description or a token. No longer than `MAX_REQUEST_MS` of the OAuth module. */
export const REQUEST_MS = 15_000;
/** The content of one file. */
export const DOWNLOAD_MS = 60_000;
/** One answer that describes files. */
export const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
export const MAX_TOKEN_ANSWER_BYTES = 64 * 1024;
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
/** The pause before a failed look-up is repeated once, if the drive names none. */
export const ASK_AGAIN_PAUSE_MS = 1_000;
/** How long a failed look-up and that pause may take together; otherwise it is not repeated. */
export const ASK_AGAIN_MS = 5_000;

/** Files of one source. Contract, section 5. */
export const MAX_FILES = 2_000;
/** Folders and shortcuts of one source. */
export const MAX_FOLDERS = 2_000;
/** Pages of one folder; listing one with more does not come to an end. */
export const MAX_FOLDER_PAGES = 50;
/** Pages of changes that one sync reads; after more of them everything is listed anew. */
export const MAX_CHANGE_PAGES = 50;

/** Files and pages of folders that one step of a sync works on. */
export const STEP_ITEMS = 10;
/** Steps of one worker process: they wait for the drive more than they compute, and each may hold one file of 50 MB. */
export const STEPS_AT_ONCE = 3;
/** Documents that one statement finds for their removal. */
export const REMOVE_BATCH = 50;
/** A step that has not renewed its lease for this long counts as dead. Longer than one file takes. */
export const STEP_LEASE_MS = 120_000;
/** Times that a file is begun before it counts as failed: one that ends its process each time comes to an end too. */
export const MAX_ATTEMPTS = 3;
/** Steps in a row that the drive refused for now, before the sync fails. */
export const MAX_STALLS = 8;
export const STALL_PAUSE_MS = 2_000;
/** Longest wait that the drive may ask for between two steps. */
export const MAX_STALL_MS = 60_000;

/** Syncs under way are looked at this often, and due ones begun. */
export const SCHEDULE_EVERY_MINUTES = 1;
export const SCHEDULE_BATCH = 100;
/** After its time a step is begun again by the schedule. */
export const OVERDUE_MS = 30_000;
/** Between two syncs of a source, give or take a tenth, so that not all begin at once. */
export const SYNC_EVERY_MS = 3_600_000;

/** Access tokens of service accounts that a process keeps. */
export const CACHED_TOKENS = 5_000;
/** How long the assertion of a service account counts. RFC 7523. */
export const ASSERTION_SECONDS = 3_600;
