import { Controller, Get, Header, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { EnumField, StringMapField } from './fields.js';
import { Health } from './health.js';
import { PublicRoute } from './public-route.js';

class LivenessResponse {
  @EnumField(['ok'], { description: 'Always `ok`: a process that does not run does not answer.' })
  status!: 'ok';
}

/** Has also a field for each `HealthFact`, which `OpenApiDocument` documents. */
export class ReadinessResponse {
  @EnumField(['ok', 'unavailable'], {
    description: '`unavailable` comes with the status 503; `checks` says which part does not work.',
  })
  status!: 'ok' | 'unavailable';

  @StringMapField({ description: "'ok' or what is wrong, by part.", example: { database: 'ok' } })
  checks!: Record<string, string>;
}

@ApiTags('Service')
@Controller('health')
export class HealthController {
  constructor(private readonly health: Health) {}

  @Get('live')
  @PublicRoute()
  @Header('cache-control', 'no-store')
  @ApiOperation({ operationId: 'getLiveness', summary: 'Whether the process runs' })
  @ApiOkResponse({ type: LivenessResponse })
  live(): LivenessResponse {
    return { status: 'ok' };
  }

  @Get('ready')
  @PublicRoute()
  @Header('cache-control', 'no-store')
  @ApiOperation({ operationId: 'getReadiness', summary: 'Whether the process can serve requests' })
  @ApiOkResponse({ type: ReadinessResponse })
  @ApiResponse({
    status: 503,
    description: 'A part does not work, or the process is stopping.',
    type: ReadinessResponse,
  })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<ReadinessResponse> {
    const { status, checks, facts } = await this.health.readiness();
    if (status !== 'ok') void reply.status(503);
    return { status, checks, ...facts };
  }
}
