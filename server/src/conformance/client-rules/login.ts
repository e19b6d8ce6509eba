import { remoteConnectSchema } from '@remotes-hub/protocol';
import type { JsonObject } from '../../json/json-values.js';
import { clientRule, pause } from '../client-under-test.js';
import { expectEqual, expectThat, memberOf } from '../expectations.js';
import { ODD_REMOTE, REMOTE } from '../played-connection.js';
import { unknownFields } from './own-fields.js';

/** The functions of the two remotes, as protocol/README.md lists them. */
const functionsOf = new Map([
  [REMOTE, ['echo', 'fail', 'wait', 'waiting', 'count', 'progress', 'call', 'repeat', 'name']],
  [ODD_REMOTE, ['name']],
]);

const RETRY_AFTER_MS = 3_000;

export const loginRules = [
  clientRule(
    'CLIENT-01',
    'Ways in',
    'It logs in with the token it was given, at the upgrade or by its first message, never in the address.',
    async (client) => {
      await client.start();
      const { headers, path, inbox } = await client.nextConnection();
      expectThat(!path.includes(client.token), 'an address without the token', path);
      if (headers.authorization !== undefined) {
        expectEqual(headers.authorization, `Bearer ${client.token}`, 'the header Authorization');
        return;
      }
      const { message } = await inbox.take(() => true, 'a first message');
      expectEqual(message['action'], 'authenticate', 'the action of the first message');
      expectEqual(memberOf(message, 'body', 'token'), client.token, 'body.token');
      const instanceId = memberOf(message, 'body', 'instanceId');
      const length = typeof instanceId === 'string' ? instanceId.length : 0;
      const fits = instanceId === undefined || (length >= 16 && length <= 128);
      expectThat(fits, 'instanceId: absent, or a string of 16 to 128 characters', instanceId);
    },
    { isPrerequisite: true },
  ),

  clientRule(
    'CLIENT-02',
    'remote-connect',
    'It connects its remotes with function specs that fit the specification.',
    async (client) => {
      await client.start();
      const connection = await client.nextConnection();
      for (const [remotename, functions] of functionsOf) {
        expectConnect(await connection.connected(remotename), functions);
      }
      await connection.settle();
    },
    { isPrerequisite: true },
  ),

  clientRule(
    'CLIENT-03',
    'Error codes',
    'Credentials that were refused are not sent again.',
    async (client) => {
      const reply = { error: 'the credentials are wrong', code: 'invalid-credentials' };
      await client.refuseLogins({ reply, status: 401, headers: { 'WWW-Authenticate': 'Bearer' } });
      await pause(2_000);
      expectEqual(client.refusedLogins, 1, 'logins with credentials that were refused');
    },
  ),

  clientRule(
    'CLIENT-04',
    'Attempts',
    'After rate-limited it does not try sooner than retryAfterMs says.',
    async (client) => {
      const reply = { error: 'too many attempts', code: 'rate-limited', retryAfterMs: RETRY_AFTER_MS };
      await client.refuseLogins({ reply, status: 429, headers: { 'Retry-After': '3' } });
      await pause(RETRY_AFTER_MS - 200);
      expectEqual(client.refusedLogins, 1, `logins within ${RETRY_AFTER_MS} ms`);
    },
  ),
];

function expectConnect(request: JsonObject, functions: readonly string[]): void {
  const { success, error } = remoteConnectSchema.safeParse(request);
  expectThat(success, 'a remote-connect that fits the specification', error?.message ?? request);
  expectEqual(unknownFields(request), [], 'fields of its own');
  const tools = memberOf(request, 'body', 'tools');
  const listed = Array.isArray(tools) ? tools.map((spec: unknown) => memberOf(spec, 'name')) : [];
  const missing = functions.filter((name) => !listed.includes(name));
  expectEqual(missing, [], 'functions that are not served');
}
