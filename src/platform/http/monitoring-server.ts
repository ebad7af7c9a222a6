import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Settings } from '../config/index.js';
import { Metrics } from '../metrics/index.js';
import { Logger } from '../telemetry/index.js';
import { Health } from './health.js';
import { listenFailure } from './listen-address.js';

interface MonitoringAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';
/** Monitoring sends short requests; a connection that sends nothing must not stay. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Serves metrics and health on `METRICS_PORT`. A plain server, because a worker does not load the HTTP application, and because
 * probes are to be answered until the process has closed everything else.
 */
@Injectable()
export class MonitoringServer implements OnApplicationShutdown {
  private server: Server | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly health: Health,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /**
   * @returns where it listens; undefined without `METRICS_PORT`
   * @throws InvalidSetting
   */
  async listen(): Promise<string | undefined> {
    const { host, metricsPort: port } = this.settings;
    if (port === undefined) return undefined;
    const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
      void this.serve(request, response);
    });
    try {
      server.listen(port, host);
      await once(server, 'listening');
    } catch (error) {
      throw listenFailure(error, { host, port, setting: 'METRICS_PORT' });
    }
    this.server = server;
    // An operator's probe must not keep a process alive that could not close it.
    server.unref();
    const { address, port: bound, family } = server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${String(bound)}`;
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private async serve({ method = '', url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const reads = method === 'GET' || method === 'HEAD';
      const found = reads ? await this.answer(url.split('?', 1)[0] ?? '') : undefined;
      const { status, type, text } = found ?? NOT_FOUND;
      response.writeHead(status, {
        'content-type': type,
        'content-length': Buffer.byteLength(text),
        'cache-control': 'no-store',
      });
      response.end(method === 'HEAD' ? undefined : text);
    } catch (err) {
      this.logger.error({ err }, 'A request of monitoring failed');
      response.destroy();
    }
  }

  private async answer(path: string): Promise<MonitoringAnswer | undefined> {
    switch (path) {
      case '/metrics': {
        const { registry } = this.metrics;
        return { status: 200, type: registry.contentType, text: await registry.metrics() };
      }
      case '/health/live':
        return json(200, { status: 'ok' });
      case '/health/ready': {
        const { status, checks, facts } = await this.health.readiness();
        return json(status === 'ok' ? 200 : 503, { status, checks, ...facts });
      }
      default:
        return undefined;
    }
  }
}

function json(status: number, body: object): MonitoringAnswer {
  return { status, type: JSON_TYPE, text: JSON.stringify(body) };
}

const NOT_FOUND = json(404, {
  statusCode: 404,
  error: 'not_found',
  message: 'There are only /metrics, /health/live and /health/ready here.',
});
