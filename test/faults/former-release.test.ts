import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { dataFolder, type DataFolder } from '../support/data-folder.js';
import { filesPath, type KnowledgeFile } from '../support/knowledge.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { clusterOnly } from '../support/modes.js';
import { says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import { ServiceClient } from './service-client.js';

// Building the former release takes a minute, and longer on a busy machine.
jest.setTimeout(600_000);

const EXCHANGES = 12;

/** What the clients of one process do at a time: chats that wait, streams, joins at the other process, and jobs. */
clusterOnly('an upgrade from the former release, one process after the other', () => {
  let models: ScriptedModels;
  let environment: ModeEnvironment;
  let data: DataFolder;
  let folder: string;
  let key: string;
  const running: ServiceProcess[] = [];

  beforeAll(async () => {
    folder = execFileSync(process.execPath, ['tools/former-release.mjs'], { encoding: 'utf8' }).trim();
    models = await ScriptedModels.start();
    models.always(says('On', ' its', ' way.'));
    environment = await modeEnvironment();
    data = await dataFolder();
  });
  afterAll(async () => {
    await Promise.all(running.map((service) => service.kill()));
    await models.close();
    await environment.close();
    data.remove();
  });

  it('has a way back from a database that the new release has made', async () => {
    const own = await modeEnvironment();
    try {
      const made = await start('new', own);
      const { threadId } = await made.thread();
      await made.streamed(threadId, 'Hello');
      await stop(1);
      const back = await start('former', own);
      expect(await back.messages(threadId)).toHaveLength(2);
      await back.streamed(threadId, 'Hello again');
      await stop(1);
    } finally {
      await own.close();
    }
  });

  async function start(release: 'former' | 'new', of = environment): Promise<ServiceClient> {
    const service = await ServiceProcess.start({
      environment: { ...models.environment, ...of.variables, DATA_DIR: data.path },
      ...(release === 'former' ? { entry: join(folder, 'dist/main.js') } : {}),
    });
    running.push(service);
    key = service.firstKey ?? key;
    return new ServiceClient(service, key);
  }

  async function stop(count: number): Promise<void> {
    const stopping = running.splice(0, count);
    for (const service of stopping) service.signal('SIGTERM');
    expect(await Promise.all(stopping.map((service) => service.ended()))).toEqual(stopping.map(() => 0));
  }

  /** Throws at any response that is no success. */
  async function use(here: ServiceClient, there: ServiceClient): Promise<void> {
    const { agentId, threadId } = await here.thread();
    for (let count = 0; count < EXCHANGES; count += 1) {
      const client = count % 2 === 0 ? here : there;
      const waited = await client.call<{ message: { content: string } }>('POST', `/v1/threads/${threadId}/runs`, {
        message: { role: 'user', content: 'Where is it?' },
      });
      expect(waited.message.content).toBe('On its way.');
      const streamed = await client.streamed(threadId, 'And now?');
      expect(streamed.at(-1)).toMatchObject({ type: 'RUN_FINISHED', result: { message: { content: 'On its way.' } } });
    }
    const messages = await there.messages(threadId);
    expect(messages.map(({ content }) => content)).toEqual(
      Array.from({ length: EXCHANGES }, () => ['Where is it?', 'On its way.', 'And now?', 'On its way.']).flat(),
    );
    await learn(here, there, agentId);
    await there.call('DELETE', `/v1/agents/${agentId}`);
  }

  /** A job of either process indexes the file. */
  async function learn(here: ServiceClient, there: ServiceClient, agentId: string): Promise<void> {
    const files = filesPath({ agentId });
    const form = new FormData();
    form.append('file', new Blob(['Parcels take two days.'], { type: 'text/plain' }), 'parcels.txt');
    const { id } = await here.upload<KnowledgeFile>(files, form);
    await until(async () => {
      const listed = await there.call<{ files: readonly KnowledgeFile[] }>('GET', files);
      return listed.files.find((file) => file.id === id)?.status === 'ready';
    }, 'the file is indexed');
  }

  async function expectNoJobsLeft(): Promise<void> {
    const client = new Client({ connectionString: environment.variables['DATABASE_URL'] });
    await client.connect();
    await until(async () => {
      const { rows } = await client.query<{ count: string }>(
        `select count(*) as count from outbox where state = 'dead' or due_at < now()`,
      );
      return rows[0]?.count === '0';
    }, 'all jobs are done');
    await client.end();
  }

  it('fails no chat, stream or job of either release, and so does the way back', async () => {
    const former = await start('former');
    const before = await former.thread();
    await former.streamed(before.threadId, 'Hello');

    // The new process migrates, and then both serve.
    const upgrading = Promise.all([use(former, former), use(former, former)]);
    const newer = await start('new');
    await upgrading;
    await Promise.all([use(former, newer), use(newer, former), use(former, newer), use(newer, former)]);

    await stop(1);
    await use(newer, newer);
    expect(await newer.messages(before.threadId)).toHaveLength(2);

    // The former release starts on the migrated database, and goes on alone.
    const again = await start('former');
    await Promise.all([use(again, newer), use(newer, again)]);
    await stop(1);
    await use(again, again);
    expect(await again.messages(before.threadId)).toHaveLength(2);
    await expectNoJobsLeft();
  });
});
