import { connect } from '@remotes-hub/client';
import { HubProvider, useCall, useHub, useRemote, useRemotes, useRun } from '@remotes-hub/client/react';
import { createElement, type ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startTestHub } from '../support/hub.js';

function Everything(): ReactElement {
  const states = [
    useHub().state,
    useRemote('page', { greet: { handler: () => 'hello' } }).status,
    useRemotes().isPending,
    useCall('page', 'greet').isPending,
    useRun().status,
  ];
  return createElement('p', null, states.join(' '));
}

test('REACT-13: rendering on a server connects nowhere and shows what a page shows first', () => {
  const sockets: string[] = [];
  class Recorded extends WebSocket {
    constructor(url: string) {
      super(url);
      sockets.push(url);
    }
  }
  const props = { url: 'wss://hub.example', token: () => 't', WebSocket: Recorded };

  const html = renderToString(createElement(HubProvider, props, createElement(Everything)));

  expect(html).toBe('<p>connecting connecting true false idle</p>');
  expect(sockets).toEqual([]);
});

test('REACT-13: a session that is ready is shown at once', async () => {
  await using server = await startTestHub();
  await using hub = await connect(server.url, { token: await server.token() });

  const html = renderToString(createElement(HubProvider, { hub }, createElement(Everything)));

  expect(html).toBe('<p>open connecting true false idle</p>');
});

test('REACT-14: a hook without a provider says so', () => {
  expect(() => renderToString(createElement(Everything))).toThrow('useHub: there is no HubProvider above');
});
