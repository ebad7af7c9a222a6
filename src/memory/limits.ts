/** Memories that are kept of one user by one agent. The least useful ones go beyond that. */
export const MAX_MEMORIES = 500;

/** Characters of one memory. */
export const MAX_MEMORY_TEXT = 2_000;

/** Memories that one reply may save: what a model is talked into cannot push out all that is known of a user. And searches. */
export const MAX_SAVED_A_REPLY = 20;
export const MAX_SEARCHES_A_REPLY = 20;

/** How long a use of a memory takes to count half. */
export const USE_HALF_LIFE_DAYS = 30;

/** Memories in the prompt, the most useful ones; characters of all of them, and of each. */
export const MAX_RECALLED = 20;
export const MAX_RECALLED_CHARACTERS = 4_000;
export const MAX_RECALLED_TEXT = 400;
/** Of the stored text that may become these: white space is drawn together. */
export const MAX_RECALLED_SOURCE = 4 * MAX_RECALLED_TEXT;

/** What one search answers at most. */
export const MAX_FOUND = 8;

/** Characters of a query. */
export const MAX_QUERY = 1_000;

/** Where meaning can be compared, what it counts for beside words. */
export const MEANING_WEIGHT = 0.6;

/** What is found with less than this share of the best one's score is no answer to the same question. */
export const MIN_SHARE_OF_BEST = 0.5;

/** Words that two texts share, of all words of both: from there on they are similar. */
export const SIMILAR_SHARE = 0.4;

/** Terms of each memory that a text to be saved is first compared by; the most similar ones are then compared whole. */
export const COMPARED_TERMS = 64;
export const MAX_SIMILAR_COMPARED = 6;

/** Similar memories that a model is told of when it saves another one. */
export const MAX_SIMILAR_TOLD = 3;

/** Memories read by one statement: of the longest ones a megabyte with their vectors, after which others are served. */
export const READ_AT_ONCE = 100;

/** Memories that are embedded between two writes. */
export const EMBEDDED_AT_ONCE = 64;

/** Rows that are removed at once of an agent that is gone. */
export const REMOVED_AT_ONCE = 1_000;
