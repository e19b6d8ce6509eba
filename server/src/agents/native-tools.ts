import type { nativeToolNames } from '../config/config-schema.js';
import { currentTime } from './current-time.js';
import type { NativeTool } from './native-tool.js';

/**
 * The native tools of the hub, by name.
 * @param now milliseconds since 1970
 */
export function builtInTools(now: () => number = () => Date.now()): ReadonlyMap<string, NativeTool> {
  const tools: Record<(typeof nativeToolNames)[number], NativeTool> = { current_time: currentTime(now) };
  return new Map(Object.entries(tools));
}
