/** By language, because texts of two languages are further apart than unrelated texts of one. The texts of a language share no subject or word. */
const UNRELATED_TEXTS = [
  [
    'Moss covers shaded granite.',
    'Her violin needs new strings.',
    'Bishops move diagonally.',
    'Parliament rejected both amendments yesterday.',
  ],
  [
    'Gletscher formen enge Täler.',
    'Der Bäcker knetet Teig.',
    'Astronauten trainieren unter Wasser.',
    'Mein Onkel sammelt Briefmarken.',
  ],
  [
    'Los delfines duermen poco.',
    'Aquella novela ganó tres premios.',
    'El herrero templa acero.',
    'Hoy sopla viento del norte.',
  ],
  ['Пчёлы опыляют яблони.', 'Дирижёр поднял палочку.', 'На дне озера лежит якорь.', 'Скульптор выбрал белый мрамор.'],
  ['蜗牛在雨后爬行。', '她每天练习书法。', '火箭发射成功了。', '丝绸古道穿越沙漠。'],
  ['カエルは池で鳴く。', '祖父が将棋を教えた。', '富士山に初雪が降った。', '新しい橋を設計する。'],
] as const;

/** Constants, so that no stored text influences a score. */
export const CALIBRATION_TEXTS: readonly string[] = UNRELATED_TEXTS.flat();

/** The median cosine of unrelated texts. @param vectors of `CALIBRATION_TEXTS`, each with a direction */
export function unrelatedCosine(vectors: readonly (readonly number[])[]): number {
  let start = 0;
  const cosines = UNRELATED_TEXTS.flatMap(({ length }) => {
    const group = vectors.slice(start, (start += length));
    return group.flatMap((left, index) => group.slice(index + 1).map((right) => cosine(left, right)));
  });
  const median = cosines.sort((left, right) => left - right)[Math.floor(cosines.length / 2)] ?? 0;
  return Math.min(Math.max(median, 0), 1);
}

/**
 * The semantic score: 0 for a text no nearer than unrelated texts, 1 for the same text. A passage that answers a question is about half
 * way between the two, which gives 0.7: as much as one that has most words of the question.
 */
export function calibrated(similarity: number, unrelated: number): number {
  if (unrelated >= 1) return 0;
  const nearness = Math.min(Math.max((similarity - unrelated) / (1 - unrelated), 0), 1);
  return 1 - (1 - nearness) ** 1.8;
}

function cosine(left: readonly number[], right: readonly number[]): number {
  const product = left.reduce((sum, number, index) => sum + number * (right[index] ?? 0), 0);
  return product / (Math.hypot(...left) * Math.hypot(...right));
}
