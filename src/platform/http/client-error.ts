import type { Socket } from 'node:net';
import { newId } from '../ids/index.js';
import { CORS_HEADERS, REQUEST_ID_HEADER } from './response-headers.js';
import { generalError } from './wire-error.js';

const ANSWERS: Readonly<Record<string, { status: number; reason: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    message: 'The request line and headers are larger than 16 KiB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    reason: 'Request Timeout',
    message: 'The request did not arrive in time.',
  },
};
const MALFORMED = { status: 400, reason: 'Bad Request', message: 'The request is not valid HTTP.' };

/**
 * Answers what never became a request: no route, hook or filter sees it.
 * @param answered receives the request id and the status of each response
 */
export function clientErrorHandler(
  answered: (requestId: string, status: number) => void,
): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    answerClientError(error, socket, answered);
  };
}

function answerClientError(
  error: Error & { code?: string },
  socket: Socket,
  answered: (requestId: string, status: number) => void,
): void {
  if (!socket.writable || error.code === 'ECONNRESET' || responseBegun(socket)) {
    socket.destroy();
    return;
  }
  const { status, reason, message } = ANSWERS[error.code ?? ''] ?? MALFORMED;
  const body = JSON.stringify(generalError(status, message, status === 400 ? 'FST_ERR_VALIDATION' : undefined).body);
  const requestId = newId();
  const headers = {
    ...CORS_HEADERS,
    [REQUEST_ID_HEADER]: requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`);
  answered(requestId, status);
}

/** A second answer in the middle of the first would be read as part of it. */
function responseBegun(socket: Socket): boolean {
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: { headersSent?: boolean } | null };
  return response?.headersSent === true;
}
