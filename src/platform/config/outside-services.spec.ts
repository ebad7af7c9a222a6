import { describe, expect, it } from '@jest/globals';
import { readSettings, type Settings } from './settings.js';

function settings(environment: Record<string, string>): Settings {
  return readSettings(environment, { role: 'all', demo: false });
}

describe('EGRESS_ALLOW', () => {
  it('exempts nobody by default', () => {
    expect(settings({}).egressAllow.size).toBe(0);
  });

  it('takes hosts and ports, spelled as the URL standard has them', () => {
    const list = 'tools.internal:8080, 10.0.0.1:443,[fd00::0:1]:80,LOCALHOST.:3000,0x7f.1:1';
    expect([...settings({ EGRESS_ALLOW: list }).egressAllow]).toEqual([
      'tools.internal:8080',
      '10.0.0.1:443',
      'fd00::1:80',
      'localhost:3000',
      '127.0.0.1:1',
    ]);
  });

  it.each(['host', 'host:', 'host:0', 'host:65536', 'http://host:80', ':80', 'host:80/x', 'u@host:80', 'a:1,,b:2', '*:80x'])(
    'stops the start on %j',
    (list) => {
      expect(() => settings({ EGRESS_ALLOW: list })).toThrow(/^EGRESS_ALLOW: must be a comma-separated list of host:port/);
    },
  );
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
      accessKeyId: 'id',
      secretAccessKey: 'secret',
    });
    const elsewhere = { ...complete, FILES_S3_ENDPOINT: 'http://minio:9000/', FILES_S3_REGION: 'eu' };
    expect(settings(elsewhere).filesBucket).toMatchObject({ endpoint: 'http://minio:9000', region: 'eu' });
  });

  it.each(Object.keys(complete))('stop the start without %s, naming it', (missing) => {
    const { [missing as keyof typeof complete]: _left, ...rest } = complete;
    expect(() => settings(rest)).toThrow(new RegExp(`^${missing}: is required with FILES_S3_`));
    expect(() => settings({ FILES_S3_ENDPOINT: 'http://minio:9000' })).toThrow('FILES_S3_BUCKET: is required');
  });
});

describe('MCP_LOCAL_SERVERS', () => {
  it('is 20, or what it says up to 50', () => {
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

  it('stop the start when the token is no header value, without telling it', () => {
    const token = { ...complete, WORKFLOW_PLATFORM_TOKEN: 'secret one' };
    expect(() => settings(token)).toThrow(/^WORKFLOW_PLATFORM_TOKEN: /);
    expect(() => settings(token)).not.toThrow(/secret/);
  });
});
