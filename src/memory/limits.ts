/** Memories that one agent keeps of one user. Beyond that, the least useful are removed. */
export const MAX_MEMORIES = 500;
/** Characters of one memory. */
export const MAX_MEMORY_TEXT = 2_000;
/** Saves in one reply, so that a manipulated model cannot push out all memories of a user; and searches in one reply. */
export const MAX_SAVED_A_REPLY = 20;
export const MAX_SEARCHES_A_REPLY = 20;
/** Days after which a use of a memory counts half. */
export const USE_HALF_LIFE_DAYS = 30;

/** Memories in the prompt, their characters in total, and the characters of each. */
export const MAX_RECALLED = 20;
export const MAX_RECALLED_CHARACTERS = 4_000;
export const MAX_RECALLED_TEXT = 400;
/** Characters that are read of each stored text: collapsing white space may shorten it. */
export const MAX_RECALLED_SOURCE = 4 * MAX_RECALLED_TEXT;

/** Results of one search. */
export const MAX_FOUND = 8;
/** Characters of a query. */
export const MAX_QUERY = 1_000;
/** The weight of meaning; words have the rest. */
export const MEANING_WEIGHT = 0.6;
/** Results that score below this share of the best are left out. */
export const MIN_SHARE_OF_BEST = 0.5;

/** Two texts that share at least this part of all their words are similar. */
export const SIMILAR_SHARE = 0.4;
/** A new text is first compared with this many terms of each memory, then with all terms of the most similar memories. */
export const COMPARED_TERMS = 64;
export const MAX_SIMILAR_COMPARED = 6;
/** Similar memories in the answer to a save. */
export const MAX_SIMILAR_SHOWN = 3;

/** Memories read by one statement: at most about a megabyte with their vectors, so that other statements do not wait long. */
export const READ_AT_ONCE = 100;
/** Memories that are embedded before their vectors are stored. */
export const EMBEDDED_AT_ONCE = 64;
/** Memories of a deleted agent that one statement removes. */
export const REMOVED_AT_ONCE = 1_000;
