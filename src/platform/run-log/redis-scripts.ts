import type { Result } from 'ioredis';

/*
 * The log of a run in Redis is a stream: entry n has the id `n-0` and one field, its tag, with its data.
 * Ids begin at 1 and leave nothing out, so a reader knows a gap when it sees one. The last id says how
 * the log goes on:
 *   n-1  it ended after entry n
 *   n-2  its entries were lost, n being the last number that was given
 * The key is also the channel that announces new entries to readers.
 */
export const ENDED_MARK = '1';
export const LOST_MARK = '2';

/** What a script found: the log took it, or is over for this writer. */
export type Written = 'ok' | 'ended' | 'lost';

/**
 * Adds a batch. Safe to repeat when it is not known whether it arrived: what is there already is left out.
 * A log that misses what was acknowledged (Redis emptied, or failed over to an older state) is given up
 * with a mark, so that those who follow it do not wait for ever.
 * ARGV: `open`, `end` or `lost`; expiry in ms; number before the batch; last number given; tag, data, ...
 */
const APPEND = `
local key, mode, before = KEYS[1], ARGV[1], tonumber(ARGV[3])
local count = (#ARGV - 4) / 2
local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
local at = 0
if last then
  local number, mark = string.match(last[1], '^(%d+)-(%d+)$')
  if mark == '1' then return 'ended' end
  if mark == '2' then return 'lost' end
  at = tonumber(number)
end
if mode == 'lost' or at < before then
  redis.call('DEL', key)
  redis.call('XADD', key, ARGV[4] .. '-2', '', '')
  redis.call('PEXPIRE', key, ARGV[2])
  redis.call('PUBLISH', key, '')
  return 'lost'
end
for index = at - before + 1, count do
  redis.call('XADD', key, string.format('%d-0', before + index), ARGV[3 + 2 * index], ARGV[4 + 2 * index])
end
if mode == 'end' then redis.call('XADD', key, string.format('%d-1', before + count), '', '') end
redis.call('PEXPIRE', key, ARGV[2])
if mode == 'end' or count > 0 then redis.call('PUBLISH', key, '') end
return 'ok'`;

/**
 * Adds the last entry and the end, for a writer that died. One step, so that of several processes that
 * try one does it.
 * ARGV: expiry in ms, tag, data
 */
const SEAL = `
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not last then return 'lost' end
local number, mark = string.match(last[1], '^(%d+)-(%d+)$')
if mark ~= '0' then return 'ended' end
redis.call('XADD', KEYS[1], string.format('%d-0', number + 1), ARGV[2], ARGV[3])
redis.call('XADD', KEYS[1], string.format('%d-1', number + 1), '', '')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PUBLISH', KEYS[1], '')
return 'ok'`;

/** For a client's option `scripts`, which sends each to a connection once and then names it by its digest. */
export const SCRIPTS = {
  appendToRunLog: { lua: APPEND, numberOfKeys: 1 },
  sealRunLog: { lua: SEAL, numberOfKeys: 1 },
};

declare module 'ioredis' {
  interface RedisCommander<Context> {
    appendToRunLog(key: string, ...parameters: readonly (string | number)[]): Result<Written, Context>;
    sealRunLog(key: string, expiryMs: number, tag: string, data: string): Result<Written, Context>;
  }
}

export const logKey = (prefix: string, runId: string): string => `${prefix}:run-log:${runId}`;
