/** One response lists all files of an agent, with their scopes. */
export const MAX_UPLOADS_OF_AGENT = 2_000;
/** Rows of that list that one statement reads. */
export const LISTED_AT_ONCE = 100;

/** Contract, section 5. */
export const MAX_SCOPE_ENTRIES = 16;
/** In code points, like the limits of `userContext`. */
export const MAX_SCOPE_KEY_LENGTH = 255;
export const MAX_SCOPE_VALUE_LENGTH = 1_000;
/** The size of a scope as JSON. */
export const MAX_SCOPE_BYTES = 2_048;

/** Uploads for which a process uses the database, or the file store, at a time: thousands may arrive at once. */
export const UPLOADS_WRITTEN_AT_ONCE = 3;
export const UPLOADS_STORED_AT_ONCE = 8;

/** Files that one worker process parses at a time. More than two times `SLOTS_OF_ORGANIZATION`, so that two organizations with slow files do not use all of it. */
export const PARSED_AT_ONCE = 5;
/** Files of one organization that are in the queue or being parsed at a time. Its other files have no job yet. */
export const SLOTS_OF_ORGANIZATION = 2;
/** The pauses between attempts add up to ten minutes: an outage of the file store may last that long. */
export const PARSE_ATTEMPTS = 8;
export const PARSE_BACKOFF_SECONDS = 5;

export const CHECK_EVERY_MINUTES = 5;
/** Rows that one transaction of the check changes. */
export const CHECK_BATCH = 100;
/** If an upload is `pending` for longer, the process that stored its content has died. */
export const UNFINISHED_MS = 3_600_000;
/** If a file is `processing` for longer without a new attempt, its job may be lost. Longer than the longest pause between attempts. */
export const UNPARSED_MS = 30 * 60_000;
/** If an upload is `removing` for longer, its job may be lost. */
export const UNREMOVED_MS = 10 * 60_000;

/** Uploads of a deleted agent that one query reads. */
export const REMOVE_BATCH = 100;
