import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { filePart, multipart } from '../../support/files.js';
import { modeEnvironment } from '../../support/mode-environment.js';
import { S3_CREDENTIALS, S3Server } from '../../support/s3-server.js';
import { ServiceProcess } from '../../support/service-process.js';
import { until } from '../../support/until.js';

/** Programs of AWS look nowhere else than a test says. */
const NOWHERE = {
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent',
  AWS_CONFIG_FILE: '/nonexistent',
};

/** What Kubernetes and ECS have in the machine of a container. */
class CredentialService {
  asked = 0;

  private constructor(
    private readonly server: Server,
    private readonly validMs: number,
  ) {
    server.on('request', (_request, response: ServerResponse) => {
      this.asked += 1;
      const Expiration = new Date(Date.now() + this.validMs).toISOString();
      const { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey } = S3_CREDENTIALS;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ AccessKeyId, SecretAccessKey, Token: 'token', Expiration }));
    });
  }

  static async start(validMs: number): Promise<CredentialService> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CredentialService(server, validMs);
  }

  get environment(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    return { AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/role` };
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

describe('a bucket without FILES_S3_ACCESS_KEY_ID', () => {
  let bucket: S3Server;
  let environment: Awaited<ReturnType<typeof modeEnvironment>>;
  let folder: string;
  let service: ServiceProcess | undefined;

  beforeAll(async () => {
    bucket = await S3Server.start();
  });
  beforeEach(async () => {
    environment = await modeEnvironment();
    folder = mkdtempSync(join(tmpdir(), 'bucket-'));
  });
  afterEach(async () => {
    await service?.kill();
    await environment.close();
    rmSync(folder, { recursive: true });
  });
  afterAll(() => bucket.close());

  async function start(credentials: Readonly<Record<string, string>>): Promise<ServiceProcess> {
    service = await ServiceProcess.start({
      environment: {
        ...environment.variables,
        DATA_DIR: folder,
        FILES_S3_ENDPOINT: bucket.endpoint,
        FILES_S3_BUCKET: bucket.bucket,
        ...NOWHERE,
        ...credentials,
      },
    });
    return service;
  }

  async function upload({ url, firstKey = '' }: ServiceProcess): Promise<number> {
    const { body, contentType } = multipart([filePart('Hello')]);
    const headers = { 'content-type': contentType, authorization: `Bearer ${firstKey}` };
    return (await fetch(`${url}/v1/files/upload`, { method: 'POST', headers, body: new Uint8Array(body) })).status;
  }

  const filesOf = async ({ url }: ServiceProcess): Promise<string | undefined> =>
    ((await (await fetch(`${url}/health/ready`)).json()) as { checks: Record<string, string> }).checks['files'];

  it('is written with the credentials of the environment', async () => {
    const { accessKeyId, secretAccessKey } = S3_CREDENTIALS;
    const running = await start({ AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
    expect([await filesOf(running), await upload(running)]).toEqual(['ok', 200]);
  });

  it('is written with those of a container, which are asked for again before they expire', async () => {
    // Far less than the time that is left when the SDK renews them.
    const provider = await CredentialService.start(60_000);
    const running = await start(provider.environment);
    expect(await upload(running)).toBe(200);
    const before = provider.asked;
    expect([await upload(running), provider.asked > before]).toEqual([200, true]);
    provider.close();
  });

  it('leaves the process ready when they have expired and the container cannot renew them', async () => {
    const provider = await CredentialService.start(-1);
    const running = await start(provider.environment);
    expect([await filesOf(running), await upload(running)]).toEqual(['ok', 200]);
    provider.close();
    expect([await upload(running), await filesOf(running)]).toEqual([503, 'ok']);
  });

  it('and without any makes the process unready; the log says once what to set', async () => {
    const running = await start({});
    expect(await filesOf(running)).toBe('cannot be stored');
    const line = 'There are no credentials for the bucket FILES_S3_BUCKET';
    await until(() => running.written.includes(line), 'the log says so');
    expect(running.written.split(line)).toHaveLength(2);
  });
});
