import type { ModelOptions, ModelRuntime, ProviderType } from '../../src/models/index.js';
import type { ProviderAccess } from '../../src/models/providers/shared/provider-call.js';
import type { ModelTransport } from '../../src/models/providers/shared/transport.js';
import type { Clock } from '../../src/platform/clock/index.js';
import type { SentPart } from './sent-parts.js';

/** A whole answer in any of its parts; with calls it stops for them. */
export interface WireAnswer {
  readonly thinking?: string;
  /** What the provider wants back unchanged with this answer (a signature, encrypted reasoning). */
  readonly opaque?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input?: object }[];
}

/** Totals with the parts that they hold; a part that is absent is not reported. */
export interface WireUsage {
  readonly input: number;
  readonly output: number;
  /** Of the input: what the provider had in its cache. */
  readonly cached?: number;
  /** Of the output. */
  readonly thinking?: number;
}

/** A tool's result as the model was sent it. */
export interface SentResult {
  readonly id: string;
  readonly output: string;
  readonly isError: boolean;
}

/** How one provider speaks, as far as the tests need it: whole answers and broken ones, frame by frame. */
export interface ProviderWire {
  /** Of the agent. */
  readonly provider: ProviderType;
  /** The provider whose API its model is called through. */
  readonly api: ProviderType;
  readonly model: string;
  readonly options: ModelOptions;
  runtime(access: ProviderAccess, transport: ModelTransport, clock: Clock): ModelRuntime;
  /** The base URL of a server that plays this provider. */
  baseUrl(server: string): string;
  /** What a request's credential looks like on the wire. */
  keyOf(headers: Readonly<Record<string, unknown>>): unknown;
  /** A whole answer of the given texts; the last frame is the closing event. */
  text(parts: readonly string[], usage?: WireUsage): string[];
  /** A whole answer with one tool call, its input written in the given parts; the last frame is the closing event. */
  toolCall(call: { id: string; name: string; inputParts: readonly string[] }): string[];
  answer(parts: WireAnswer): string[];
  /** The tool results in a request, in order. */
  toolResults(body: Readonly<Record<string, unknown>>): SentResult[];
  /** What each user message of a request is made of, in order; results of tools are none. */
  userParts(body: Readonly<Record<string, unknown>>): SentPart[][];
  /** The beginning of a tool call, cut off before its input is whole. */
  readonly halfToolCall: readonly string[];
  /** A whole answer that the token limit cut off within a tool call. */
  readonly cutOffToolCall: readonly string[];
  /** A whole answer whose tool input is not a JSON object. */
  readonly unreadableToolCall: readonly string[];
  /** A frame that is no JSON. */
  readonly malformed: string;
  /** An error that the provider reports inside its stream. */
  readonly reportedError: string;
  readonly contextTooLong: { readonly status: number; readonly body: unknown };
}
