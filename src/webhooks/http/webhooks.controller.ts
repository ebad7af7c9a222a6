import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res, UseGuards } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, type ApiKeyPrincipal, Caller } from '../../access/index.js';
import { ApiErrors, ApiExample, disconnectSignal, EXAMPLE_IDS, UuidParam } from '../../platform/http/index.js';
import { ChangeWebhook } from '../application/change-webhook.js';
import { CreateWebhook } from '../application/create-webhook.js';
import { ReadWebhooks } from '../application/read-webhooks.js';
import { Redeliver } from '../application/redeliver.js';
import { RemoveWebhook } from '../application/remove-webhook.js';
import { RotateWebhookSecret } from '../application/rotate-webhook-secret.js';
import { TestWebhook } from '../application/test-webhook.js';
import { WebhookDisabled, WebhookLimitReached } from '../domain/webhooks.errors.js';
import { MAX_ENDPOINTS } from '../limits.js';
import { ExistingWebhookGuard } from './existing-webhook.guard.js';
import {
  ChangeWebhookBody,
  CreatedWebhookResponse,
  createdWebhookView,
  CreateWebhookBody,
  DeliveryListResponse,
  deliveryView,
  ListDeliveriesQuery,
  RedeliveryResponse,
  testView,
  toChanges,
  toSettings,
  WebhookListResponse,
  WebhookResponse,
  WebhookSecretResponse,
  WebhookTestResponse,
  webhookView,
} from './webhooks.dto.js';

@ApiTags('Webhooks')
@Controller('v1/webhooks')
export class WebhooksController {
  constructor(
    private readonly webhooks: ReadWebhooks,
    private readonly createWebhook: CreateWebhook,
    private readonly changeWebhook: ChangeWebhook,
    private readonly removeWebhook: RemoveWebhook,
    private readonly rotateSecret: RotateWebhookSecret,
    private readonly testWebhook: TestWebhook,
    private readonly redeliver: Redeliver,
  ) {}

  @Post()
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiExample({ body: { url: 'https://example.com/events', events: ['run.completed', 'run.failed'] } })
  @ApiOperation({
    operationId: 'createWebhook',
    summary: 'Create a webhook: an endpoint that receives events of the organization',
    description:
      'The body of a request to it is `{id, type, createdAt, data}`; `data` holds ids alone: `assistant_id`, `thread_id`, `runId`, `sourceId`, ' +
      '`integrationId`, `periodId`, as the event has them. The request is signed as Standard Webhooks has it. A 2xx status within 10 seconds is a ' +
      'delivery; else it is sent again after 5 seconds, 1, 5 and 30 minutes, 2, 5 and 10 hours, or later where `Retry-After` asks for it (at most an hour). Redirects are not followed. Events may arrive twice, with the ' +
      `same \`webhook-id\`, and in any order. An organization has at most ${MAX_ENDPOINTS} webhooks.`,
  })
  @ApiCreatedResponse({ type: CreatedWebhookResponse })
  @ApiErrors(new WebhookLimitReached())
  async create(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @Body() body: CreateWebhookBody,
  ): Promise<CreatedWebhookResponse> {
    const { endpoint, secret } = await this.createWebhook.execute(organizationId, toSettings(body));
    return createdWebhookView(endpoint, secret);
  }

  @Get()
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiOperation({ operationId: 'listWebhooks', summary: "List the organization's webhooks, oldest first" })
  @ApiOkResponse({ type: WebhookListResponse })
  async list(@Caller() { organizationId }: ApiKeyPrincipal): Promise<WebhookListResponse> {
    return { webhooks: (await this.webhooks.list(organizationId)).map(webhookView) };
  }

  @Get(':id')
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiExample({ path: { id: EXAMPLE_IDS.webhook } })
  @ApiOperation({ operationId: 'getWebhook', summary: 'Read a webhook' })
  @ApiOkResponse({ type: WebhookResponse })
  @ApiErrors(404)
  async read(@Caller() { organizationId }: ApiKeyPrincipal, @UuidParam('id') id: string): Promise<WebhookResponse> {
    return webhookView(await this.webhooks.find(organizationId, id));
  }

  @Patch(':id')
  @UseGuards(ExistingWebhookGuard)
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiExample({ path: { id: EXAMPLE_IDS.webhook }, body: { events: ['run.completed'], enabled: true } })
  @ApiOperation({
    operationId: 'changeWebhook',
    summary: 'Change a webhook, or switch it on or off',
    description:
      'What the body leaves out stays. Events that happen while it is switched off are not sent later; those that it was still to receive have ' +
      'failed. `enabled: true` switches it on again and clears `disabledReason`. Deliveries that wait are sent to a changed `url`.',
  })
  @ApiOkResponse({ type: WebhookResponse })
  @ApiErrors(404)
  async change(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('id') id: string,
    @Body() body: ChangeWebhookBody,
  ): Promise<WebhookResponse> {
    return webhookView(await this.changeWebhook.execute(organizationId, id, toChanges(body)));
  }

  @Delete(':id')
  @HttpCode(204)
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiExample({ path: { id: EXAMPLE_IDS.deletedWebhook } })
  @ApiOperation({
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook with its secret and its deliveries',
    description:
      'Requests that are under way or were prepared may still arrive, for two seconds; nothing more is sent.',
  })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async delete(@Caller() { organizationId }: ApiKeyPrincipal, @UuidParam('id') id: string): Promise<void> {
    await this.removeWebhook.execute(organizationId, id);
  }

  @Post(':id/secret')
  @HttpCode(200)
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiExample({ path: { id: EXAMPLE_IDS.webhook } })
  @ApiOperation({
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the secret that signs what a webhook receives',
    description: 'The new and the previous secret both sign for 24 hours.',
  })
  @ApiOkResponse({ type: WebhookSecretResponse })
  @ApiErrors(404)
  async rotate(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('id') id: string,
  ): Promise<WebhookSecretResponse> {
    const { secret, createdAt } = await this.rotateSecret.execute(organizationId, id);
    return { secret, createdAt: createdAt.toISOString() };
  }

  @Post(':id/test')
  @HttpCode(200)
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiExample({ path: { id: EXAMPLE_IDS.webhook } })
  @ApiOperation({
    operationId: 'testWebhook',
    summary: 'Send a webhook an event of the type `webhook.test`',
    description:
      'Sent once, signed, with empty `data`, also while the webhook is switched off. Answers when the endpoint has, after at most 10 seconds. ' +
      'It is no delivery: it is not listed, and changes nothing of the webhook.',
  })
  @ApiOkResponse({ type: WebhookTestResponse })
  @ApiErrors(404)
  async test(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WebhookTestResponse> {
    return testView(await this.testWebhook.execute(organizationId, id, disconnectSignal(reply)));
  }

  @Get(':id/deliveries')
  @UseGuards(ExistingWebhookGuard)
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiExample({ path: { id: EXAMPLE_IDS.webhook } })
  @ApiOperation({
    operationId: 'listWebhookDeliveries',
    summary: 'List what a webhook has received and is to receive, newest first',
    description: 'Deliveries are kept for 30 days.',
  })
  @ApiOkResponse({ type: DeliveryListResponse })
  @ApiErrors(404)
  async deliveries(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('id') id: string,
    @Query() query: ListDeliveriesQuery,
  ): Promise<DeliveryListResponse> {
    const { items, nextCursor } = await this.webhooks.deliveries(organizationId, id, query);
    return { deliveries: items.map(deliveryView), nextCursor };
  }

  @Post(':id/deliveries/:deliveryId/redeliver')
  @HttpCode(202)
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiExample({ path: { id: EXAMPLE_IDS.webhook }, needs: 'a delivery of the webhook' })
  @ApiOperation({
    operationId: 'redeliverWebhookDelivery',
    summary: 'Send a delivery again',
    description:
      'Whatever became of it: it is due now, with all its attempts, under the same `webhook-id`. A webhook that is switched off answers 409 webhook_disabled.',
  })
  @ApiAcceptedResponse({ type: RedeliveryResponse })
  @ApiErrors(404, new WebhookDisabled())
  async sendAgain(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('id') id: string,
    @UuidParam('deliveryId') deliveryId: string,
  ): Promise<RedeliveryResponse> {
    await this.redeliver.execute(organizationId, id, deliveryId);
    return { id: deliveryId, status: 'pending' };
  }
}
