import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';

const spec = (name: string, description = ''): object => ({ name, description });

test('REMOTE-05: a session at its limit of remotes gets too-many-remotes; another session does not', async () => {
  await using hub = await startTestHub({ limits: { maxRemotesPerSession: 2 } });
  const first = await hub.connect();
  const second = await hub.connect();
  await first.serve('a', ['f']);
  await first.serve('b', ['f']);

  expect(await first.serve('c', ['f'])).toMatchObject({
    error: 'this session serves 2 remotes, the most it may',
    code: 'too-many-remotes',
  });
  expect(await second.serve('c', ['f'])).toMatchObject({ message: 'remote connected' });
  expect(await second.remotes()).toEqual(['a', 'b', 'c']);
  await first.request('remote-disconnect', { remotename: 'a' });
  expect(await first.serve('d', ['f'])).toMatchObject({ message: 'remote connected' });
});

test('REMOTE-05: without a configuration the limit is 128', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const replies = Array.from({ length: 129 }, async (_, n) => server.serve(`r${n}`, []));

  const codes = (await Promise.all(replies)).map(({ code }) => code);
  expect(codes.slice(0, 128).every((code) => code === undefined)).toBe(true);
  expect(codes[128]).toBe('too-many-remotes');
  expect(hub.hub.counts().remotes).toBe(128);
});

test('a user at the limit of remotes gets too-many-remotes in every session; another user does not', async () => {
  await using hub = await startTestHub({ limits: { maxRemotesPerUser: 2 } });
  const first = await hub.connect();
  const second = await hub.connect();
  const stranger = await hub.connect({ user: 'u2' });
  await first.serve('a', ['f']);
  await second.serve('b', ['f']);

  expect(await second.serve('c', ['f'])).toMatchObject({
    error: '2 remotes are connected, the most a user may have',
    code: 'too-many-remotes',
  });
  expect(await stranger.serve('c', ['f'])).toMatchObject({ message: 'remote connected' });
  await first.close();
  await second.event('remote-disconnected');
  expect(await second.serve('c', ['f'])).toMatchObject({ message: 'remote connected' });
});

test('tools of one user together are bounded in bytes of UTF-8, the first remote included', async () => {
  await using hub = await startTestHub({ limits: { maxToolsBytesPerUser: 2_048 } });
  const server = await hub.connect();
  const connect = async (remotename: string, description: string) =>
    server.request('remote-connect', { remotename, tools: [spec('f', description)] });
  const refusal = {
    error: 'the functions of all remotes together would pass 2048 bytes',
    code: 'too-many-remotes',
  };

  expect(await connect('too long', 'x'.repeat(2_100))).toMatchObject(refusal);
  expect(await connect('too many bytes', '€'.repeat(700))).toMatchObject(refusal);
  expect(await connect('a', '€'.repeat(600))).toMatchObject({ message: 'remote connected' });
  expect(await connect('b', 'x'.repeat(300))).toMatchObject(refusal);
  await server.request('remote-disconnect', { remotename: 'a' });
  expect(await connect('b', 'x'.repeat(300))).toMatchObject({ message: 'remote connected' });
  expect(await server.remotes()).toEqual(['b']);
});

test('REMOTE-06: tools above their size in bytes get message-too-large, and nothing is stored', async () => {
  await using hub = await startTestHub({ limits: { maxToolsBytes: 1_024 } });
  const server = await hub.connect();
  const connect = async (tools: object[]) => server.request('remote-connect', { remotename: 'x', tools });
  const bytesOf = (tools: object[]): number => Buffer.byteLength(JSON.stringify(tools));
  const padding = 1_024 - bytesOf([spec('f')]);

  const tooLong = [spec('f', 'x'.repeat(padding + 1))];
  expect(await connect(tooLong)).toMatchObject({
    error: 'body.tools: 1025 bytes, at most 1024 are taken',
    code: 'message-too-large',
  });
  const multibyte = [spec('f', '€'.repeat(400))];
  expect(await connect(multibyte)).toMatchObject({
    error: `body.tools: ${bytesOf(multibyte)} bytes, at most 1024 are taken`,
    code: 'message-too-large',
  });
  expect(await server.remotes()).toEqual([]);
  expect(await connect([spec('f', 'x'.repeat(padding))])).toMatchObject({ message: 'remote connected' });
});

test('REMOTE-06: without a configuration the size is 1 MiB of the text as it was sent, spaces included', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const connect = async (remotename: string, bytes: number) => {
    const tools = `[${' '.repeat(bytes - 2)}]`;
    server.send(
      `{"action":"remote-connect","nonce":"${remotename}","body":{"remotename":"${remotename}","tools":${tools}}}`,
    );
    return server.reply(remotename);
  };

  expect(await connect('a', 1_048_577)).toMatchObject({
    error: 'body.tools: 1048577 bytes, at most 1048576 are taken',
    code: 'message-too-large',
  });
  expect(await connect('b', 1_048_576)).toMatchObject({ message: 'remote connected' });
});

test('more functions than this hub allows get message-too-large, more than 1024 invalid-body', async () => {
  await using small = await startTestHub({ limits: { maxFunctionsPerRemote: 2 } });
  const few = await small.connect();
  expect(await few.serve('x', ['a', 'b', 'c'])).toMatchObject({
    error: 'body.tools: 3 functions, at most 2 are taken',
    code: 'message-too-large',
  });
  expect(await few.serve('x', ['a', 'b'])).toMatchObject({ message: 'remote connected' });

  await using hub = await startTestHub();
  const many = await hub.connect();
  const names = Array.from({ length: 1_025 }, (_, n) => `f${n}`);
  expect(await many.serve('x', names)).toMatchObject({ code: 'invalid-body' });
  expect(await many.remotes()).toEqual([]);
  expect(await many.serve('x', names.slice(1))).toMatchObject({ message: 'remote connected' });
  const reply = many.call('x', 'f1024');
  await many.answer('the last');
  expect(await reply).toMatchObject({ result: 'the last' });
});
