import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ProviderType } from '../../../src/models/index.js';
import { CAPABILITIES } from '../../../src/access/index.js';
import { askService } from '../../../src/platform/operator/operator-client.js';
import { DriveServer, keyFile } from '../../support/drive-server.js';
import type { OpenApi } from '../../support/documented-schemas.js';
import { RunningService } from '../../support/harness.js';
import { ServiceProcess } from '../../support/service-process.js';
import { SiteServer } from '../../support/site-server.js';
import { said, ToolServer } from '../../support/tool-server.js';
import { operationsOf } from '../api/documented-interface.js';
import { blocksOf } from './page-blocks.js';
import { PageShell } from './page-shell.js';
import type { Variables } from './shown-answers.js';

const GUIDE = 'docs/guide';
const GUIDE_PAGES = readdirSync(GUIDE).map((name) => join(GUIDE, name));
const PAGES = ['README.md', ...GUIDE_PAGES];
const PROVIDER: { type: ProviderType } = { type: 'anthropic' };
/** What a page may show without running it: it starts services, builds images or needs the network. */
const NOT_RUN =
  /^(export )?(\w+=("[^"]*"|'[^']*'|\$\([^)]*\)|\S+) ?)*(npm (ci|start|test|run [\w:-]+)|docker compose .+)?$/;

/** Languages of blocks that look like commands and are not `sh`. */
const SHELLS: ReadonlySet<string> = new Set(['console', 'bash', 'shell', 'zsh']);
/** The environment's own, and the more exact forms of settings that OpenTelemetry's specification has. */
const NOT_SETTINGS = new Set(['PATH', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT']);

const dataDir = mkdtempSync(join(tmpdir(), 'guide-data-'));
const site = new SiteServer();
let tools: ToolServer;
let drive: DriveServer;
let demo: ServiceProcess;
let service: RunningService;
/** The page's own endpoint listens on it. */
let guardPort: number;

const read = (page: string): string => readFileSync(page, 'utf8');

beforeAll(async () => {
  await site.listen();
  site.article('/', { title: 'Bicycles', text: 'We sell the Climber and the City.', links: ['/warranty'] });
  site.article('/warranty', { title: 'Warranty', text: 'Frames have a warranty of ten years.' });
  tools = await ToolServer.start(
    'streamableHttp',
    { name: 'order_status', run: () => said('Order 7 is on its way.'), annotations: { readOnlyHint: true } },
    { name: 'delete_order' },
    { name: 'customer_profile', run: () => said('{"contexts": [{"name": "Customer", "context": "Since 2019."}]}') },
  );
  drive = await DriveServer.start();
  drive.add({ id: 'handbook', name: 'Handbook', mimeType: 'text/plain', content: 'The workshop opens at nine.' });
  guardPort = await freePort();
  demo = await ServiceProcess.start({
    role: 'demo',
    environment: {
      DATA_DIR: dataDir,
      EGRESS_ALLOW: [site.host, tools.host, `127.0.0.1:${guardPort}`].join(','),
      DRIVE_API_BASE_URL: drive.url,
      DRIVE_OAUTH_CLIENT_ID: 'client-1',
      DRIVE_OAUTH_CLIENT_SECRET: 'secret-1',
    },
  });
  service = new RunningService(demo.url, operate);
}, 120_000);
afterAll(async () => {
  await demo.kill();
  await Promise.all([site.close(), tools.close(), drive.close()]);
  rmSync(dataDir, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function operate(line: readonly string[]): Promise<object> {
  const answer = await askService(dataDir, line);
  if (answer?.ok !== true) throw new Error(`${line.join(' ')}: ${JSON.stringify(answer)}`);
  return answer.result;
}

/** An organization with a key, an agent and a thread, as the variables that every page may use. */
async function variablesOf(page: string): Promise<Variables> {
  const { id: ORG } = await service.cli<{ id: string }>('org', 'create', '--name', page);
  const { key: KEY } = await service.cli<{ key: string }>(
    ...['key', 'create', '--org', ORG, '--capabilities', CAPABILITIES.join(',')],
  );
  const AGENT = await service.agent(KEY, { name: 'Support', provider: PROVIDER });
  return {
    ...{ URL: service.baseUrl, KEY, ORG, AGENT, THREAD: await service.thread(KEY, AGENT) },
    ...{ AUTH: `authorization: Bearer ${KEY}`, JSON: 'content-type: application/json' },
    ...{ SITE: site.origin, TOOLS: tools.url, GUARD: `http://127.0.0.1:${guardPort}`, GUARD_PORT: String(guardPort) },
    ...{ DATA_DIR: dataDir, HOME: tmpdir(), KEY_FILE: keyFile() },
  };
}

async function problemOf(page: string, text: string): Promise<string | undefined> {
  return new PageShell(await variablesOf(page)).run(text);
}

describe('the commands of the guide, with the answers that it shows', () => {
  const outcomes = new Map<string, Promise<string | undefined>>();
  beforeAll(() => {
    // All at once: most of the time each page waits for replies.
    for (const page of PAGES) outcomes.set(page, problemOf(page, read(page)));
  });

  it.each(PAGES)('%s', async (page) => {
    expect(await outcomes.get(page)).toBeUndefined();
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
    expect(await problemOf('wrong', page)).toMatch(problem);
  });
});

describe('the guide', () => {
  const text = GUIDE_PAGES.map(read).join('\n');

  it('names every operation of the interface', async () => {
    const document = (await (await fetch(`${service.baseUrl}/v1/openapi.json`)).json()) as OpenApi;
    const paths = new Set(operationsOf(document).map(({ name }) => name.split(' ')[1] ?? ''));
    expect([...paths].filter((path) => !mention(path).test(text))).toEqual([]);
  });

  it('names every setting', () => {
    const source = readFileSync('src/platform/config/settings.ts', 'utf8');
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
