import type { KnowledgeResult } from './knowledge.ts';
import { table } from './table.ts';

export function knowledgeText({ crawl }: KnowledgeResult): string {
  const { firstToken } = crawl;
  const crawls = table(
    ['Crawl of an agent without knowledge', 'Pages', 's', 'Pages/s'],
    crawl.crawls.map(({ seconds, pagesPerSecond }, index) => [String(index + 1), crawl.pages, seconds, pagesPerSecond]),
  );
  const tokens = table(
    ['First token of a streamed run', 'Runs', 'p50 ms', 'p99 ms'],
    [
      ['alone', firstToken.alone.runs, firstToken.alone.p50Ms, firstToken.alone.p99Ms],
      ['beside crawls', firstToken.besideCrawls.runs, firstToken.besideCrawls.p50Ms, firstToken.besideCrawls.p99Ms],
    ],
  );
  const vectors =
    crawl.embeddedSeconds === null
      ? 'This database has no vectors.'
      : `All of them had vectors ${crawl.embeddedSeconds} s after the request.`;
  return [
    crawls,
    `A crawl makes ${crawl.chunks} chunks. ${vectors}`,
    tokens,
    `The 99th percentile beside crawls is ${firstToken.p99Ratio} times that alone; in single pairs of slices ${Math.min(...firstToken.p99Ratios)} to ${Math.max(...firstToken.p99Ratios)} times.`,
  ].join('\n\n');
}
