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
