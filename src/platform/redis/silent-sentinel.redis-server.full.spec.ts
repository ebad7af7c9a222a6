import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { listenToLastingPort } from '../../../test/support/lasting-port.js';
import { RedisServers } from '../../../test/support/redis-servers.js';
import { createLogger } from '../telemetry/index.js';
import { connectRedis } from './redis.module.js';

it('asks the next sentinel when one does not answer', async () => {
  const servers = await RedisServers.sentinel();
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket));
  const url = servers.url.replace('//', `//127.0.0.1:${await listenToLastingPort(silent)},`);
  const redis = connectRedis(url, 'test', createLogger({ logLevel: 'silent' }));
  await redis.connect();
  expect([await redis.ping(), sockets.size]).toEqual(['PONG', 1]);
  redis.disconnect();
  for (const socket of sockets) socket.destroy();
  silent.close();
  await once(silent, 'close');
  await servers.close();
});
