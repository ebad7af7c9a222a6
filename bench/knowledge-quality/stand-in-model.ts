/**
 * Replaces an embedding model, whose weights this bench does not have. It hashes words, prefixes of words and pairs of Chinese and
 * Japanese characters into one vector, weighted by their rarity in the corpus; some synonyms share a position. It knows far less about
 * meaning than a real model: its results show how the search combines two signals, not how good a real model is.
 */
const DIMENSIONS = 512;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

const SYNONYMS = `
remove delete drop erase purge uninstall löschen entfernen 删除 清除 卸载 削除
change modify alter edit update ändern anpassen 修改 更改 変更
error fault failure fail problem fehler 错误 エラー
fast quick speed performance schnell 速度
list show display view see anzeigen abrufen 显示 查看 表示
create make build erstellen 创建 作成
maximum most limit highest largest höchstens 最大
example sample beispiel 例子 例
directory folder verzeichnis 目录 ディレクトリ
backup dump sicherung datensicherung 备份 バックアップ
restart stop start neustart 重启 启动 起動
user people anyone benutzer 用户 ユーザー
save keep store preserve speichern 保存
choose select pick wählen 选择 選択
undo restore recover reset wiederherstellen 恢复 復元
mail email message nachricht 邮件 メール
`
  .trim()
  .split('\n')
  .map((line) => line.split(' '));
const CONCEPTS: ReadonlyMap<string, string> = new Map(
  SYNONYMS.flatMap((words) => words.map((word) => [word, `concept:${words[0] ?? ''}`] as const)),
);

export class StandInModel {
  private readonly seen = new Map<string, number>();
  private readonly texts: number;
  requests = 0;

  /** @param texts to count how rare each feature is */
  constructor(texts: readonly string[]) {
    this.texts = texts.length;
    for (const text of texts)
      for (const feature of new Set(featuresOf(text))) this.seen.set(feature, (this.seen.get(feature) ?? 0) + 1);
  }

  /** A vector of length 1, always the same for the same text. */
  vectorOf(text: string): number[] {
    this.requests += 1;
    const counts = new Map<string, number>();
    for (const feature of featuresOf(text)) counts.set(feature, (counts.get(feature) ?? 0) + 1);
    const vector = new Array<number>(DIMENSIONS).fill(0);
    for (const [feature, count] of counts) {
      const weight = (1 + Math.log(count)) * Math.log((this.texts + 1) / ((this.seen.get(feature) ?? 0) + 1));
      // Two positions with different signs: collisions cancel out on average.
      for (const seed of [17, 91]) {
        const hash = hashOf(feature, seed);
        const place = (hash >>> 1) % DIMENSIONS;
        vector[place] = (vector[place] ?? 0) + (hash & 1 ? weight : -weight);
      }
    }
    const length = Math.hypot(...vector) || 1;
    return vector.map((number) => Number((number / length).toFixed(6)));
  }
}

function featuresOf(given: string): string[] {
  const features: string[] = [];
  for (const word of given
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (CJK.test(word)) {
      const characters = [...word];
      for (const [at, character] of characters.entries()) {
        features.push(`${character}${characters[at + 1] ?? ''}`);
        const concept = CONCEPTS.get(`${character}${characters[at + 1] ?? ''}`);
        if (concept !== undefined) features.push(concept);
      }
    } else {
      features.push(word);
      if (word.length > 5) features.push(`${word.slice(0, 5)}-`);
      const concept = CONCEPTS.get(word);
      if (concept !== undefined) features.push(concept);
    }
  }
  return features;
}

function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}
