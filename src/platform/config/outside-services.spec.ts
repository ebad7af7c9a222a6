import { describe, expect, it } from '@jest/globals';
import { readSettings, type Settings } from './settings.js';

function settings(environment: Record<string, string>): Settings {
  return readSettings(environment, { role: 'all', demo: false });
}

describe('EGRESS_ALLOW', () => {
  it('exempts no address by default', () => {
    expect(settings({}).egressAllow.size).toBe(0);
  });

  it('accepts hosts and ports, written as in the URL standard', () => {
    const list = 'tools.internal:8080, 10.0.0.1:443,[fd00::0:1]:80,LOCALHOST.:3000,0x7f.1:1';
    expect([...settings({ EGRESS_ALLOW: list }).egressAllow]).toEqual([
      'tools.internal:8080',
      '10.0.0.1:443',
      'fd00::1:80',
      'localhost:3000',
      '127.0.0.1:1',
    ]);
  });

  it.each([
    'host',
    'host:',
    'host:0',
    'host:65536',
    'http://host:80',
    ':80',
    'host:80/x',
    'u@host:80',
    'a:1,,b:2',
    '*:80x',
  ])('stops the start on %j', (list) => {
    expect(() => settings({ EGRESS_ALLOW: list })).toThrow(
      /^EGRESS_ALLOW: must be a comma-separated list of host:port/,
    );
  });
});

describe('FILES_S3_*', () => {
  const complete = { FILES_S3_BUCKET: 'files', FILES_S3_ACCESS_KEY_ID: 'id', FILES_S3_SECRET_ACCESS_KEY: 'secret' };

  it('name no bucket by default', () => {
    expect(settings({}).filesBucket).toBeUndefined();
  });

  it('name a bucket of AWS, or of the endpoint', () => {
    expect(settings(complete).filesBucket).toEqual({
      endpoint: undefined,
      region: 'us-east-1',
      bucket: 'files',
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    });
    const elsewhere = { ...complete, FILES_S3_ENDPOINT: 'http://minio:9000/', FILES_S3_REGION: 'eu' };
    expect(settings(elsewhere).filesBucket).toMatchObject({ endpoint: 'http://minio:9000', region: 'eu' });
  });

  it.each(Object.keys(complete))('stop the start without %s, naming it', (missing) => {
    const { [missing as keyof typeof complete]: _left, ...rest } = complete;
    expect(() => settings(rest)).toThrow(new RegExp(`^${missing}: is required with FILES_S3_`));
  });

  it('may leave the credentials to the machine', () => {
    expect(settings({ FILES_S3_BUCKET: 'files' }).filesBucket?.credentials).toBeUndefined();
    expect(() => settings({ FILES_S3_ENDPOINT: 'http://minio:9000' })).toThrow('FILES_S3_BUCKET: is required');
  });
});

describe('DRIVE_*', () => {
  const client = { DRIVE_OAUTH_CLIENT_ID: 'id', DRIVE_OAUTH_CLIENT_SECRET: 'secret' };

  it('name the public drive, without sign-in, by default', () => {
    expect(settings({}).drive).toEqual({
      apiBaseUrl: 'https://www.googleapis.com',
      tokenUrl: 'https://oauth2.googleapis.com/token',
      authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
      client: undefined,
    });
  });

  it('put tokens and sign-ins below the API when only that is set', () => {
    const own = { DRIVE_API_BASE_URL: 'http://drive.internal:8080/', ...client };
    expect(settings(own).drive).toEqual({
      apiBaseUrl: 'http://drive.internal:8080',
      tokenUrl: 'http://drive.internal:8080/token',
      authorizeUrl: 'http://drive.internal:8080/o/oauth2/v2/auth',
      client: { id: 'id', secret: 'secret' },
    });
    const elsewhere = {
      ...own,
      DRIVE_OAUTH_TOKEN_URL: 'https://t.test/x',
      DRIVE_OAUTH_AUTHORIZE_URL: 'https://a.test/y',
    };
    expect(settings(elsewhere).drive).toMatchObject({ tokenUrl: 'https://t.test/x', authorizeUrl: 'https://a.test/y' });
  });

  it.each(Object.keys(client))('stop the start without %s, naming it', (missing) => {
    const { [missing as keyof typeof client]: _left, ...rest } = client;
    expect(() => settings(rest)).toThrow(new RegExp(`^${missing}: is required with DRIVE_OAUTH_CLIENT_`));
  });

  it('stop the start with a path in DRIVE_API_BASE_URL', () => {
    expect(() => settings({ DRIVE_API_BASE_URL: 'https://drive.test/drive/v3' })).toThrow(
      /^DRIVE_API_BASE_URL: must hold no path/,
    );
  });
});

describe('MCP_LOCAL_SERVERS', () => {
  it('is 20 by default and at most 50', () => {
    expect(settings({}).mcpLocalServers).toBe(20);
    expect(settings({ MCP_LOCAL_SERVERS: '50' }).mcpLocalServers).toBe(50);
  });

  it.each(['51', '-1', '1.5', 'many'])('stops the start on %j', (count) => {
    expect(() => settings({ MCP_LOCAL_SERVERS: count })).toThrow(/^MCP_LOCAL_SERVERS: [^\n]+$/);
  });
});

describe('WORKFLOW_PLATFORM_*', () => {
  const complete = {
    WORKFLOW_PLATFORM_URL: 'http://flows.internal:8080/{nameSlug}/mcp?app={nameSlug}',
    WORKFLOW_PLATFORM_TOKEN: 'token-1',
  };

  it('name no platform by default, and one when both are there', () => {
    expect(settings({}).workflowPlatform).toBeUndefined();
    expect(settings(complete).workflowPlatform).toEqual({ url: complete.WORKFLOW_PLATFORM_URL, token: 'token-1' });
  });

  it.each(Object.keys(complete))('stop the start without %s, naming it', (missing) => {
    const { [missing as keyof typeof complete]: _left, ...rest } = complete;
    expect(() => settings(rest)).toThrow(new RegExp(`^${missing}: is required with WORKFLOW_PLATFORM_`));
  });

  it.each([
    'flows.internal',
    'ftp://flows.internal/{nameSlug}',
    'http://user:secret@flows.internal/',
    'http://{nameSlug}.internal/',
    'http://flows.internal{nameSlug}/',
    '{nameSlug}',
  ])('stop the start on %j', (url) => {
    expect(() => settings({ ...complete, WORKFLOW_PLATFORM_URL: url })).toThrow(/^WORKFLOW_PLATFORM_URL: m/);
    expect(() => settings({ ...complete, WORKFLOW_PLATFORM_URL: url })).not.toThrow(/secret/);
  });

  it('stop the start when the token is no header value, without printing it', () => {
    const token = { ...complete, WORKFLOW_PLATFORM_TOKEN: 'secret one' };
    expect(() => settings(token)).toThrow(/^WORKFLOW_PLATFORM_TOKEN: /);
    expect(() => settings(token)).not.toThrow(/secret/);
  });
});

describe('EMBEDDINGS_*', () => {
  it('name no model by default, and one at an endpoint of its own or at the public one', () => {
    expect(settings({}).embeddings).toBeUndefined();
    expect(settings({ EMBEDDINGS_MODEL: 'm-1', EMBEDDINGS_API_KEY: 'key-1' }).embeddings).toEqual({
      baseUrl: 'https://api.openai.com/v1',
      apiKey: 'key-1',
      model: 'm-1',
    });
    expect(
      settings({ EMBEDDINGS_MODEL: 'm-1', EMBEDDINGS_BASE_URL: 'http://models.internal:8080/v1/' }).embeddings,
    ).toEqual({
      baseUrl: 'http://models.internal:8080/v1',
      apiKey: undefined,
      model: 'm-1',
    });
  });

  it.each([
    [
      'an endpoint without a model',
      { EMBEDDINGS_BASE_URL: 'http://models.internal' },
      /^EMBEDDINGS_MODEL: is required/,
    ],
    ['a key without a model', { EMBEDDINGS_API_KEY: 'canary' }, /^EMBEDDINGS_MODEL: is required/],
    ['a model at the public endpoint without a key', { EMBEDDINGS_MODEL: 'm-1' }, /^EMBEDDINGS_API_KEY: is required/],
    [
      'an endpoint that is no URL',
      { EMBEDDINGS_MODEL: 'm-1', EMBEDDINGS_BASE_URL: 'canary' },
      /^EMBEDDINGS_BASE_URL: must be/,
    ],
  ])('stop the start in one line on %s', (_what, environment, line) => {
    expect(() => settings(environment)).toThrow(line);
    expect(() => settings(environment)).not.toThrow(/canary|\n/);
  });
});
