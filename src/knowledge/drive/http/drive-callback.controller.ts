import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerSignInCallback, ApiExample, PublicRoute, SIGN_IN_PAGE, SIGN_IN_PAGE_OR_ERROR } from '../../../platform/http/index.js';
import { Logger } from '../../../platform/telemetry/index.js';
import { DriveSignIn } from '../application/sign-in/drive-sign-in.js';

/** Where the drive sends browsers. */
@ApiTags('Knowledge')
@Controller('v1/oauth/drive')
export class DriveCallbackController {
  constructor(
    private readonly signIn: DriveSignIn,
    private readonly logger: Logger,
  ) {}

  @Get('callback')
  @PublicRoute()
  @ApiExample({ needs: 'a browser that comes from the drive' })
  @ApiOperation({
    operationId: 'completeDriveSignIn',
    summary: "Complete a person's sign-in to the drive",
    description: 'Browsers come here from the drive. A state is good for one visit that brings a code or an error, within 10 minutes.',
  })
  @ApiQuery({ name: 'state', required: false, description: 'Names the sign-in that was begun.', schema: { type: 'string' } })
  @ApiQuery({ name: 'code', required: false, description: 'What the sign-in is completed with.', schema: { type: 'string' } })
  @ApiQuery({ name: 'error', required: false, description: 'Why the person or the server did not go on.', schema: { type: 'string' } })
  @ApiResponse({ status: 302, description: 'The sign-in is completed; to the redirectUrl that it was begun with.' })
  @ApiResponse({ status: 400, description: 'A page that says why the sign-in was not completed.', ...SIGN_IN_PAGE_OR_ERROR })
  @ApiResponse({ status: 502, description: 'A page: the drive did not do its part.', ...SIGN_IN_PAGE })
  @ApiResponse({ status: 503, description: 'A page: the service is not available at the moment.', ...SIGN_IN_PAGE })
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await answerSignInCallback(request, reply, {
      complete: (parameter) => this.signIn.complete({ state: parameter('state'), code: parameter('code'), error: parameter('error') }),
      failed: (err) => this.logger.info({ requestId: request.id, err }, 'A sign-in to the drive was not completed'),
    });
  }
}
