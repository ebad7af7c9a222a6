import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client';
import { DatabaseUnavailable } from '../../platform/database/index.js';
import { EgressFailed, EgressRefused } from '../../platform/egress/index.js';
import { messageOf } from '../../platform/errors/index.js';
import { McpFailure, type McpFailureReason } from './mcp-failure.js';
import { redactedText } from './redacted-text.js';

const MAX_CAUSES = 5;

const EGRESS_FAILURES: Readonly<Record<EgressFailed['reason'], readonly [McpFailureReason, string]>> = {
  connect: ['unreachable', 'The server cannot be reached.'],
  timeout: ['timeout', 'The server did not answer in time.'],
  too_large: ['too_large', "The server's answer is larger than 1 MB."],
  protocol: ['unreachable', "The server's answer was interrupted or is not valid HTTP."],
  redirect: ['unreachable', 'The server answered with a redirect, which is not followed.'],
};

/** The failure that a failed request of the safe client means for a caller of the tool server. */
export function failureOfRequest(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return new McpFailure('refused', error.message, { cause: error });
  if (error instanceof EgressRefused) return new McpFailure('refused', error.message, detailOf(error));
  if (!(error instanceof EgressFailed)) return error;
  const [reason, message] = EGRESS_FAILURES[error.reason];
  return new McpFailure(reason, message, detailOf(error));
}

export function redirected(): McpFailure {
  return new McpFailure(...EGRESS_FAILURES.redirect);
}

export function connectionLost(cause?: unknown): McpFailure {
  return new McpFailure('unreachable', 'The connection to the server was lost.', { cause });
}

/** The server has done nothing, so the caller may try another connection. */
export function sessionLost(): McpFailure {
  return new McpFailure('session_lost', 'The server ended the connection.');
}

/**
 * The failure for anything that the SDK throws.
 * @param secrets are redacted, because a server may repeat them in its error
 */
export function mcpFailureOf(error: unknown, secrets: readonly string[] = []): McpFailure {
  return (
    withinCauses(error, secrets) ??
    failureOfStatus(error) ??
    failureOfProtocol(error, secrets) ??
    failureOfSdk(error) ??
    invalidAnswer(error, secrets)
  );
}

/** The SDK wraps the error of the fetch, sometimes twice. */
function withinCauses(error: unknown, secrets: readonly string[]): McpFailure | undefined {
  let current = error;
  for (let count = 0; count < MAX_CAUSES && current instanceof Error; count += 1) {
    if (current instanceof McpFailure) return withRedactedDetail(current, secrets);
    current = current.cause;
  }
  return undefined;
}

/** The detail may contain text of the server, such as a header of its answer. */
function withRedactedDetail(failure: McpFailure, secrets: readonly string[]): McpFailure {
  const { reason, message, detail, cause } = failure;
  return detail === undefined
    ? failure
    : new McpFailure(reason, message, { detail: redactedText(detail, secrets), cause });
}

function failureOfStatus(error: unknown): McpFailure | undefined {
  const status = error instanceof SdkHttpError ? error.status : error instanceof SseError ? error.code : undefined;
  // The SDK reports a stream of another content type as status 200.
  if (status === undefined || status < 300) return undefined;
  return new McpFailure('unreachable', `The server answered with HTTP status ${status}.`);
}

function failureOfProtocol(error: unknown, secrets: readonly string[]): McpFailure | undefined {
  if (!(error instanceof ProtocolError)) return undefined;
  const text = redactedText(error.message, secrets) || `code ${error.code}`;
  return new McpFailure('protocol', `The server answered with an error: ${text}`);
}

function failureOfSdk(error: unknown): McpFailure | undefined {
  if (!(error instanceof SdkError)) return undefined;
  if (error.code === SdkErrorCode.NotConnected) return sessionLost();
  if (error.code === SdkErrorCode.ConnectionClosed) return connectionLost(error);
  if (error.code === SdkErrorCode.RequestTimeout) {
    return new McpFailure('timeout', 'The server did not answer in time.', { cause: error });
  }
  if (error.code === SdkErrorCode.UnsupportedResultType || error.code === SdkErrorCode.InputRequiredRoundsExceeded) {
    return new McpFailure('protocol', 'The server asks for further input, which this service does not provide.', {
      cause: error,
    });
  }
  return undefined;
}

function invalidAnswer(error: unknown, secrets: readonly string[]): McpFailure {
  return new McpFailure('protocol', "The server's answer is not valid MCP.", {
    detail: redactedText(messageOf(error), secrets),
  });
}

function detailOf(error: EgressFailed | EgressRefused): { detail?: string; cause: unknown } {
  return { ...(error.detail !== undefined && { detail: error.detail }), cause: error };
}
