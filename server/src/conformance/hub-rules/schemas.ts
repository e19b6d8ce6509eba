import type { JsonObject } from '../../json/json-values.js';
import { expectEqual, expectError, expectMembers, expectThat } from '../expectations.js';
import { hubRule, type HubUnderTest } from '../hub-under-test.js';

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

/** Calls a function of these parameters; says whether the hub forwarded the arguments. */
async function accepts(hub: HubUnderTest, parameters: unknown, args: unknown): Promise<boolean> {
  const session = await hub.login();
  const name = hub.newName();
  await session.serve(name, [{ name: 'f', parameters }]);
  const nonce = session.startCall(name, 'f', args);
  const first = await session.inbox.take(
    ({ message }) => message['action'] === 'remote-call' || message['nonce'] === nonce,
    'a forwarded call or a refusal',
  );
  if (first.message['action'] === 'remote-call') return true;
  expectError(
    first.message,
    'invalid-arguments',
    `${JSON.stringify(args)} for ${JSON.stringify(parameters)}`,
  );
  return false;
}

async function expectSchemaRefused(hub: HubUnderTest, parameters: JsonObject, what: string): Promise<void> {
  const session = await hub.login();
  const reply = await session.tryServe(hub.newName(), [{ name: 'f', parameters }]);
  expectError(reply, 'invalid-schema', what);
}

async function expectVerdicts(
  hub: HubUnderTest,
  verdicts: readonly [parameters: unknown, args: JsonObject, fits: boolean][],
): Promise<void> {
  for (const [parameters, args, fits] of verdicts) {
    const what = `${JSON.stringify(args)} to be ${fits ? 'forwarded' : 'refused'} for ${JSON.stringify(parameters)}`;
    expectThat((await accepts(hub, parameters, args)) === fits, what, 'the opposite');
  }
}

/** Two levels for each property. */
function nested(properties: number): JsonObject {
  let schema: JsonObject = { type: 'object' };
  for (let count = 0; count < properties; count += 1) schema = { properties: { a: schema } };
  return schema;
}

export const schemaRules = [
  hubRule(
    'SCHEMA-01',
    'Arguments',
    'Arguments that do not fit are refused, the error names the path.',
    async (hub) => {
      const { server, caller, name } = await hub.pair([{ name: 'get_forecast', parameters: city }]);
      const reply = await caller.call(name, 'get_forecast', { city: 7 });
      expectError(reply, 'invalid-arguments', 'arguments that do not fit', '/city');
      expectMembers(reply, { executed: 'no', retryable: false }, 'an error');
      expectError(
        await caller.call(name, 'get_forecast'),
        'invalid-arguments',
        'arguments that lack a city',
        'city',
      );
      await server.settle();
      const forwarded = server.inbox.untaken(({ message }) => message['action'] === 'remote-call');
      expectEqual(forwarded.length, 0, 'forwarded calls');
    },
  ),

  hubRule('K150', 'Arguments', 'Nothing is coerced, defaulted or dropped.', async (hub) => {
    const parameters = {
      type: 'object',
      properties: { n: { type: 'integer' }, unit: { type: 'string', default: 'C' } },
    };
    const { server, caller, name } = await hub.pair([{ name: 'f', parameters }]);
    expectError(await caller.call(name, 'f', { n: '5' }), 'invalid-arguments', '"5" for an integer');
    caller.startCall(name, 'f', { n: 5, more: null });
    const call = await server.next('remote-call');
    expectMembers(call, { args: { n: 5, more: null } }, 'the forwarded call');
  }),

  hubRule(
    'SCHEMA-02',
    'Parameters',
    'parameters must describe an object; absent, null and {} let any pass.',
    async (hub) => {
      for (const type of ['string', 'array', ['string', 'null']]) {
        await expectSchemaRefused(hub, { type }, `parameters of the type ${JSON.stringify(type)}`);
      }
      const any = { a: 1 };
      await expectVerdicts(hub, [
        [undefined, any, true],
        [null, any, true],
        [{}, any, true],
        [{ type: ['object', 'null'] }, any, true],
      ]);
    },
  ),

  hubRule('K146', 'Dialects', 'Unknown keywords are ignored.', async (hub) => {
    const parameters = {
      type: 'object',
      properties: { a: { type: 'string', nullable: true, 'x-y': 1, example: 2 } },
    };
    await expectVerdicts(hub, [
      [parameters, { a: 'x' }, true],
      [parameters, { a: null }, false],
    ]);
  }),

  hubRule(
    'K147',
    'Dialects',
    'Any $schema connects; draft 7 is known, an unknown one means 2020-12.',
    async (hub) => {
      const tuple = (schema: string): JsonObject => ({
        $schema: schema,
        type: 'object',
        properties: { a: { prefixItems: [{ type: 'string' }], items: [{ type: 'string' }] } },
      });
      await expectVerdicts(hub, [
        [tuple('http://json-schema.org/draft-07/schema#'), { a: [1] }, false],
        [{ ...city, $schema: 'https://json-schema.org/draft/2020-12/schema' }, { city: 1 }, false],
        [{ ...city, $schema: 'https://example.com/mine' }, { city: 1 }, false],
        [{ ...city, $schema: 'https://example.com/mine' }, { city: 'Rome' }, true],
      ]);
    },
  ),

  hubRule('K152', 'Dialects', 'format is a hint and never an error.', async (hub) => {
    const property = (format: string): JsonObject => ({ properties: { a: { type: 'string', format } } });
    await expectVerdicts(hub, [
      [property('email'), { a: 'no address' }, true],
      [property('no-such-format'), { a: 'x' }, true],
    ]);
  }),

  hubRule(
    'SCHEMA-05',
    'Bounds of a schema',
    'A schema above 64 KiB or 64 levels is refused.',
    async (hub) => {
      await expectSchemaRefused(
        hub,
        { type: 'object', description: 'x'.repeat(65_536) },
        'a schema above 64 KiB',
      );
      await expectSchemaRefused(hub, nested(40), 'a schema of more than 64 levels');
    },
  ),

  hubRule(
    'SCHEMA-07',
    'Bounds of a schema',
    'Own members alone count: names of the prototype are not there.',
    async (hub) => {
      await expectVerdicts(hub, [
        [{ type: 'object', required: ['constructor'] }, {}, false],
        [{ type: 'object', required: ['toString'] }, {}, false],
        [{ type: 'object', additionalProperties: false }, { constructor: 1 }, false],
      ]);
    },
  ),

  hubRule('K143', 'Bounds of a schema', 'A $ref that leaves the schema is refused.', async (hub) => {
    for (const $ref of ['https://example.com/schema.json', 'file:///etc/passwd', '#/$defs/absent']) {
      await expectSchemaRefused(hub, { type: 'object', properties: { a: { $ref } } }, `the $ref ${$ref}`);
    }
  }),

  hubRule(
    'K149',
    'Bounds of a schema',
    'Recursive schemas work; a $ref that leads only to itself is refused.',
    async (hub) => {
      const tree = { type: 'object', properties: { child: { $ref: '#' }, n: { type: 'integer' } } };
      await expectVerdicts(hub, [
        [tree, { child: { child: { n: 1 } } }, true],
        [tree, { child: { child: { n: 'x' } } }, false],
      ]);
      const loop = { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
      await expectSchemaRefused(
        hub,
        { ...loop, properties: { x: { $ref: '#/$defs/a' } } },
        'a $ref to itself',
      );
    },
  ),

  hubRule(
    'SCHEMA-08',
    'Patterns',
    'A pattern that cannot run in linear time is accepted and not enforced.',
    async (hub) => {
      const property = (pattern: string): JsonObject => ({ properties: { a: { type: 'string', pattern } } });
      await expectVerdicts(hub, [
        [property('^(?!00)\\d+$'), { a: '00' }, true],
        [property('^(a)\\1$'), { a: 'b' }, true],
        [property('^\\d+$'), { a: 'b' }, false],
        [property('^\\p{L}+$'), { a: 'é' }, true],
      ]);
    },
  ),

  hubRule(
    'K144',
    'Patterns',
    'A hostile pattern delays nobody; an invalid one is refused at connect.',
    async (hub) => {
      await expectSchemaRefused(
        hub,
        { properties: { a: { pattern: '(' } } },
        'a pattern that is no regular expression',
      );
      const hostile = {
        name: 'f',
        parameters: { properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
      };
      const { caller, name } = await hub.pair([hostile]);
      const other = await hub.login();
      const start = performance.now();
      caller.startCall(name, 'f', { a: `${'a'.repeat(50_000)}!` });
      await other.settle();
      const tookMs = Math.round(performance.now() - start);
      expectThat(tookMs < 2_000, 'another session to be answered at once', `an answer after ${tookMs} ms`);
    },
  ),
];
