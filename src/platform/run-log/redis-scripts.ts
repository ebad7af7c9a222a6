import type { Result } from 'ioredis';

/*
 * The log of a run in Redis is a stream: entry n has the id `n-0` and one field, its tag, with its data.
 * Ids begin at 1 and have no gaps, so a reader can detect missing entries. Another last id is a mark:
 *   n-1  the log ended after entry n
 *   n-2  entries were lost; n is the number of the last one
 * The key is also the name of the channel on which new entries are announced.
 * Processes of the former release read and write the same format during an upgrade.
 */
export const ENDED_MARK = '1';
export const LOST_MARK = '2';

/** `ok` if the log accepted the batch; otherwise this writer can add nothing any more. */
export type Written = 'ok' | 'ended' | 'lost';

/**
 * Adds a batch. A batch whose arrival is unknown can be repeated, because entries that exist are skipped.
 * A log that lacks acknowledged entries (Redis was emptied, or failed over to an older state) is replaced by
 * a mark, so that its readers do not wait forever.
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
 * Adds the last entry and the end for a writer that died. It is one step, so that only one of several processes
 * does it.
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

/** For the option `scripts` of a client, which sends each script to a connection once and then calls it by its digest. */
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
