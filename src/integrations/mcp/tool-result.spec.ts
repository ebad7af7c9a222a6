import { describe, expect, it } from '@jest/globals';
import type { ToolResult } from '../../conversations/index.js';
import { toToolResult } from './tool-result.js';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(20)]).toString('base64');
const PDF = Buffer.from('%PDF-1.7 and more').toString('base64');
const WAV = Buffer.from('RIFF    WAVE').toString('base64');

/** Without the mark for repairs. */
function received(result: object): ToolResult {
  const { isRepaired: _isRepaired, ...received } = toToolResult({ ...result });
  return received;
}

describe('the result of a tool', () => {
  it('is its joined texts, or a note if it is empty', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ];
    expect(received({ content })).toEqual({ output: 'one\n\ntwo', isError: false });
    expect(received({ content: [], isError: true })).toEqual({ output: 'The tool returned nothing.', isError: true });
  });

  it.each([{}, { result: 'sunny' }])('is an error without content: %j', (result) => {
    expect(received(result)).toEqual({ output: expect.stringContaining('it has no content'), isError: true });
  });

  it.each(['not a list', { type: 'text', text: 'no list' }, null, 7])('is an error if its content is %j', (content) => {
    expect(received({ content })).toEqual({
      output: expect.stringContaining('its content is not a list'),
      isError: true,
    });
    expect(received({ content, structuredContent: { a: 1 } })).toEqual({
      output: expect.stringContaining('{"a":1}'),
      isError: true,
    });
  });

  it('has media, named in the output', () => {
    const { output, media } = received({
      content: [
        { type: 'image', data: PNG, mimeType: 'image/png', annotations: { priority: 7 } },
        { type: 'audio', data: WAV, mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: PDF } },
      ],
    });
    expect(media).toEqual([
      { kind: 'image', name: 'image-1', mediaType: 'image/png', data: PNG },
      { kind: 'audio', name: 'audio-2', mediaType: 'audio/wav', data: WAV },
      { kind: 'pdf', name: 'resource-3.pdf', mediaType: 'application/pdf', data: PDF },
    ]);
    for (const { name } of media ?? []) expect(output).toContain(name);
    expect(output).toContain('file:///a.pdf');
  });

  it('has media of the type that their bytes show', () => {
    const { media } = received({ content: [{ type: 'image', data: PNG, mimeType: 'image/jpeg' }] });
    expect(media).toEqual([expect.objectContaining({ mediaType: 'image/png' })]);
  });

  it.each([
    ['no base64', { type: 'image', data: 'not base64!', mimeType: 'image/png' }],
    ['an empty image', { type: 'image', data: '', mimeType: 'image/png' }],
    [
      'an image that is none',
      { type: 'image', data: Buffer.from('<svg/>').toString('base64'), mimeType: 'image/svg+xml' },
    ],
    [
      'a file of another kind',
      { type: 'resource', resource: { uri: 'x:y', mimeType: 'application/zip', blob: 'UEsDBA==' } },
    ],
    ['an unknown kind', { type: 'hologram', data: 'x' }],
    ['no object', 'text'],
    ['an image without data', { type: 'image' }],
  ])('has a note in place of %s, and keeps the rest', (_what, block) => {
    const result = received({ content: [block, { type: 'text', text: 'kept' }] });
    expect(result.media).toBeUndefined();
    expect(result.output).toMatch(/left out\.\]\n\nkept$/);
  });

  it('has the text and address of resources and links', () => {
    const { output } = received({
      content: [
        { type: 'resource', resource: { uri: 'demo://1', mimeType: 'text/plain', text: 'content' } },
        { type: 'resource_link', uri: 'demo://2', name: 'second', description: 'a file', mimeType: 'text/csv' },
      ],
    });
    expect(output).toBe('Resource "demo://1":\ncontent\n\nLink to resource "demo://2": second, text/csv, a file');
  });

  it('is cut after 500 parts, however small', () => {
    const { output } = received({ content: Array.from({ length: 300_000 }, () => ({})) });
    expect(output.split('\n\n')).toHaveLength(501);
    expect(output).toContain('299500 further parts of the result');
  });

  it('contains structured content once, even if a text repeats it', () => {
    const structuredContent = { b: 1, a: [2] };
    expect(received({ content: [{ type: 'text', text: '{ "a": [2], "b": 1 }' }], structuredContent }).output).toBe(
      '{ "a": [2], "b": 1 }',
    );
    expect(received({ content: [{ type: 'text', text: 'See below' }], structuredContent }).output).toBe(
      'See below\n\n{"b":1,"a":[2]}',
    );
    const wrapped = { content: [{ type: 'text', text: '[{"a":1}]' }], structuredContent: { items: [{ a: 1 }] } };
    expect(received(wrapped).output).toBe('[{"a":1}]');
    expect(received({ ...wrapped, structuredContent: { items: [{ a: 1 }], more: 2 } }).output).toContain('"more":2');
    expect(received({ structuredContent: [1] }).output).toBe('[1]');
    const unknown = { type: 'unknown', text: JSON.stringify(structuredContent) };
    expect(received({ content: [unknown], structuredContent }).output).toContain('{"b":1,"a":[2]}');
    const deep = JSON.parse(`{"a":${'['.repeat(60_000)}${']'.repeat(60_000)}}`) as object;
    expect(received({ structuredContent: deep }).output).toContain('nested too deeply');
  });
});
