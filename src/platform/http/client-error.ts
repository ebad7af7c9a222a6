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
 * Answers input that never became a request, so that no route, hook or filter handles it.
 * @param onAnswer receives the request id and the status of each response
 */
export function clientErrorHandler(
  onAnswer: (requestId: string, status: number) => void,
): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
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
    onAnswer(requestId, status);
  };
}

/** The client would read a second response in the middle of the first as part of it. */
function responseBegun(socket: Socket): boolean {
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: { headersSent?: boolean } | null };
  return response?.headersSent === true;
}
