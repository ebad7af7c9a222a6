const DAY_MS = 24 * 3_600_000;

/** 50 MB, as the interface defines it. */
export const MAX_UPLOAD_BYTES = 50 * 1024 * 1024;
/** How long the URL of an upload is valid. Messages may refer to it for longer. */
export const URL_LIFETIME_MS = 3_600_000;

/** An upload that was not used for this time is removed, unless a message refers to it. */
export const UNUSED_MS = 30 * DAY_MS;
/** The precision of a file's last use, so that a run seldom costs a write. */
export const USE_PRECISION_MS = DAY_MS;
export const REMOVE_EVERY_MINUTES = 24 * 60;
/** Rows read by one statement; their files are removed one after the other. */
export const REMOVE_BATCH = 100;
/** An upload that is not finished after this time counts as abandoned by a process that died. */
export const UNFINISHED_MS = DAY_MS;

/** Of one attachment: providers accept requests of about 30 MB in base64. */
export const MAX_ATTACHMENT_BYTES = 20 * 1024 * 1024;
/** For all active runs of a process. If it is full, a new message with files gets `503`, and files of earlier messages are left out with a note. */
export const ATTACHMENT_MEMORY_BYTES = 256 * 1024 * 1024;
export const ATTACHMENT_TIMEOUT_MS = 30_000;
export const ATTACHMENT_REDIRECTS = 5;
