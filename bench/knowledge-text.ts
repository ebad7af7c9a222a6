const VOCABULARY = 60_000;

/** Returns the same numbers in every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

/** Words with frequencies as in natural languages: the second half as frequent as the first, and so on. */
export class ZipfText {
  private readonly random: () => number;
  private readonly words: readonly string[];
  private readonly sums: readonly number[];

  constructor(seed: number) {
    this.random = randomNumbers(seed);
    const letters = randomNumbers(7);
    const syllable = (): string => 'bcdfghklmnprstvw'.charAt(letters() * 16) + 'aeiou'.charAt(letters() * 5);
    this.words = Array.from(
      { length: VOCABULARY },
      (_, rank) =>
        Array.from({ length: 1 + Math.floor(Math.log(rank + 2) / 2.2 + letters() * 2) }, syllable).join('') +
        'nrst'.charAt(letters() * 5),
    );
    let sum = 0;
    this.sums = this.words.map((_, rank) => (sum += 1 / (rank + 3)));
  }

  word(): string {
    const at = this.random() * (this.sums.at(-1) ?? 0);
    let [low, high] = [0, this.sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.sums[middle] ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return this.words[low] ?? '';
  }

  of(count: number): string[] {
    return Array.from({ length: count }, () => this.word());
  }

  /** Mostly words of low frequency, some of them misspelt. */
  query(): string {
    const words = Array.from({ length: 2 + Math.floor(this.random() * 5) }, () => this.word());
    return (this.random() < 0.1 ? [...words, words[0]?.slice(1) ?? ''] : words).join(' ');
  }
}
