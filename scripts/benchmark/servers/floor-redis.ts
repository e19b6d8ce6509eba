/** The floor of calls across nodes: its Redis client as it comes, which writes each message by itself. */
import { relayOverRedis } from './redis-relay.js';

await relayOverRedis({ enableAutoPipelining: false });
