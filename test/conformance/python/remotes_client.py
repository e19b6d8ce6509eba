"""A small client of Remotes Hub, written from protocol/README.md alone.

It logs in, serves remotes, calls through the hub, and comes back after a lost connection. It needs Python 3.9 and
the package `websockets` (Debian: python3-websockets).
"""

import asyncio
import inspect
import json
import random
import secrets

import websockets

SUBPROTOCOL = "remotes.v1"
MAX_RECEIVED_BYTES = 32 * 1024 * 1024  # the reply to remote-list may hold 16 MiB
REMEMBERED_IDS = 4096
FIRST_DELAY_S = 1.0
LONGEST_DELAY_S = 60.0
# "Close codes": with these a new connection may go better
RECONNECT_AFTER = {1000, 1001, 1005, 1006, 1009, 1011, 1012, 1013, 4408, 4429}


class HubError(Exception):
    """A request failed; `code` says why, `executed` whether the function of a failed call ran."""

    def __init__(self, reply):
        super().__init__(str(reply.get("error")))
        self.code = reply.get("code", "internal-error")
        self.executed = reply.get("executed", "unknown")
        self.retryable = reply.get("retryable") is True
        self.retry_after_ms = reply.get("retryAfterMs")


class Call:
    """What a handler is told beside its arguments."""

    def __init__(self, session, request_id):
        self._session = session
        self.request_id = request_id

    async def progress(self, value):
        """Tells the caller how far the call is; nothing happens without remotes.v1."""
        if self._session.is_v1:
            await self._session.send(
                {"action": "remote-call-progress", "requestId": self.request_id, "progress": value}
            )


class Client:
    """Keeps a session at a hub open, and serves `remotes`: {remotename: {function name: handler(args, call)}}."""

    def __init__(self, url, token, remotes):
        self.url = url
        self.token = token
        self.remotes = remotes
        self.session = None
        self._instance_id = secrets.token_hex(16)

    async def run(self):
        """Runs until the hub does not want this client any more. Raises HubError when its credentials are refused."""
        delay = FIRST_DELAY_S
        while True:
            wait = None
            try:
                async with websockets.connect(
                    self.url, subprotocols=[SUBPROTOCOL], max_size=MAX_RECEIVED_BYTES, compression=None
                ) as socket:
                    session = Session(socket, self.remotes)
                    self.session = session
                    await session.run({"token": self.token, "instanceId": self._instance_id})
                    delay = FIRST_DELAY_S if session.is_ready else delay
                    if socket.close_code not in RECONNECT_AFTER:
                        return
                    wait = session.reconnect_after_s
            except HubError as error:
                if error.code != "rate-limited":
                    raise
                wait = (error.retry_after_ms or 60_000) / 1000
            except (OSError, websockets.WebSocketException, asyncio.TimeoutError):
                pass  # no hub there, or not yet
            await asyncio.sleep(delay * random.uniform(0.5, 1.0) if wait is None else wait)
            delay = min(delay * 2, LONGEST_DELAY_S)

    async def call(self, remotename, function, args=None):
        """Calls a function of a connected remote; raises HubError."""
        body = {"remotename": remotename, "function": function, "args": args or {}}
        return (await self.session.request("remote-call", body)).get("result")


class Session:
    """One connection, from login to its end."""

    def __init__(self, socket, remotes):
        self.is_v1 = socket.subprotocol == SUBPROTOCOL
        self.is_ready = False  # logged in, and everything is served
        self.reconnect_after_s = None
        self._socket = socket
        self._remotes = remotes
        self._max_message_bytes = 4 * 1024 * 1024
        self._count = 0
        self._pending = {}  # nonce -> future
        self._running = {}  # requestId -> task
        self._seen = {}  # requestId -> True, in the order they came

    async def run(self, credentials):
        """Logs in, serves, and reads until the connection ends."""
        reading = asyncio.create_task(self._read())
        try:
            login = await self.request("authenticate", credentials)
            self._max_message_bytes = login.get("maxMessageBytes", self._max_message_bytes)
            for remotename, functions in self._remotes.items():
                tools = [spec_of(name, handler) for name, handler in functions.items()]
                await self.request("remote-connect", {"remotename": remotename, "tools": tools})
            self.is_ready = True
            await reading
        except HubError as error:
            if error.code != "connection-lost":
                raise
        finally:
            reading.cancel()
            for task in list(self._running.values()):
                task.cancel()

    async def request(self, action, body):
        """Sends a request and waits for the reply with its nonce. Raises HubError."""
        self._count += 1
        nonce = f"n{self._count}"
        reply = asyncio.get_running_loop().create_future()
        self._pending[nonce] = reply
        try:
            await self.send({"action": action, "nonce": nonce, "body": body})
            return await reply
        except websockets.ConnectionClosed:
            raise connection_lost() from None
        finally:
            self._pending.pop(nonce, None)

    async def send(self, message):
        """Sends a message. Raises ValueError when it is no JSON or longer than the hub takes."""
        text = encode(message)
        if len(text.encode()) > self._max_message_bytes:
            raise ValueError(f"the message is longer than {self._max_message_bytes} bytes")
        await self._socket.send(text)

    async def _read(self):
        try:
            async for frame in self._socket:
                try:
                    message = json.loads(frame) if isinstance(frame, str) else None
                except (ValueError, RecursionError):
                    continue  # not for us to mend
                if isinstance(message, dict):
                    self._received(message)
        except websockets.ConnectionClosed:
            pass
        finally:
            for reply in self._pending.values():
                if not reply.done():
                    reply.set_exception(connection_lost())

    def _received(self, message):
        if "action" not in message:
            self._replied(message)
        elif message["action"] == "remote-call":
            self._called(message)
        elif message["action"] == "remote-call-cancel":
            task = self._running.get(key_of(message.get("requestId")))
            if task is not None:
                task.cancel()
        elif message["action"] == "session-closing":
            self._closing(message.get("body"))
        # any other action is an event that this client has no use for, or one of a later version

    def _replied(self, message):
        reply = self._pending.get(key_of(message.get("nonce")))
        if reply is None or reply.done():
            return
        if message.get("error") is not None:
            reply.set_exception(HubError(message))
        else:
            reply.set_result(message)

    def _closing(self, body):
        after = body.get("reconnectAfterMs") if isinstance(body, dict) else None
        if isinstance(after, (int, float)) and after >= 0:
            self.reconnect_after_s = after / 1000

    def _called(self, message):
        request_id, args = key_of(message.get("requestId")), message.get("args")
        if request_id is None or not isinstance(args, dict) or request_id in self._seen:
            return  # malformed, or delivered a second time
        self._seen[request_id] = True
        if len(self._seen) > REMEMBERED_IDS:
            del self._seen[next(iter(self._seen))]
        task = asyncio.create_task(self._run(request_id, message.get("function"), args))
        self._running[request_id] = task
        task.add_done_callback(lambda _: self._running.pop(request_id, None))

    async def _run(self, request_id, function, args):
        """Answers once; a call that was cancelled is not answered."""
        answer = {"action": "remote-call-result", "requestId": request_id}
        # the name is all before the last "#": it may hold one itself
        handler = self._remotes.get(request_id.rpartition("#")[0], {}).get(key_of(function))
        try:
            if handler is None:
                await self.send({**answer, "error": f"there is no function '{function}'", "executed": "no"})
                return
            try:
                result = handler(args, Call(self, request_id))
                result = await result if inspect.isawaitable(result) else result
                await self.send({**answer, "result": result})
            except websockets.ConnectionClosed:
                raise
            except Exception as error:  # whatever a handler raises is for its caller
                text = str(error).strip() or "the function failed without a message"
                await self.send({**answer, "error": text[:4096]})
        except websockets.ConnectionClosed:
            pass  # nobody to tell


def spec_of(name, handler):
    """A function spec: the description is the handler's docstring; `parameters` may be set on it."""
    parameters = getattr(handler, "parameters", {"type": "object"})
    return {"name": name, "description": inspect.getdoc(handler) or "", "parameters": parameters}


def encode(message):
    """JSON without NaN; characters as they are, unless a lone surrogate forbids it."""
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return json.dumps(message, allow_nan=False, separators=(",", ":"))


def key_of(value):
    """A string, or None for what cannot be one of our keys."""
    return value if isinstance(value, str) else None


def connection_lost():
    return HubError({"error": "the connection was lost", "code": "connection-lost"})
