/**
 * A separate process: an endpoint for hooks that answers at once without output. It does as little as possible, because it shares
 * the machine with the measured service.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce } from './ipc.ts';

const ANSWER = Buffer.from('{}');

/** Counts of requests since the start; a GET returns them. */
const received = { calls: 0, connections: 0 };

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(received));
    return;
  }
  received.calls += 1;
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length });
    response.end(ANSWER);
  });
});
server.on('connection', () => {
  received.connections += 1;
});
server.listen(0, '127.0.0.1', 4096, () => {
  announce({ port: (server.address() as AddressInfo).port, pid: process.pid });
});
