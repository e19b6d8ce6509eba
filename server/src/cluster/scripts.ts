import type { Cluster, Redis, Result } from 'ioredis';

/*
 * What must be one step in Redis. Each touches the keys of one user alone. An entry of the hash of remotes is
 * "<node> <connection> <microseconds> <bytes of the specs> <instance, or -> <timeouts>"; beside the entries, whose fields
 * are names in JSON, the field "bytes" counts the bytes of all specs.
 */

/** Removes an entry, with the specs and the bytes of it. */
const REMOVE = `
local function remove(field, entry)
  local id, size = string.match(entry, '^%S+ (%S+) %S+ (%S+)')
  redis.call('HDEL', KEYS[1], field)
  redis.call('HDEL', KEYS[2], id)
  redis.call('HINCRBY', KEYS[1], 'bytes', '-' .. size)
  if redis.call('HLEN', KEYS[1]) == 1 then redis.call('DEL', KEYS[1]) end
end
`;

/**
 * Takes a name: when it is free, when it is this connection's already or its instance's, when its holder is the one to be
 * replaced, or, if it comes from before Redis lost its data, when its holder came later.
 * Returns the microseconds of the claim and the entry that was replaced, or 0 and the entry of the holder; -1 and -2
 * when the user has too many remotes, or bytes.
 */
const CLAIM = `${REMOVE}
local field, node, id, bytes, timeouts, tools = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local maxCount, maxBytes, replaced, at, isEarlierFirst = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9], ARGV[10], ARGV[11]
local instance = ARGV[12]
local current = redis.call('HGET', KEYS[1], field)
local currentId, currentBytes = nil, 0
if current then
  local holder, since, size, holdingInstance
  holder, currentId, since, size, holdingInstance = string.match(current, '^(%S+) (%S+) (%S+) (%S+) (%S+)')
  currentBytes = tonumber(size)
  local isMine = currentId == id or (instance ~= '-' and instance == holdingInstance)
  local isReplaced = holder .. ' ' .. currentId == replaced
  local isLater = isEarlierFirst == '1' and at ~= '' and tonumber(at) < tonumber(since)
  if not (isMine or isReplaced or isLater) then return {'0', current} end
end
local total = tonumber(redis.call('HGET', KEYS[1], 'bytes') or '0')
local count = math.max(0, redis.call('HLEN', KEYS[1]) - 1)
if not current and count >= maxCount then return {'-1', ''} end
if total - currentBytes + tonumber(bytes) > maxBytes then return {'-2', ''} end
if at == '' then
  local time = redis.call('TIME')
  at = time[1] .. string.format('%06d', time[2])
end
if current then remove(field, current) end
redis.call('HINCRBY', KEYS[1], 'bytes', bytes)
redis.call('HSET', KEYS[1], field, table.concat({node, id, at, bytes, instance, timeouts}, ' '))
redis.call('HSET', KEYS[2], id, tools)
return {at, current or ''}
`;

/** Gives a name back, if this connection has it. */
const RELEASE = `${REMOVE}
local current = redis.call('HGET', KEYS[1], ARGV[1])
if current and string.match(current, '^%S+ (%S+)') == ARGV[2] then
  remove(ARGV[1], current)
end
return redis.call('HDEL', KEYS[2], ARGV[2])
`;

/** Removes what a dead node has left of a user. Returns the names of its remotes. */
const CLEAR = `${REMOVE}
local gone = {}
local remotes = redis.call('HGETALL', KEYS[1])
for index = 1, #remotes, 2 do
  if string.match(remotes[index + 1], '^%S+') == ARGV[1] then
    remove(remotes[index], remotes[index + 1])
    table.insert(gone, remotes[index])
  end
end
local instances = redis.call('HGETALL', KEYS[3])
for index = 1, #instances, 2 do
  if string.match(instances[index + 1], '^%S+') == ARGV[1] then redis.call('HDEL', KEYS[3], instances[index]) end
end
return gone
`;

/** Removes what a node does not hold any more of a user, all but these connections. Returns the names of the remotes. */
const KEEP_ONLY = `${REMOVE}
local kept = {}
for index = 2, #ARGV do kept[ARGV[index]] = true end
local gone = {}
local remotes = redis.call('HGETALL', KEYS[1])
for index = 1, #remotes, 2 do
  local node, id = string.match(remotes[index + 1], '^(%S+) (%S+)')
  if node == ARGV[1] and not kept[id] then
    remove(remotes[index], remotes[index + 1])
    table.insert(gone, remotes[index])
  end
end
return gone
`;

/** Notes where an instance is. Returns where it was, and the nodes on which calls wait for it. */
const MOVE_INSTANCE = `
local nodes = redis.call('SMEMBERS', KEYS[2])
table.insert(nodes, 1, redis.call('HGET', KEYS[1], ARGV[1]) or '')
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return nodes
`;

/** Forgets where an instance is, if it is still there. */
const LEAVE_INSTANCE = `
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then return redis.call('HDEL', KEYS[1], ARGV[1]) end
return 0
`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    claimRemote(remotes: string, tools: string, ...args: string[]): Result<[string, string], Context>;
    releaseRemote(remotes: string, tools: string, field: string, id: string): Result<number, Context>;
    clearNode(remotes: string, tools: string, instances: string, nodeId: string): Result<string[], Context>;
    keepOnly(remotes: string, tools: string, nodeId: string, ...ids: string[]): Result<string[], Context>;
    moveInstance(
      instances: string,
      waiting: string,
      field: string,
      place: string,
    ): Result<[string, ...string[]], Context>;
    leaveInstance(instances: string, field: string, place: string): Result<number, Context>;
  }
}

/** Makes the scripts commands of a client, which loads them again where a server does not know them. */
export function defineScripts(client: Redis | Cluster): void {
  client.defineCommand('claimRemote', { numberOfKeys: 2, lua: CLAIM });
  client.defineCommand('releaseRemote', { numberOfKeys: 2, lua: RELEASE });
  client.defineCommand('clearNode', { numberOfKeys: 3, lua: CLEAR });
  client.defineCommand('keepOnly', { numberOfKeys: 2, lua: KEEP_ONLY });
  client.defineCommand('moveInstance', { numberOfKeys: 2, lua: MOVE_INSTANCE });
  client.defineCommand('leaveInstance', { numberOfKeys: 1, lua: LEAVE_INSTANCE });
}
