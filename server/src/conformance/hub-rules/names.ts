import { expectEqual, expectError, expectMembers } from '../expectations.js';
import { hubRule } from '../hub-under-test.js';

const oddNames = [
  '__proto__',
  'constructor',
  'toString',
  'a/b c#d',
  '\u0000\n',
  '\'"\\',
  'é',
  'e\u0301',
  'É',
  '\u{1f600}'.repeat(64),
];

export const nameRules = [
  hubRule('K020', 'Names', 'Odd names work end to end, and absent ones are errors.', async (hub) => {
    const { server, caller, name } = await hub.pair(oddNames);
    for (const functionName of oddNames) {
      const nonce = caller.startCall(name, functionName);
      const call = await server.next('remote-call');
      expectMembers(call, { function: functionName }, 'the forwarded call');
      server.answer(call['requestId'], { result: functionName });
      expectMembers(await caller.reply(nonce), { result: functionName }, 'the reply');
    }
    for (const absent of ['hasOwnProperty', 'valueOf', 'length', '0', 'e']) {
      expectError(await caller.call(name, absent), 'function-not-found', `the function '${absent}'`);
      expectError(
        await caller.call(`${name}${absent}`, 'f'),
        'remote-not-connected',
        `a remote '…${absent}'`,
      );
    }
    for (const remotename of ['', 'x'.repeat(129), '\u{1f600}'.repeat(65)]) {
      expectError(await server.tryServe(remotename, []), 'invalid-body', `a name of ${remotename.length}`);
    }
  }),

  hubRule('K034', 'Names', 'Names that hold # never mix calls up.', async (hub) => {
    const { server, caller, name } = await hub.pair(['f']);
    const odd = `${name}#0`;
    const other = await hub.login();
    await other.serve(odd, ['f']);
    const [plainCall, oddCall] = [caller.startCall(name, 'f'), caller.startCall(odd, 'f')];
    expectEqual(await server.forwarded(), `${name}#0`, 'the request id of the plain name');
    expectEqual(await other.forwarded(), `${odd}#0`, 'the request id of the name with #');
    server.answer(`${odd}#0`, { result: 'stolen' });
    other.answer(`${name}#0`, { result: 'stolen' });
    server.answer(`${name}#0`, { result: 'plain' });
    other.answer(`${odd}#0`, { result: 'odd' });
    expectMembers(await caller.reply(plainCall), { result: 'plain' }, 'the reply of the plain name');
    expectMembers(await caller.reply(oddCall), { result: 'odd' }, 'the reply of the name with #');
  }),
];
