import { expect, it } from '@jest/globals';
import { HooksOf } from './hooks-of.js';
import { useHookServer, useHookService } from './support.js';

/** In cluster mode keys are settings, which change with the process: `test/faults/rotate-secrets.test.ts`. */
const service = useHookService();
const server = useHookServer();

it('values of headers and signing secrets stay readable when the master key is rotated', async () => {
  const hooks = await HooksOf.start(service);
  const document = (value: string): object => ({
    Stop: [{ hooks: [{ type: 'http', url: server.url('/rotated'), headers: { 'X-Key': value } }] }],
  });
  await hooks.set(document('kept'));
  await hooks.rotate();
  await service.cli('secrets', 'rotate');
  await hooks.set(document('<redacted>'));
  expect((await hooks.test({ event: 'Stop' })).body.results).toMatchObject([{ outcome: 'ok' }]);
  expect(server.of('/rotated')[0]?.headers).toMatchObject({
    'x-key': 'kept',
    'webhook-signature': expect.stringMatching(/^v1,/),
  });
});
