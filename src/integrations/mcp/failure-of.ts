import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client';
import { DatabaseUnavailable } from '../../platform/database/index.js';
import { EgressFailed, EgressRefused } from '../../platform/egress/index.js';
import { messageOf } from '../../platform/errors/index.js';
import { McpFailure } from './mcp-failure.js';
import { serverWords } from './server-words.js';

const MAX_CAUSES = 5;

/** What a failed request over the safe client means for the one who waits for the tool server. */
export function failureOfRequest(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return new McpFailure('refused', error.message, { cause: error });
  if (error instanceof EgressRefused) return new McpFailure('refused', error.message, detailOf(error));
  if (!(error instanceof EgressFailed)) return error;
  switch (error.reason) {
    case 'connect':
      return new McpFailure('unreachable', 'The server cannot be reached.', detailOf(error));
    case 'timeout':
      return new McpFailure('timeout', 'The server did not answer in time.', detailOf(error));
    case 'too_large':
      return new McpFailure('too_large', "The server's answer is larger than 1 MB.", detailOf(error));
    case 'protocol':
      return new McpFailure('unreachable', "The server's answer broke off or is not valid HTTP.", detailOf(error));
    case 'redirect':
      return redirected();
    default:
      return error.reason satisfies never;
  }
}

export function redirected(): McpFailure {
  return new McpFailure('unreachable', 'The server answered with a redirect, which is not followed.');
}

export function connectionLost(cause?: unknown): McpFailure {
  return new McpFailure('unreachable', 'The connection to the server was lost.', { cause });
}

/** Nothing was sent, so another connection may be tried. */
export function sessionLost(): McpFailure {
  return new McpFailure('session_lost', 'The server ended the connection.');
}

/**
 * Whatever the SDK throws, in plain words.
 * @param secrets what a server was told and must not be able to publish by repeating it in its own error
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

/** The SDK wraps what the fetch threw, sometimes twice. */
function withinCauses(error: unknown, secrets: readonly string[]): McpFailure | undefined {
  let current = error;
  for (let count = 0; count < MAX_CAUSES && current instanceof Error; count += 1) {
    if (current instanceof McpFailure) return withPlainDetail(current, secrets);
    current = current.cause;
  }
  return undefined;
}

/** The detail may have words of the server's, such as a header of its answer. */
function withPlainDetail(failure: McpFailure, secrets: readonly string[]): McpFailure {
  const { reason, message, detail, cause } = failure;
  return detail === undefined
    ? failure
    : new McpFailure(reason, message, { detail: serverWords(detail, secrets), cause });
}

function failureOfStatus(error: unknown): McpFailure | undefined {
  const status = error instanceof SdkHttpError ? error.status : error instanceof SseError ? error.code : undefined;
  // The SDK tells a stream of another content type as status 200.
  if (status === undefined || status < 300) return undefined;
  return new McpFailure('unreachable', `The server answered with HTTP status ${status}.`);
}

function failureOfProtocol(error: unknown, secrets: readonly string[]): McpFailure | undefined {
  if (!(error instanceof ProtocolError)) return undefined;
  const words = serverWords(error.message, secrets);
  return new McpFailure(
    'protocol',
    `The server answered with an error: ${words === '' ? `code ${error.code}` : words}`,
  );
}

function failureOfSdk(error: unknown): McpFailure | undefined {
  if (!(error instanceof SdkError)) return undefined;
  if (error.code === SdkErrorCode.NotConnected) return sessionLost();
  if (error.code === SdkErrorCode.ConnectionClosed) return connectionLost(error);
  if (error.code === SdkErrorCode.RequestTimeout) {
    return new McpFailure('timeout', 'The server did not answer in time.', { cause: error });
  }
  if (error.code === SdkErrorCode.UnsupportedResultType || error.code === SdkErrorCode.InputRequiredRoundsExceeded) {
    return new McpFailure('protocol', 'The server asks for further input, which it cannot be given here.', {
      cause: error,
    });
  }
  return undefined;
}

function invalidAnswer(error: unknown, secrets: readonly string[]): McpFailure {
  return new McpFailure('protocol', "The server's answer is not valid MCP.", {
    detail: serverWords(messageOf(error), secrets),
  });
}

function detailOf(error: EgressFailed | EgressRefused): { detail?: string; cause: unknown } {
  return { ...(error.detail !== undefined && { detail: error.detail }), cause: error };
}
