/** How long computing keeps the thread before others have their turn, in ms. */
export const COMPUTE_SLICE_MS = 10;
/** Chunks that one transaction inserts: some 20 ms of the embedded database's time. */
export const INSERTED_AT_ONCE = 32;
/** Chunks that one transaction deletes, with their vectors. */
export const DELETED_AT_ONCE = 32;
/** Chunks whose row one transaction changes, their words aside. */
export const CHANGED_AT_ONCE = 250;
/** How often a document is begun anew that another process is writing too, and how long each time is waited for it, in ms. */
export const MAX_WRITE_ATTEMPTS = 6;
export const WRITE_AGAIN_AFTER_MS = 500;
/** Chunks of a former version of the service are found by keywords after as many minutes at most. */
export const KEEP_POSTINGS_EVERY_MINUTES = 1;
/** Terms of which one transaction removes the postings of chunks that are gone. */
export const COMPACTED_AT_ONCE = 500;

/** Documents of a deleted agent that are removed before the next ones are looked for. */
export const REMOVE_BATCH = 100;
/** Terms of its index removed by one statement. */
export const TERMS_BATCH = 1_000;
