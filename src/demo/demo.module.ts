import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { DemoAgents } from './application/demo-agent.js';
import { DemoExamples } from './application/demo-examples.js';
import { DemoVisitors } from './application/demo-visitors.js';
import { ServiceClient } from './application/service-client.js';
import { DemoController } from './http/demo.controller.js';

/** A page to chat on, part of the service in demo mode alone, with the server of a customer behind it: all that does goes over `/v1`. */
@Module({
  imports: [AccessModule],
  controllers: [DemoController],
  providers: [DemoAgents, DemoExamples, DemoVisitors, ServiceClient],
})
export class DemoModule {}
