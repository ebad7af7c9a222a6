import { randomNumbers } from './knowledge-text.ts';

/** Seed of the memories that the upstream's model saves, so that they differ from the stored ones. */
export const UPSTREAM_SEED = 2;
export const STORED_SEED = 1;

const NAMES = words(
  'Maria Tomasz Aylin Henrik Chiara Oleg Fatima Jonas Priya Mateo Sofia Kenji Amara Lukas Noor Pavel Greta Diego Hanna Samuel Leila Marek Yuki Elena',
);
const PLACES = words(
  'Hamburg Leeds Porto Gdansk Bergen Trieste Nantes Malmo Antwerp Riga Bilbao Cork Genoa Turku Split Ghent Rostock Varna Bremen Vigo',
);
const DAYS = words('Monday Tuesday Wednesday Thursday Friday Saturday Sunday weekends');
const THINGS = words(
  'invoice budget garden bicycle contract kitchen ferry violin passport roof newsletter warehouse dentist orchard camera insurance balcony marathon boiler novel terrace piano visa ' +
    'tenant vineyard laptop wedding tractor mortgage sauna archive workshop canoe recipe scooter bakery telescope stable printer hammock carpet lantern ledger pension quarry relay ' +
    'saddle tunnel uniform vaccine wardrobe yacht anchor blanket candle drawer engine fountain glacier harvest island jacket kettle ladder mirror needle oven pillow',
);

type Pick = (from: readonly string[]) => string;

const SENTENCES: readonly ((pick: Pick) => string)[] = [
  (pick) =>
    `The user's colleague ${pick(NAMES)} in ${pick(PLACES)} looks after the ${pick(THINGS)} and the ${pick(THINGS)}, and wants to be asked on ${pick(DAYS)} before anything about the ${pick(THINGS)} is decided.`,
  (pick) =>
    `Prefers short answers about the ${pick(THINGS)}, but needs every detail when ${pick(NAMES)} from ${pick(PLACES)} writes about a ${pick(THINGS)}, because the ${pick(THINGS)} went wrong last year.`,
  (pick) =>
    `Moved from ${pick(PLACES)} to ${pick(PLACES)} with ${pick(NAMES)} two years ago, sold the ${pick(THINGS)} there and is now saving money for a ${pick(THINGS)} and perhaps a new ${pick(THINGS)}.`,
  (pick) =>
    `Never available on ${pick(DAYS)}: that is when ${pick(NAMES)} needs help with the ${pick(THINGS)}; calls about the ${pick(THINGS)} or the ${pick(THINGS)} in ${pick(PLACES)} can wait until later.`,
  (pick) =>
    `Decided against the ${pick(THINGS)} that ${pick(NAMES)} had offered in ${pick(PLACES)}, since it costs too much, and would rather repair the old ${pick(THINGS)} and the ${pick(THINGS)} first.`,
];

/** Sentences that a model would store about a user, of about 150 characters; the same for the same seed. */
export class MemoryText {
  private readonly random: () => number;

  constructor(seed: number) {
    this.random = randomNumbers(seed);
  }

  sentence(): string {
    return this.pick(SENTENCES)((from) => this.pick(from));
  }

  /** A search query with words of a few of the sentences. */
  query(): string {
    return `What did ${this.pick(NAMES)} want with the ${this.pick(THINGS)} in ${this.pick(PLACES)}?`;
  }

  private pick<Element>(from: readonly Element[]): Element {
    const [first] = from;
    const picked = from[Math.floor(this.random() * from.length)] ?? first;
    if (picked === undefined) throw new RangeError('There is nothing to pick from');
    return picked;
  }
}

function words(list: string): readonly string[] {
  return list.split(' ');
}
