/** The floor of calls across nodes, but for one option: what is published in one turn is written at once. */
import { relayOverRedis } from './redis-relay.js';

await relayOverRedis({ enableAutoPipelining: true });
