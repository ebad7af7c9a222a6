import { describe, expect, it } from '@jest/globals';
import { InvalidSetting, readSettings } from '../config/index.js';
import { checkListenAddress, listenAddresses, listenFailure } from './listen-address.js';

describe('the address of the service', () => {
  it.each([
    ['EADDRINUSE', 'listen', /^PORT: 80 is in use on 192\.0\.2\.1/],
    ['EACCES', 'listen', /^PORT: this process may not listen on 80/],
    ['EADDRNOTAVAIL', 'listen', /^HOST: 192\.0\.2\.1 is not an address of this machine$/],
    ['EAI_AGAIN', 'getaddrinfo', /^HOST: 192\.0\.2\.1 cannot be resolved to an address$/],
  ])('is named by its setting in the error of a failed listen (%s)', (code, syscall, line) => {
    const failure = listenFailure(Object.assign(new Error('no'), { code, syscall }), { host: '192.0.2.1', port: 80 });
    expect(failure).toBeInstanceOf(InvalidSetting);
    expect((failure as Error).message).toMatch(line);
  });

  it('leaves an error unchanged that no setting can fix', () => {
    const error = Object.assign(new Error('too many open files'), { code: 'EMFILE', syscall: 'listen' });
    expect(listenFailure(error, { host: '127.0.0.1', port: 80 })).toBe(error);
  });

  it('has another port than that of the metrics, in a process that listens on both', () => {
    const environment = {
      METRICS_PORT: '3000',
      DATABASE_URL: 'postgresql://127.0.0.1/x',
      REDIS_URL: 'redis://127.0.0.1',
      SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    };
    const settings = (role: 'api' | 'worker') => readSettings(environment, { role, demo: false });
    expect(() => listenAddresses(settings('api'))).toThrow(/^METRICS_PORT: must be another port than PORT$/);
    expect(listenAddresses(settings('worker'))).toEqual([{ host: '127.0.0.1', port: 3000, setting: 'METRICS_PORT' }]);
  });

  it('is free again after the check', async () => {
    await checkListenAddress({ host: '127.0.0.1', port: 0 });
  });
});
