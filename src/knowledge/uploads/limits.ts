/** Files of one agent: they are listed in one answer, with their scopes. */
export const MAX_UPLOADS_OF_AGENT = 2_000;
/** Rows that one statement answers of that list. */
export const LISTED_AT_ONCE = 100;

/** Contract, section 5. */
export const MAX_SCOPE_ENTRIES = 16;
/** In code points, as `userContext` has them. */
export const MAX_SCOPE_KEY_LENGTH = 255;
export const MAX_SCOPE_VALUE_LENGTH = 1_000;
/** Of a scope as JSON, in bytes. */
export const MAX_SCOPE_BYTES = 2_048;

/** Uploads for which a process asks the database, and the file store, at a time: thousands may arrive at once. */
export const UPLOADS_WRITTEN_AT_ONCE = 3;
export const UPLOADS_STORED_AT_ONCE = 8;

/** Files that one worker process has parsed at a time. More than two times `TURNS_OF_ORGANIZATION`, so that two organizations with slow files do not take all. */
export const PARSED_AT_ONCE = 5;
/** Files of one organization that wait in the queue, or are parsed, at a time; its others have no job yet. */
export const TURNS_OF_ORGANIZATION = 2;
/** The pauses between them add up to ten minutes: a file store may be away for that long. */
export const PARSE_ATTEMPTS = 8;
export const PARSE_BACKOFF_SECONDS = 5;

export const CHECK_EVERY_MINUTES = 5;
/** Rows that one statement of the check takes. */
export const CHECK_BATCH = 100;
/** A content that was not stored after this time was given up by a process that died. */
export const UNFINISHED_MS = 3_600_000;
/** A file whose turn it is, and whose parsing has not begun for this time, may have lost its job. Longer than the longest pause between attempts. */
export const UNPARSED_MS = 30 * 60_000;
/** A removal that did not end within this time may have lost its job. */
export const UNREMOVED_MS = 10 * 60_000;

/** Files of a deleted agent that are removed before the next ones are looked for. */
export const REMOVE_BATCH = 100;
