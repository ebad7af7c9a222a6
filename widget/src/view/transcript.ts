import type { ChatMessage, MessagePart } from '../client/chat-state.js';
import { timeFormat } from './day-lines.js';
import { make } from './dom.js';
import { noteOf } from './message-view.js';
import { drawnParts } from './parts-view.js';
import type { Strings } from './strings.js';
import { toolText } from './tool-view.js';

export interface TranscriptOptions {
  readonly strings: Strings;
  readonly locale: string;
  /** The agent's name. */
  readonly name: string;
}

/** The conversation as plain text: who said what and when, with attachments, tools and the choices that were offered. */
export function transcriptOf(messages: readonly ChatMessage[], { strings, locale, name }: TranscriptOptions): string {
  const timeTexts = timeFormat(locale);
  const entries = messages.map((message) => {
    const { role, createdAt, attachments } = message;
    const note = noteOf(message, strings);
    const lines = [
      `${role === 'user' ? strings.you : name} (${timeTexts(createdAt).full}):`,
      ...linesOf(message, strings),
      ...attachments.map((attachment) => `[${attachment.name}]`),
      ...(note === '' ? [] : [`(${note})`]),
    ];
    return `${lines.join('\n')}\n`;
  });
  return entries.join('\n');
}

function linesOf({ role, text, parts }: ChatMessage, strings: Strings): string[] {
  if (role === 'user') return text === '' ? [] : [text];
  return drawnParts(parts).flatMap(({ part }) => lineOf(part, text, strings));
}

function lineOf(part: MessagePart, whole: string, strings: Strings): string[] {
  switch (part.kind) {
    case 'text':
      return [part.text.trim()];
    case 'tool':
      return [`(${toolText(part.tool, strings)})`];
    case 'component':
      return whole.includes(part.component.fallback) ? [] : [part.component.fallback];
    default:
      return part satisfies never;
  }
}

/** Saves the conversation as a text file of the visitor's device. */
export function downloadTranscript(messages: readonly ChatMessage[], options: TranscriptOptions): void {
  const url = URL.createObjectURL(new Blob([transcriptOf(messages, options)], { type: 'text/plain;charset=utf-8' }));
  const day = new Date().toISOString().slice(0, 10);
  make('a', { attributes: { href: url, download: `${options.strings.conversation} ${day}.txt` } }).click();
  // The browser reads the file after this task.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
