import { MessageText } from '../../json/message-text.js';
import { expectEqual, expectError, expectMembers, expectThat, memberOf } from '../expectations.js';
import { hubRule } from '../hub-under-test.js';

/** Spelt so that writing it anew would change it. */
const ODD_TOOLS =
  '[ {"name":"f", "parameters":{"type":"object","properties":{"b":{"const":1.0},"a":{"enum":[9007199254740993, 1e400]}}},"\\u0078":[ ]} ]';

const LOOKAHEAD = {
  name: 'find',
  parameters: { type: 'object', properties: { code: { type: 'string', pattern: '^(?!00)\\d+$' } } },
};

export const remoteRules = [
  hubRule(
    'REMOTE-01',
    'remote-connect',
    'remote-connect is answered with message, remotename and nonce.',
    async (hub) => {
      const session = await hub.login({ v1: true });
      const remotename = hub.newName();
      const nonce = session.start('remote-connect', { remotename, tools: [{ name: 'f' }] });
      const reply = await session.reply(nonce);
      expectEqual(reply, { message: 'remote connected', remotename, nonce }, 'the reply to remote-connect');
    },
  ),

  hubRule(
    'REMOTE-02',
    'remote-connect',
    'A name that another live session serves is refused.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const reply = await caller.tryServe(name, ['g']);
      expectError(reply, 'remote-already-connected', 'a name that is taken');
      expectEqual(reply['error'], `remote '${name}' is already connected`, 'the text of the error');
      await server.settle();
      const nonce = caller.startCall(name, 'f');
      server.answer(await server.forwarded(), { result: 1 });
      expectMembers(await caller.reply(nonce), { result: 1 }, 'a reply of the first remote');
    },
  ),

  hubRule(
    'REMOTE-03',
    'remote-connect',
    'A name of this very session is refused at once, without a probe.',
    async (hub) => {
      const session = await hub.login({ answersPings: false });
      const name = hub.newName();
      await session.serve(name, ['f']);
      const start = performance.now();
      expectError(await session.tryServe(name, ['f']), 'remote-already-connected', 'a name of its own');
      const tookMs = Math.round(performance.now() - start);
      expectThat(tookMs < 1_500, 'a refusal at once', `one after ${tookMs} ms`);
      await session.settle();
    },
  ),

  hubRule(
    'REMOTE-04',
    'remote-connect',
    'A holder that does not answer the probe is closed, and the newcomer connected.',
    async (hub) => {
      const silent = await hub.login({ answersPings: false });
      const newcomer = await hub.login();
      const name = hub.newName();
      await silent.serve(name, ['f']);
      const body = { remotename: name, tools: [{ name: 'g' }] };
      const reply = await newcomer.request('remote-connect', body, 8_000);
      expectMembers(reply, { message: 'remote connected' }, 'the newcomer connected after the probe');
      await silent.closed('the end of the silent holder');
    },
  ),

  hubRule('REMOTE-06', 'remote-connect', 'tools above 1 MiB get message-too-large.', async (hub) => {
    const session = await hub.login();
    const remotename = hub.newName();
    const tools = Array.from({ length: 140 }, (_, n) => ({ name: `f${n}`, description: 'x'.repeat(8_000) }));
    const reply = await session.request('remote-connect', { remotename, tools });
    expectError(reply, 'message-too-large', 'tools above 1 MiB');
    expectError(await session.call(remotename, 'f0'), 'remote-not-connected', 'what was refused');
  }),

  hubRule(
    'REMOTE-07',
    'remote-connect',
    'A schema that cannot be used gets invalid-schema, which names the function.',
    async (hub) => {
      const session = await hub.login();
      const remotename = hub.newName();
      const broken = {
        name: 'broken_one',
        parameters: { type: 'object', properties: { a: { type: 'nonsense' } } },
      };
      expectError(
        await session.tryServe(remotename, ['f', broken]),
        'invalid-schema',
        'a wrong schema',
        'broken_one',
      );
      expectError(await session.call(remotename, 'f'), 'remote-not-connected', 'what was refused');
    },
  ),

  hubRule(
    'REMOTE-08',
    'remote-connect',
    'Patterns that are not enforced are named in warnings, with remotes.v1 only.',
    async (hub) => {
      const [v1, plain] = [await hub.login({ v1: true }), await hub.login()];
      const { warnings } = await v1.serve(hub.newName(), [LOOKAHEAD]);
      const isNamed =
        Array.isArray(warnings) && warnings.length === 1 && String(warnings[0]).includes('find');
      expectThat(isNamed, 'one warning that names the function', warnings);
      const reply = await plain.serve(hub.newName(), [LOOKAHEAD]);
      expectThat(!('warnings' in reply), 'no warnings without remotes.v1', reply);
    },
  ),

  hubRule(
    'K055',
    'remote-connect',
    'A function listed twice is refused by name; [] is allowed, what is no array is not.',
    async (hub) => {
      const session = await hub.login();
      const remotename = hub.newName();
      const twice = await session.tryServe(remotename, ['f', 'twin', 'twin']);
      expectError(twice, 'invalid-body', 'a function listed twice', 'twin');
      for (const tools of [{}, null, 'f', undefined]) {
        const reply = await session.request('remote-connect', { remotename, tools });
        expectError(reply, 'invalid-body', `tools: ${JSON.stringify(tools)}`);
      }
      await session.serve(remotename, []);
    },
  ),

  hubRule(
    'REMOTE-09',
    'remote-disconnect',
    'remote-disconnect is answered with message, remotename and nonce.',
    async (hub) => {
      const session = await hub.login({ v1: true });
      const remotename = hub.newName();
      await session.serve(remotename, []);
      const nonce = session.start('remote-disconnect', { remotename });
      const reply = await session.reply(nonce);
      expectEqual(
        reply,
        { message: 'remote disconnected', remotename, nonce },
        'the reply to remote-disconnect',
      );
    },
  ),

  hubRule(
    'REMOTE-10',
    'remote-disconnect',
    'A name that is not connected is remote-not-connected.',
    async (hub) => {
      const session = await hub.login();
      const remotename = hub.newName();
      const reply = await session.request('remote-disconnect', { remotename });
      expectError(reply, 'remote-not-connected', 'a name that is not connected');
      expectEqual(reply['error'], `no connected remote named '${remotename}'`, 'the text of the error');
    },
  ),

  hubRule(
    'REMOTE-11',
    'remote-disconnect',
    'Any session of the user may disconnect a remote; its name is free then.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const reply = await caller.request('remote-disconnect', { remotename: name });
      expectMembers(reply, { remotename: name }, 'the reply to remote-disconnect');
      await caller.serve(name, ['g']);
      await server.settle();
      expectError(await server.tryServe(name, ['f']), 'remote-already-connected', 'the name, taken now');
    },
  ),

  hubRule(
    'REMOTE-12',
    'remote-disconnect',
    'With drain the name is free at once and calls in flight may finish.',
    async (hub) => {
      const { server, caller, name } = await hub.pair(['f']);
      const nonce = caller.startCall(name, 'f');
      const requestId = await server.forwarded();
      await server.request('remote-disconnect', { remotename: name, drain: true });
      expectError(await caller.call(name, 'f'), 'remote-not-connected', 'a call to a draining remote');
      await caller.serve(name, ['g']);
      server.answer(requestId, { result: 'finished' });
      expectMembers(await caller.reply(nonce), { result: 'finished' }, 'the reply to the call in flight');
    },
  ),

  hubRule(
    'REMOTE-13',
    'remote-list',
    'remote-list shows remotes in order of connection, tools as they were sent.',
    async (hub) => {
      const session = await hub.login();
      const names = [hub.newName(), hub.newName(), hub.newName()].toReversed();
      for (const remotename of names) {
        const nonce = session.newNonce();
        const body = `{"remotename":"${remotename}","tools":${ODD_TOOLS}}`;
        session.send(`{"action":"remote-connect","nonce":"${nonce}","body":${body}}`);
        expectMembers(await session.reply(nonce), { remotename }, 'a remote connected');
      }
      session.start('remote-list');
      const frame = await session.nextReply('the list');
      const remotes = memberOf(frame.message, 'remotes');
      expectThat(Array.isArray(remotes), 'remotes: an array', frame.message);
      const listed = remotes.map((remote: unknown) => memberOf(remote, 'remotename'));
      expectEqual(
        listed.filter((name) => names.some((own) => own === name)),
        names,
        'the names in order',
      );
      const text = MessageText.scan(frame.text)?.member('remotes')?.text ?? '';
      expectEqual(
        text.split(ODD_TOOLS).length - 1,
        names.length,
        'how often the very text of tools is there',
      );
    },
  ),
];
