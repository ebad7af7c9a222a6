import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { DemoAgents } from './application/demo-agent.js';
import { DemoExamples } from './application/demo-examples.js';
import { DemoVisitors } from './application/demo-visitors.js';
import { ServiceClient } from './application/service-client.js';
import { DemoController } from './http/demo.controller.js';

/** The demo page and the customer's server behind it, which uses only routes under `/v1`. Loaded only in demo mode. */
@Module({
  imports: [AccessModule],
  controllers: [DemoController],
  providers: [DemoAgents, DemoExamples, DemoVisitors, ServiceClient],
})
export class DemoModule {}
