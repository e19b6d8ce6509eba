import type { Message, TestSession } from '../../support/session.js';

/** Connects a remote with one function `f` of these parameters. */
export async function connect(session: TestSession, parameters: unknown, remotename = 'x'): Promise<Message> {
  return session.request('remote-connect', { remotename, tools: [{ name: 'f', parameters }] });
}

/** Calls `x.f` from the serving session itself, and answers with the arguments it got. */
export async function called(session: TestSession, args: object, remotename = 'x'): Promise<Message> {
  const reply = session.call(remotename, 'f', args);
  await session.settle();
  const call = session.others.findIndex(({ action }) => action === 'remote-call');
  if (call === -1) return reply;
  const [forwarded] = session.others.splice(call, 1);
  session.send({
    action: 'remote-call-result',
    requestId: forwarded?.['requestId'],
    result: forwarded?.['args'],
  });
  return reply;
}
