import { expect, test } from 'vitest';
import { ConfigError } from '../../../server/src/config/config-error.js';
import { INLINE_SECRET } from '../../../server/src/config/config-secrets.js';
import { resolveConfig } from '../../../server/src/config/load-config.js';
import { startTestHub } from '../../support/hub.js';
import { readSamples } from './scrape.js';

const token = 'the-token-of-the-metrics';

test('OBS-02: without `metrics` in its configuration a hub shows none', async () => {
  await using hub = await startTestHub();
  expect((await fetch(`${hub.url}/metrics`)).status).toBe(404);
});

test('OBS-02: {} shows them in the format of Prometheus, to be read and nothing else', async () => {
  await using hub = await startTestHub({ metrics: {} });
  const response = await fetch(`${hub.url}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
  const text = await response.text();
  expect(text).toMatch(/^# HELP remotes_hub_sessions .+\n# TYPE remotes_hub_sessions gauge\n/mu);
  expect(text).toMatch(/^# TYPE remotes_hub_call_duration_seconds histogram$/mu);
  expect(readSamples(text)).toMatchObject({ remotes_hub_sessions: 0 });

  const posted = await fetch(`${hub.url}/metrics`, { method: 'POST' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect((await fetch(`${hub.url}/metrics`, { method: 'HEAD' })).status).toBe(200);
});

test('OBS-02: with a token it must be given, and nothing else opens', async () => {
  await using hub = await startTestHub({ metrics: { token } });
  const ask = async (authorization?: string): Promise<number> => {
    const headers = authorization === undefined ? {} : { authorization };
    return (await fetch(`${hub.url}/metrics`, { headers })).status;
  };
  expect(await ask(`Bearer ${token}`)).toBe(200);
  expect(await ask(`bearer  ${token}`)).toBe(200);
  for (const wrong of [
    undefined,
    '',
    'Bearer',
    `Bearer ${token}x`,
    `Bearer ${token.slice(1)}`,
    `Basic ${token}`,
    token,
    `Bearer ${await hub.token()}`,
  ]) {
    expect([wrong, await ask(wrong)]).toEqual([wrong, 401]);
  }
  const refused = await fetch(`${hub.url}/metrics`);
  expect(refused.headers.get('www-authenticate')).toBe('Bearer');
  expect(await refused.json()).toEqual({ error: 'the metrics need their token', code: 'not-authenticated' });
});

test('OBS-02: the path is configurable', async () => {
  await using hub = await startTestHub({ metrics: { path: '/internal/metrics' } });
  expect((await fetch(`${hub.url}/internal/metrics`)).status).toBe(200);
  expect((await fetch(`${hub.url}/metrics`)).status).toBe(404);
});

test('OBS-02: metrics name neither users nor remotes nor functions', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect({ user: 'a-user-of-theirs' });
  await session.serve('a-remote-of-theirs', ['a-function-of-theirs']);
  await session.call('a-remote-of-theirs', 'another-of-theirs');
  expect(await hub.hub.metrics()).not.toContain('theirs');
});

function problemsOf(config: object): string[] {
  try {
    resolveConfig(config, { env: { METRICS: token, SHORT: 'short' } });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

test('OBS-02: the token is a secret like others', () => {
  const { config, secrets } = resolveConfig(
    { metrics: { token: 'env:METRICS' } },
    { env: { METRICS: token } },
  );
  expect(secrets.metricsToken).toBe(token);
  expect(config.metrics).toEqual({ path: '/metrics', token: 'env:METRICS' });
  const inline = resolveConfig({ metrics: { token } });
  expect(inline.config.metrics?.token).toBe(INLINE_SECRET);
  expect(JSON.stringify(inline.config)).not.toContain(token);

  expect(problemsOf({ metrics: { token: 'env:NOT_THERE' } })).toEqual([
    'metrics.token: environment variable NOT_THERE is not set',
  ]);
  const expected = 'expected at least 16 visible ASCII characters without spaces';
  expect(problemsOf({ metrics: { token: 'env:SHORT' } })).toEqual([
    `metrics.token: ${expected}, "env:SHORT" has fewer or others`,
  ]);
  expect(problemsOf({ metrics: { token: 'a secret with spaces' } })).toEqual([
    `metrics.token: ${expected}, the text has fewer or others`,
  ]);
});

test.each(['/ws', '/healthz', '/readyz', '/v1/auth/token'])('the path of metrics is not %s', (path) => {
  expect(problemsOf({ metrics: { path } })).toEqual([
    `metrics.path: expected another path than the hub's own, received "${path}"`,
  ]);
});
