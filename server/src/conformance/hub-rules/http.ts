import type { JsonObject } from '../../json/json-values.js';
import { expectEqual, expectError, expectThat } from '../expectations.js';
import { hubRule, type HttpAnswer } from '../hub-under-test.js';
import { RuleSkipped } from '../rule.js';

const TOKEN_PATH = '/v1/auth/token';
const JSON_TYPE = { 'Content-Type': 'application/json' };

function bodyOf({ body }: HttpAnswer): JsonObject {
  const value: unknown = JSON.parse(body);
  expectThat(typeof value === 'object' && value !== null, 'a JSON object as the body', body);
  return { ...value };
}

export const httpRules = [
  hubRule(
    'HTTP-01',
    'HTTP answers to an upgrade',
    'An unknown path is 404, a request that is no upgrade 426 or 400.',
    async (hub) => {
      expectEqual((await hub.upgrade({}, `${hub.path}-nowhere`)).status, 404, 'the status of another path');
      const plain = (await hub.http(hub.path)).status;
      expectThat(plain === 426 || plain === 400, 'the status of a plain request: 426 or 400', plain);
      const broken = (await hub.upgrade({ 'Sec-WebSocket-Version': '7' })).status;
      expectThat(broken === 426 || broken === 400, 'the status of a wrong handshake: 426 or 400', broken);
      const instance = await hub.upgrade({
        Authorization: `Bearer ${hub.target.token}`,
        'Remotes-Instance-Id': 'short',
      });
      expectEqual(instance.status, 400, 'the status for a Remotes-Instance-Id that is too short');
      expectError(bodyOf(instance), 'invalid-body', 'a Remotes-Instance-Id that is too short');
    },
  ),

  hubRule(
    'HTTP-03',
    'POST /v1/auth/token',
    'Wrong credentials are 401, wrong bodies 400 and 415.',
    async (hub) => {
      const post = (body: string, headers: Record<string, string> = JSON_TYPE): Promise<HttpAnswer> =>
        hub.http(TOKEN_PATH, { method: 'POST', headers, body });
      const wrong = await post(JSON.stringify({ username: 'conformance-nobody', password: 'wrong' }));
      if (wrong.status === 404) throw new RuleSkipped('this hub issues no tokens');
      if (wrong.status === 429) throw new RuleSkipped('too many failed logins; try again in a minute');
      expectEqual(wrong.status, 401, 'the status of an unknown user');
      expectError(bodyOf(wrong), 'invalid-credentials', 'an unknown user');
      const noJson = await post('{');
      expectEqual(noJson.status, 400, 'the status of a body that is no JSON');
      expectError(bodyOf(noJson), 'malformed-message', 'a body that is no JSON');
      const unfit = await post('{"username":"ada"}');
      expectEqual(unfit.status, 400, 'the status of a body that does not fit');
      expectError(bodyOf(unfit), 'invalid-body', 'a body that does not fit');
      expectEqual(
        (await post('{}', { 'Content-Type': 'text/plain' })).status,
        415,
        'the status of another type',
      );
      expectEqual((await hub.http(TOKEN_PATH)).status, 405, 'the status of GET');
    },
  ),

  hubRule(
    'HTTP-04',
    'GET /healthz and GET /readyz',
    'healthz and readyz are 200 while the hub serves.',
    async (hub) => {
      expectEqual((await hub.http('/healthz')).status, 200, 'the status of /healthz');
      expectEqual((await hub.http('/readyz')).status, 200, 'the status of /readyz');
    },
  ),
];
