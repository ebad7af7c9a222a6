import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerSignInCallback, ApiSignInCallback, PublicRoute } from '../../../platform/http/index.js';
import { Logger } from '../../../platform/telemetry/index.js';
import { DriveSignIn } from '../application/sign-in/drive-sign-in.js';

@ApiTags('Knowledge')
@Controller('v1/oauth/drive')
export class DriveCallbackController {
  constructor(
    private readonly signIn: DriveSignIn,
    private readonly logger: Logger,
  ) {}

  @Get('callback')
  @PublicRoute()
  @ApiSignInCallback('the drive', {
    operationId: 'completeDriveSignIn',
    summary: "Complete a person's sign-in to the drive",
    description:
      'The drive redirects browsers here. A state can be used once, with a code or an error, within 10 minutes.',
  })
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await answerSignInCallback(request, reply, {
      complete: (response) => this.signIn.complete(response),
      failed: (err) => this.logger.info({ requestId: request.id, err }, 'A sign-in to the drive was not completed'),
    });
  }
}
