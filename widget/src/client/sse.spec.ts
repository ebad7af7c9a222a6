import { describe, expect, it } from '@jest/globals';
import { EventParser, type ServerSentEvent } from './sse.js';

const TEXT =
  '\uFEFF: hello\r\nid: 1\r\ndata: {"a":\r\ndata: "ü🚲"}\r\n\r\ndata\n\nid:2\rdata:x\r\rretry: 5\nevent: y\ndata:  z\n\n: ping\n\ndata: not whole';
const EVENTS: ServerSentEvent[] = [
  { id: '1', data: '{"a":\n"ü🚲"}' },
  { id: '1', data: '' },
  { id: '2', data: 'x' },
  { id: '2', data: ' z' },
];

describe('a stream of events', () => {
  it('has the same events for all chunk boundaries', () => {
    for (let size = 1; size <= TEXT.length; size += 1) {
      const parser = new EventParser();
      const read: ServerSentEvent[] = [];
      for (let at = 0; at < TEXT.length; at += size) read.push(...parser.push(TEXT.slice(at, at + size)));
      expect({ size, read }).toEqual({ size, read: EVENTS });
    }
  });

  it('fails if an event is too large', () => {
    const parser = new EventParser();
    expect(() => {
      for (let pieces = 0; pieces < 20; pieces += 1) parser.push('x'.repeat(1024 * 1024));
    }).toThrow(/too large/);
  });
});
