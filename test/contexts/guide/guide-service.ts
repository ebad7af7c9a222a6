import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CAPABILITIES } from '../../../src/access/index.js';
import { callService } from '../../../src/platform/operator/operator-line.js';
import { freePort } from '../../support/lasting-port.js';
import { DriveServer, keyFile } from '../../support/drive-server.js';
import { RunningService } from '../../support/harness.js';
import { type ProcessOptions, ServiceProcess } from '../../support/service-process.js';
import { SiteServer } from '../../support/site-server.js';
import { said, ToolServer } from '../../support/tool-server.js';
import { PageShell } from './page-shell.js';
import type { Variables } from './shown-answers.js';

/** The demo, with the servers that pages of the documents need, for any number of pages at a time. */
export class GuideService {
  private constructor(
    private readonly demo: ServiceProcess,
    private readonly service: RunningService,
    private readonly servers: { readonly site: SiteServer; readonly tools: ToolServer; readonly drive: DriveServer },
    private readonly dataDir: string,
    /** A page may start an endpoint for hooks on it. */
    private readonly guardPort: number,
    /** Another one may start a receiver of webhooks on this. */
    private readonly receiverPort: number,
  ) {}

  static async start(options: Pick<ProcessOptions, 'entry'> = {}): Promise<GuideService> {
    const dataDir = mkdtempSync(join(tmpdir(), 'guide-data-'));
    const servers = { site: await bicycleSite(), tools: await orderTools(), drive: await driveWithHandbook() };
    const [guardPort, receiverPort] = [await freePort(), await freePort()];
    const environment = {
      DATA_DIR: dataDir,
      EGRESS_ALLOW: [
        ...[servers.site.host, servers.tools.host],
        ...[`127.0.0.1:${guardPort}`, `127.0.0.1:${receiverPort}`],
      ].join(','),
      DRIVE_API_BASE_URL: servers.drive.url,
      DRIVE_OAUTH_CLIENT_ID: 'client-1',
      DRIVE_OAUTH_CLIENT_SECRET: 'secret-1',
    };
    const demo = await ServiceProcess.start({ ...options, role: 'demo', environment });
    const service = new RunningService(demo.url, (line) => operate(dataDir, line));
    return new GuideService(demo, service, servers, dataDir, guardPort, receiverPort);
  }

  get url(): string {
    return this.service.baseUrl;
  }

  /** Runs the commands of a page, in an organization of its own. @returns the first problem, or undefined */
  async problemOf(name: string, page: string): Promise<string | undefined> {
    return new PageShell(await this.variables(name)).run(page);
  }

  async close(): Promise<void> {
    await this.demo.kill();
    await Promise.all(Object.values(this.servers).map((server) => server.close()));
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** What every page may use: an organization with a key, an agent and a thread. */
  private async variables(name: string): Promise<Variables> {
    const { id: ORG } = await this.service.cli<{ id: string }>('org', 'create', '--name', name);
    const words = ['key', 'create', '--org', ORG, '--capabilities', CAPABILITIES.join(',')];
    const { key: KEY } = await this.service.cli<{ key: string }>(...words);
    const AGENT = await this.service.agent(KEY, { name: 'Support' });
    const { site, tools } = this.servers;
    return {
      ...{ URL: this.url, KEY, ORG, AGENT, THREAD: await this.service.thread(KEY, AGENT) },
      ...{ AUTH: `authorization: Bearer ${KEY}`, JSON: 'content-type: application/json' },
      ...{ SITE: site.origin, TOOLS: tools.url, KEY_FILE: keyFile() },
      ...{ GUARD: `http://127.0.0.1:${this.guardPort}`, GUARD_PORT: String(this.guardPort) },
      ...{ RECEIVER: `http://127.0.0.1:${this.receiverPort}`, RECEIVER_PORT: String(this.receiverPort) },
      ...{ DATA_DIR: this.dataDir, HOME: tmpdir(), BACKUPS: mkdtempSync(join(this.dataDir, 'backups-')) },
    };
  }
}

async function bicycleSite(): Promise<SiteServer> {
  const site = new SiteServer();
  await site.listen();
  site.article('/', { title: 'Bicycles', text: 'We sell the Climber and the City.', links: ['/warranty'] });
  site.article('/warranty', { title: 'Warranty', text: 'Frames have a warranty of ten years.' });
  return site;
}

function orderTools(): Promise<ToolServer> {
  return ToolServer.start(
    'streamableHttp',
    { name: 'order_status', run: () => said('Order 7 is on its way.') },
    { name: 'delete_order' },
    { name: 'customer_profile', run: () => said('{"contexts": [{"name": "Customer", "context": "Since 2019."}]}') },
  );
}

async function driveWithHandbook(): Promise<DriveServer> {
  const drive = await DriveServer.start();
  drive.add({ id: 'handbook', name: 'Handbook', mimeType: 'text/plain', content: 'The workshop opens at nine.' });
  return drive;
}

async function operate(dataDir: string, line: readonly string[]): Promise<object> {
  const answer = await callService(dataDir, line);
  if (answer?.ok !== true) throw new Error(`${line.join(' ')}: ${JSON.stringify(answer)}`);
  return answer.result;
}
