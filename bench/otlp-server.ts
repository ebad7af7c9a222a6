/** A separate process: an OpenTelemetry backend that accepts everything at once. It does as little as possible, because it shares the machine with the measured service. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce } from './ipc.ts';

const received = { requests: 0, bytes: 0 };

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(received));
    return;
  }
  received.requests += 1;
  request.on('data', (chunk: Buffer) => (received.bytes += chunk.length));
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/x-protobuf', 'content-length': 0 });
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => {
  announce({ port: (server.address() as AddressInfo).port, pid: process.pid });
});
