import { Module } from '@nestjs/common';
import { ChildProcesses } from '../../platform/processes/index.js';
import { LocalServers } from './local-servers.js';
import { ProcessMcpConnector } from './process-mcp-connector.js';

@Module({
  providers: [ChildProcesses, LocalServers, ProcessMcpConnector],
  exports: [LocalServers, ProcessMcpConnector],
})
export class LocalServersModule {}
