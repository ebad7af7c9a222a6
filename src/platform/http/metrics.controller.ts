import { Controller, Get, Header, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Metrics } from '../metrics/index.js';
import { PublicRoute } from './public-route.js';

const TEXT = { 'text/plain': { schema: { type: 'string' } } } as const;

@ApiTags('Service')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @PublicRoute()
  @Header('cache-control', 'no-store')
  @ApiOperation({ operationId: 'getMetrics', summary: 'What the process has counted and measured' })
  @ApiOkResponse({ description: "In Prometheus's text format, version 0.0.4.", content: TEXT })
  read(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    void reply.type(this.metrics.registry.contentType);
    return this.metrics.registry.metrics();
  }
}
