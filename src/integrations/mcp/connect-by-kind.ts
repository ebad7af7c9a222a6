import { Injectable } from '@nestjs/common';
import { ProcessMcpConnector } from '../local/process-mcp-connector.js';
import { HttpMcpConnector } from './http-mcp-connector.js';
import { type ConnectOptions, type McpConnection, McpConnector } from './mcp-connection.js';
import type { McpEndpoint } from './mcp-endpoint.js';

/** Connects to any tool server. */
@Injectable()
export class ConnectByKind extends McpConnector {
  constructor(
    private readonly http: HttpMcpConnector,
    private readonly processes: ProcessMcpConnector,
  ) {
    super();
  }

  connect(endpoint: McpEndpoint, options: ConnectOptions): Promise<McpConnection> {
    switch (endpoint.kind) {
      case 'http':
        return this.http.connect(endpoint, options);
      case 'process':
        return this.processes.connect(endpoint, options);
      default:
        return endpoint satisfies never;
    }
  }
}
