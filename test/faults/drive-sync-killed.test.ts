import { resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import type { DriveView } from '../support/drive-knowledge.js';
import { DriveServer, keyFile } from '../support/drive-server.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import { ServiceClient } from './service-client.js';

const FILES = 24;
/** More than a step's lease, a job's hold and the pauses between their checks. */
const LATER_MS = 10 * 60_000;

const drive = await DriveServer.start();
let environment: ModeEnvironment;
let data: DataFolder;
let service: ServiceProcess;
beforeAll(async () => {
  [environment, data] = await Promise.all([modeEnvironment(), dataFolder()]);
});
afterEach(() => service.kill());
afterAll(async () => {
  await environment.close();
  data.remove();
  await drive.close();
});

async function start(more: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  service = await ServiceProcess.start({
    entry: resolve('test/support/later-service.mjs'),
    environment: { DATA_DIR: data.path, ...drive.environment, ...environment.variables, ...more },
  });
  return service;
}

describe('a service that is killed during the sync of a drive', () => {
  it('completes the sync after a restart, with each file once', async () => {
    const key = (await start()).firstKey ?? '';
    let client = new ServiceClient(service, key);
    const { id } = await client.call<{ id: string }>('POST', '/v1/agents', {
      name: 'A',
      provider: { type: 'anthropic' },
    });
    await client.call('POST', '/v1/integrations/drive/service-accounts', { keyFileContent: keyFile() });
    const top = drive.folder('Top');
    for (let index = 0; index < FILES; index += 1) drive.text(`${index}.txt`, `text number ${index}`, top);
    drive.before = async ({ query }) => {
      if (query.get('alt') === 'media' && drive.fetched.length === FILES / 2) await service.kill();
      return false;
    };
    await client.call('PUT', `/v1/agents/${id}/knowledge-bases/drive`, { fileIds: [top] });
    await until(() => service.exited, 'the service to be killed in the middle of it');
    drive.before = undefined;
    drive.clockToleranceSeconds = LATER_MS / 1_000;
    client = new ServiceClient(await start({ LATER_MS: String(LATER_MS) }), key);
    const read = (): Promise<DriveView> => client.call('GET', `/v1/agents/${id}/knowledge-bases/drive-service-account`);
    await until(async () => (await read()).sync.state !== 'IN_PROGRESS', 'the end of the sync', {
      withinMs: 120_000,
      everyMs: 100,
    });
    expect(await read()).toMatchObject({ sync: { state: 'SUCCESS', lastError: null }, chunks: FILES });
    // The file that was being read is read again.
    expect(new Set(drive.fetched).size).toBe(FILES);
    expect(drive.fetched.length).toBe(FILES + 1);
  });
});
