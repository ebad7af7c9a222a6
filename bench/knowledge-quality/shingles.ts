const URL_TEXT = /\(?<?https?:\/\/[^\s)>\]]*[)>]?/g;
/** In scripts without spaces between words, each character is a word. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+?(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[^\p{L}\p{N}\p{M}]|$)/gu;
const LENGTH = 5;

/** Words in order, with case, without spaces, punctuation and addresses. */
export function wordsOf(text: string): string[] {
  return text.normalize('NFKC').replace(URL_TEXT, ' ').match(WORD) ?? [];
}

/** All sequences of one to five words of a text. */
export class Shingles {
  private readonly known = new Set<string>();

  constructor(words: readonly string[]) {
    for (let at = 0; at < words.length; at += 1) {
      let run = '';
      for (const word of words.slice(at, at + LENGTH)) this.known.add((run += ` ${word}`));
    }
  }

  /** How many of the words are in the text as part of a sequence of five of them, or of all if there are fewer. */
  covered(words: readonly string[]): number {
    const length = Math.min(LENGTH, words.length);
    let [count, end] = [0, 0];
    for (let at = 0; at + length <= words.length; at += 1) {
      if (!this.known.has(` ${words.slice(at, at + length).join(' ')}`)) continue;
      count += at + length - Math.max(at, end);
      end = at + length;
    }
    return count;
  }
}
