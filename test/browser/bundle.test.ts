import { gzipSync } from 'node:zlib';
import { build as esbuild } from 'esbuild';
import { expect, test } from 'vitest';
import { build as vite } from 'vite';
import { repository } from '../support/documentation.js';

const folder = `${repository}/test/browser`;

/** What a page's build makes of a program, by two bundlers. */
const bundlers: Readonly<Record<string, (code: string) => Promise<string>>> = {
  esbuild: async (code) => {
    const { outputFiles } = await esbuild({
      logLevel: 'silent',
      stdin: { contents: code, resolveDir: folder },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      conditions: ['hub-source'],
    });
    return outputFiles[0]?.text ?? '';
  },
  vite: async (code) => {
    const output = await vite({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      resolve: { conditions: ['hub-source', 'module', 'browser'] },
      build: {
        write: false,
        target: 'es2022',
        lib: { entry: 'virtual-page', formats: ['es'] },
        rollupOptions: { input: 'virtual-page' },
      },
      plugins: [
        {
          name: 'page',
          resolveId: (id) => (id === 'virtual-page' ? `${folder}/virtual-page.js` : undefined),
          load: (id) => (id === `${folder}/virtual-page.js` ? code : undefined),
        },
      ],
    });
    const [built] = [output].flat();
    if (built === undefined || !('output' in built)) throw new Error('nothing was built');
    return built.output.map((part) => (part.type === 'chunk' ? part.code : '')).join('');
  },
};

test.each(Object.keys(bundlers))(
  'K154 K161: what %s makes for a page holds no Node module, no eval and no schema library',
  async (name) => {
    const script = await bundlers[name]?.("export { connect } from '@remotes-hub/client';");

    expect(script).not.toMatch(/\beval\b|new Function|require\(|from ?["'](?:node:|ws|zod)/u);
    expect(script).not.toContain('ZodError');
    expect(script).toContain('remotes.v1');
  },
);

test('SDK-16: the client is small, and a page that does not use it has none of it', async () => {
  const whole = (await bundlers['esbuild']?.("export { connect } from '@remotes-hub/client';")) ?? '';
  const unused = (await bundlers['esbuild']?.("import '@remotes-hub/client';")) ?? '';

  expect(gzipSync(whole, { level: 9 }).byteLength).toBeLessThan(12_500);
  expect(unused.trim()).toBe('');
});
