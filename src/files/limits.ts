const DAY_MS = 24 * 3_600_000;

/** 50 MB, as the interface has it. */
export const MAX_UPLOAD_BYTES = 50 * 1024 * 1024;
/** How long the URL of an upload answers to whoever has it. Messages that refer to it need no fresh one. */
export const URL_LIFETIME_MS = 3_600_000;

/**
 * An upload that nobody used for this time is removed, unless a message that is still there refers to it.
 * Long enough for a client that uploads today and sends the message after a holiday.
 */
export const UNUSED_MS = 30 * DAY_MS;
/** Uses are noted this exactly, so that a run seldom costs a write. */
export const USE_NOTED_EVERY_MS = DAY_MS;
export const REMOVE_EVERY_MINUTES = 24 * 60;
/** Rows claimed by one statement; their files are removed one after the other. */
export const REMOVE_BATCH = 100;
/** An upload that was not finished after this time was given up by a process that died. */
export const UNFINISHED_MS = DAY_MS;

/** What one attachment may be, as it is fetched: providers take requests of about 30 MB in base64. */
export const MAX_ATTACHMENT_BYTES = 20 * 1024 * 1024;
/**
 * What the attachments of all runs under way may take in a process's memory. Files of a new message that find no room
 * are `503`, those of earlier messages are left out with a note. Four runs with as much as a request may carry.
 */
export const ATTACHMENT_MEMORY_BYTES = 256 * 1024 * 1024;
export const ATTACHMENT_TIMEOUT_MS = 30_000;
export const ATTACHMENT_REDIRECTS = 5;
