import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inParallel } from '../../../src/conversations/application/in-parallel.js';
import type { OpenApi } from '../../support/documented-schemas.js';
import { operationsOf } from '../api/documented-interface.js';
import { GuideService } from './guide-service.js';
import { blocksOf } from './page-blocks.js';

const GUIDE = 'docs/guide';
const GUIDE_PAGES = readdirSync(GUIDE)
  .filter((name) => name.endsWith('.md'))
  .map((name) => join(GUIDE, name));
const PAGES = ['README.md', ...GUIDE_PAGES];
const PAGES_AT_A_TIME = 6;
/** What a page may show without running it: it starts services, builds images or needs the network. */
const NOT_RUN =
  /^(export )?(\w+=("[^"]*"|'[^']*'|\$\([^)]*\)|\S+) ?)*(npm (ci|start|test|run [\w:-]+)|docker compose .+)?$/;

/** Languages of blocks that look like commands and are not `sh`. */
const SHELLS: ReadonlySet<string> = new Set(['console', 'bash', 'shell', 'zsh']);
/** The environment's own, and the more exact forms of settings that OpenTelemetry's specification has. */
const NOT_SETTINGS = new Set(['PATH', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT']);

let service: GuideService;
beforeAll(async () => {
  service = await GuideService.start();
});
afterAll(() => service.close());

const read = (page: string): string => readFileSync(page, 'utf8');

describe('the commands of the guide, with the answers that it shows', () => {
  let problems: readonly (string | undefined)[] = [];
  beforeAll(async () => {
    // Most of the time a page waits for replies. All pages at once would exceed limits of time in the service on a busy machine.
    problems = await inParallel(PAGES, PAGES_AT_A_TIME, (page) => service.problemOf(page, read(page)));
  }, 240_000);

  it.each(PAGES.map((page, index) => ({ page, index })))('$page', ({ index }) => {
    expect(problems[index]).toBeUndefined();
  });
});

describe('a page that is wrong', () => {
  const assistants = 'curl -s $URL/v1/assistants -H "$AUTH"';
  it.each([
    ['a route that does not exist', '```sh\ncurl -s $URL/v1/agnets -H "$AUTH"\n```', /line 2: the service answers 404/],
    ['a command that fails', '```sh\nnpm run -s cli -- org lst\n```', /line 2: the commands end with 2/],
    [
      'another value',
      `\`\`\`sh\n${assistants}\n\`\`\`\n\n\`\`\`json\n{"assistants": [{"name": "Sales"}]}\n\`\`\``,
      /line 6: no answer is as shown/,
    ],
    [
      'a field that is not there',
      `\`\`\`sh\n${assistants}\n\`\`\`\n\n\`\`\`json\n{"agents": "…"}\n\`\`\``,
      /line 6: no answer/,
    ],
    ['another text', '```sh\necho one\n```\n\n```text\ntwo\n```', /line 6: the output differs/],
    ['a variable that has no value', '```sh\necho $NONE\n```', /line 2: the commands end with 1/],
  ])('(%s) fails', async (_what, page, problem) => {
    expect(await service.problemOf('wrong', page)).toMatch(problem);
  });
});

describe('the guide', () => {
  const text = GUIDE_PAGES.map(read).join('\n');

  it('names every operation of the interface', async () => {
    const document = (await (await fetch(`${service.url}/v1/openapi.json`)).json()) as OpenApi;
    const paths = new Set(operationsOf(document).map(({ name }) => name.split(' ')[1] ?? ''));
    expect([...paths].filter((path) => !mention(path).test(text))).toEqual([]);
  });

  it('names every setting', () => {
    const source = readFileSync('src/platform/config/environment.ts', 'utf8');
    const names = [...source.matchAll(/^ {2}([A-Z][A-Z0-9_]+): [a-z]/gm)].map(([, name = '']) => name);
    const settings = read(join(GUIDE, 'settings.md'));
    expect(names.filter((name) => !NOT_SETTINGS.has(name) && !settings.includes(`\`${name}\``))).toEqual([]);
  });

  it('names every page in its index', () => {
    const index = read(join(GUIDE, 'README.md'));
    expect(
      GUIDE_PAGES.filter((page) => basename(page) !== 'README.md' && !index.includes(`(${basename(page)})`)),
    ).toEqual([]);
  });

  it('links only to files that exist', () => {
    const missing = PAGES.flatMap((page) => linksOf(page).filter((link) => !existsSync(join(dirname(page), link))));
    expect(missing).toEqual([]);
  });

  it('shows commands that are not run only where they start or build the service', () => {
    const shown = PAGES.flatMap((page) => blocksOf(read(page)).filter(({ language }) => SHELLS.has(language)));
    const lines = shown.flatMap(({ text: code }) =>
      code
        .replaceAll(/ *#.*$/gm, '')
        .trimEnd()
        .split(/\n| && /),
    );
    expect(lines.filter((line) => !NOT_RUN.test(line))).toEqual([]);
  });
});

/** To other files of the project. */
function linksOf(page: string): string[] {
  const prose = read(page).replaceAll(/^```.*?^```$/gms, '');
  return [...prose.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = '']) => target);
}

/** The path with any value in place of its parameters. */
function mention(path: string): RegExp {
  return new RegExp(`${path.replaceAll(/\{\w+\}/g, '[^/\\s`]+')}(?![\\w/-])`);
}
