import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '@remotes-hub/protocol';
import { loadNativeModule, type NativeModule } from '../../../server/src/agents/native-modules.js';
import type { NativeTool } from '../../../server/src/agents/native-tool.js';

/** Limits as a hub has them by default. */
export const limits = { callTimeoutMs: 30_000, maxSchemaBytes: 65_536, maxSchemaDepth: 64 };

/** A folder of modules. */
export interface ModuleFolder extends Disposable {
  /** Writes a module and gives its path. */
  write(name: string, code: string): string;
}

export function moduleFolder(): ModuleFolder {
  const path = mkdtempSync(join(tmpdir(), 'remotes-hub-tools-'));
  return {
    write: (name, code) => {
      writeFileSync(join(path, name), code);
      return join(path, name);
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
}

/** Loads a module of this code. */
export async function load(code: string, name = 'tools.mjs', given = limits): Promise<NativeModule> {
  using folder = moduleFolder();
  return await loadNativeModule(folder.write(name, code), given);
}

/** The only tool of a module. */
export async function loadTool(code: string, given = limits): Promise<NativeTool> {
  const [tool] = (await load(code, 'tools.mjs', given)).tools;
  if (tool === undefined) throw new Error('the module has no tool');
  return tool;
}

/** Runs a tool whose run is not cancelled, unless the signal says so. */
export async function use(
  tool: NativeTool,
  args: JsonObject = {},
  signal = new AbortController().signal,
): Promise<JsonValue> {
  return tool.run(args, { signal });
}
