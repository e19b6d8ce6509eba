/** One behaviour that somebody may rely on. */
export interface Behaviour {
  /** Cited by the tests that prove it: in a test's title or in a comment. */
  readonly id: string;
  /** One sentence: what holds. */
  readonly holds: string;
  /** The file and the heading that specify it: `file#Heading`. */
  readonly where: string;
}

const wire = 'protocol/README.md';
const server = 'server/README.md';
const client = 'client-sdk/README.md';

function at(file: string, heading: string, rows: Readonly<Record<string, string>>): Behaviour[] {
  return Object.entries(rows).map(([id, holds]) => ({ id, holds, where: `${file}#${heading}` }));
}

const messages = [
  ...at(wire, 'Envelope', {
    'WIRE-01': 'A frame that is not JSON or not an object gets malformed-message, and the session lives on.',
    'WIRE-02': 'An unknown action gets unknown-action, which names it.',
    'WIRE-03': 'A body that does not fit gets invalid-body: path first, then what was expected and received.',
    'WIRE-04': 'Unknown fields are ignored, and of members with the same name the last one counts.',
    'WIRE-05': 'Frames are accepted and refused as the public JSON parsing suite says.',
    K027: 'A message nested deeper than 128 levels, or a result 10,000 deep, ends in an error at once.',
    K028: 'Odd frames each get one error reply or are ignored, and the session stays usable.',
  }),
  ...at(wire, 'Nonce', {
    'WIRE-06':
      'The nonce comes back as the very text that was sent, in exactly one reply; none sent, none back.',
    'WIRE-07': 'A nonce above 256 bytes gets malformed-message without a nonce.',
    K045: 'Any JSON value is a nonce; calls that share one are each answered with their own result.',
  }),
  ...at(wire, 'Replies', {
    'WIRE-08': 'A reply has no action; an error reply has error, code and the nonce.',
    'WIRE-09': 'remote-call-result and remote-call-progress are never answered once logged in.',
  }),
  ...at(wire, 'Order', {
    'WIRE-10': 'No event precedes the reply to the request that caused it.',
    K017: 'Login, connect and list in one write are all answered, in that order.',
    K019: 'Messages of one write are answered in order, and a call that waits holds up no later one.',
  }),
  ...at(wire, 'Subprotocol', {
    'WIRE-11': 'remotes.v1 is selected when offered, never required; other offers are ignored.',
  }),
  ...at(wire, 'Frames', {
    'WIRE-12': 'A binary frame gets malformed-message, the ninth of a session closes it with 1003.',
    K003: 'A frame above the limit closes its own session alone, with 1009.',
    K005: 'A text frame that is not UTF-8 closes its own session alone, with 1007.',
  }),
  ...at(wire, 'ping', { 'WIRE-13': 'ping is answered with pong.' }),
  ...at(wire, 'Close codes', {
    K022: 'The hub closes with valid codes only and cuts reasons to 123 bytes at a character boundary.',
  }),
  ...at(wire, 'Versions', {
    'SPEC-01': 'Every message and reply has an example in the specification that fits its schema strictly.',
    'SPEC-02': 'The tables of error codes, close codes and limits equal the lists in code, both ways.',
    'SPEC-03': 'The schemas accept and refuse what the specification says.',
  }),
];

const authentication = [
  ...at(wire, 'Ways in', {
    'AUTH-01': 'A bearer token or Basic credentials at the upgrade log in.',
    'AUTH-02': 'Refused credentials at the upgrade are HTTP 401 with {error, code}.',
    'AUTH-03': 'authenticate with a token or with a username and password logs in; the session is the same.',
    'AUTH-04': 'The login reply tells userId, sessionId, maxMessageBytes, and expiresAt when there is one.',
    K011: 'A token in the query is no credential and appears in no log.',
  }),
  ...at(wire, 'Before login', {
    'AUTH-05': 'Before login every other action is answered not-authenticated, after a refused login too.',
    'AUTH-06': 'Without a login in 10 s, or after three failures, the connection is closed with 4401.',
    'AUTH-07': 'While a login is decided 32 frames or 64 KiB may wait; more close the connection with 4400.',
    K012: 'Beyond the cap of connections without login the oldest of the address go; a genuine client gets in.',
    K016: 'A connection that closes during its login leaves nothing behind.',
  }),
  ...at(wire, 'Expiry and renewal', {
    'AUTH-08': 'authenticate as the same user extends the session.',
    'AUTH-09': 'session-expiring comes 60 s before the end, at once when less is left.',
    K014: 'At expiry the session is closed with 4401: its remotes are gone, a later frame is not executed.',
    K142: 'A login as another user on a live session is refused, and the session stays as it was.',
  }),
  ...at(wire, 'Instances', {
    'AUTH-10':
      'A later session with the same instanceId, from authenticate or the header, closes the earlier one with 4409.',
  }),
  ...at(wire, 'Tokens', {
    'AUTH-11':
      'A token signed with the secret (HS256) logs its sub in, with the configured iss and aud only.',
    'AUTH-12': 'A token of an outside issuer is checked against its key set, with pinned algorithms.',
    K131: 'A token with algorithm none, however spelt, is refused like any bad token.',
    K132: 'A token signed by HS256 with the public key of an RS256 issuer is refused.',
    K134: 'A new key of the issuer is fetched once; while the fetch fails tokens with the old key still work.',
    K136: 'exp and nbf have the same tolerance of 5 s.',
    K138: 'A token without a proper exp or sub is refused.',
  }),
  ...at(wire, 'Attempts', {
    'AUTH-13': 'Too many failed logins get rate-limited with retryAfterMs, 429 at the upgrade.',
    K139: 'An unknown user and a wrong password are refused alike, in text, code and time.',
    K140: 'Failures count per account and per address over all entrances, and others still get in.',
  }),
  ...at(wire, 'Origin', {
    'AUTH-14': 'Without a list of origins pages of the same origin alone may connect.',
    K010: 'An origin that is not allowed gets 403; a client without one goes on to authentication.',
  }),
];

const sessions = [
  ...at(wire, 'Life of a session', {
    'SESSION-01': 'session-opened reaches every session of the user, the new one after its login reply.',
    'SESSION-02': 'When a session closes its remotes disconnect and the other sessions are told.',
    'SESSION-03': 'Two users may use the same names and never meet.',
    'SESSION-04': 'More sessions than allowed are refused.',
    K023: 'The late end of a replaced session touches nothing that its successor owns.',
  }),
  ...at(wire, 'session-closing', {
    'SESSION-05':
      'At shutdown every session is told when to come back, at random within a time that grows with their number.',
  }),
  ...at(wire, 'Heartbeat', {
    K001: 'The hub pings every 15 s; a silent peer is cut off within 30 s, its remotes and calls end.',
  }),
  ...at(wire, 'Limits', {
    'LIMIT-01': 'More than 50,000 messages a second close the session with 4429.',
    'LIMIT-02': 'Limits of the configuration hold in place of the defaults.',
    'LIMIT-03':
      '20,000 random and mutated frames neither stop the hub nor reach another user; its maps end empty.',
    K008: 'A session that does not read is closed with 4408 before memory grows; the others get everything.',
    K025: 'Calls leave no listener and no timer behind.',
    K046: 'After many calls and timeouts nothing is pending, and the process ends when the hub closes.',
  }),
];

const remotes = [
  ...at(wire, 'remote-connect', {
    'REMOTE-01': 'remote-connect is answered with message, remotename and nonce, and nothing else.',
    'REMOTE-02': "A name that another live session serves is refused: remote 'x' is already connected.",
    'REMOTE-03': 'A name of this session or of the host program is refused at once, without a probe.',
    'REMOTE-04': 'A holder that does not answer the probe is closed and the newcomer is connected.',
    'REMOTE-05': 'A session above its limit of remotes gets too-many-remotes.',
    'REMOTE-06': 'tools above their size get message-too-large.',
    'REMOTE-07': 'A schema that cannot be used gets invalid-schema, which names the function.',
    'REMOTE-08': 'Patterns that are not enforced are named in warnings, with remotes.v1 only.',
    'REMOTE-14': 'resumeMs is 0 to 30,000; without an instanceId it has no effect, and a warning says so.',
    K055: 'A function listed twice is refused by name, nothing is stored; [] is allowed, non-arrays are not.',
  }),
  ...at(wire, 'Names', {
    K020: 'Odd names work end to end, absent odd names are errors, and no prototype is touched.',
    K034: 'Names that hold # never mix calls up.',
  }),
  ...at(wire, 'remote-disconnect', {
    'REMOTE-09': 'remote-disconnect is answered with message, remotename and nonce, and nothing else.',
    'REMOTE-10': "A name that is not connected gets: no connected remote named 'x'.",
    'REMOTE-11': 'Any session of the user may disconnect a remote; its name is free for any of them.',
    'REMOTE-12': 'With drain the name is free at once and calls in flight may finish.',
  }),
  ...at(wire, 'remote-list', {
    'REMOTE-13':
      'remote-list shows the remotes in order of connection, tools as the very text that was connected.',
  }),
  ...at(wire, 'remote-connected', {
    'EVENT-01': 'remote-connected and remote-disconnected reach every session of the user and nobody else.',
  }),
  ...at(wire, 'Events', { 'EVENT-02': 'A connection that has not logged in gets no event.' }),
];

const calls = [
  ...at(wire, 'remote-call', {
    'CALL-01': 'A call is answered with the result and the nonce.',
    'CALL-02':
      'A call to a remote that is not connected fails: remote-not-connected, executed no, retryable.',
    'CALL-03': 'A call to a function that the remote lacks fails: function-not-found, executed no.',
    'CALL-04': 'Calls above the limit in flight fail: too-many-calls, executed no, retryable.',
    'CALL-27':
      'The error reply of a call that was forwarded has its requestId; that of another call has none.',
    K043: 'A served function may call through the hub, its own session included, before it answers.',
    K050: 'Absent args are forwarded as {}; args that are no object are refused and nothing is forwarded.',
  }),
  ...at(wire, 'remote-call, forwarded', {
    'CALL-05': 'Without remotes.v1 the forwarded call has exactly its four fields and nothing else is sent.',
    'CALL-06': 'With remotes.v1 the forwarded call tells the time left.',
    'CALL-07': 'Request ids are <remotename>#<n>, counted from 0, never used again in a session.',
    'CALL-08': 'Calls to one session run side by side.',
    K033: 'A late answer to a call from before a reconnection never settles a newer call.',
  }),
  ...at(wire, 'remote-call-result', {
    'CALL-09':
      'An error of the function fails the call: function-failed, executed yes unless it says otherwise.',
    'CALL-10':
      'An error that is not a string becomes its message or its JSON text; long texts are cut at 4,096.',
    K030: 'The first answer counts; unknown ids are ignored without a reply.',
    K031: 'Only the session that was asked can answer.',
    K038: 'Falsy results are results.',
    K039: 'Every combination of result and error settles the call as specified.',
    K048: 'A result above the frame limit fails its call at once.',
  }),
  ...at(wire, 'Text exactness', {
    'CALL-11': 'Arguments and results arrive as the text they were sent as.',
  }),
  ...at(wire, 'Deadlines', {
    'CALL-12':
      "The caller's timeoutMs wins over the function's, which wins over 30 s; the maximum bounds all.",
    'CALL-13': 'A call not answered in time fails: call-timeout with the time in its text, executed unknown.',
    'CALL-14': 'Progress restarts the timeout, never past the maximum from the start.',
    K029: 'An answer after the timeout is ignored.',
  }),
  ...at(wire, 'How a call ends', {
    'CALL-15': 'Every failed call says executed and retryable as the table of codes says.',
    K035: 'Pending calls fail at once when the remote disconnects or its session closes or dies: remote-disconnected, executed unknown.',
    K037: 'A call whose caller has gone is freed at once, and its answer is dropped.',
  }),
  ...at(wire, 'Resuming', {
    'CALL-22':
      'A call of a remote with resumeMs outlives the loss of its session; the same instance alone answers it, once.',
    'CALL-23':
      'Request ids go on counting in a session that resumed another, and only its login reply says resumed.',
    'CALL-24':
      'A call that waits for its instance ends after resumeMs, at its own deadline, by its caller or at shutdown.',
    'CALL-25': 'A missing close frame and 4409 suspend calls; after any other close frame they fail at once.',
    'CALL-26':
      'What waits for its instance counts in the limits, is bounded per user and leaves nothing behind.',
  }),
  ...at(wire, 'Permitted races', {
    'CALL-16':
      'A result against timeout, disconnect or cancellation, in either order, answers the call once.',
    'CALL-17': 'Any interleaving of several sessions answers every call once and leaves nothing behind.',
  }),
  ...at(wire, 'remote-call-cancel', {
    'CALL-18': 'remote-call-cancel ends the calls with that nonce as call-cancelled, then tells how many.',
  }),
  ...at(wire, 'remote-call-cancel, forwarded', {
    'CALL-19': 'A serving session with remotes.v1 is told of every early end of a call, and why.',
  }),
  ...at(wire, 'remote-call-progress, forwarded', {
    'CALL-20': 'Progress reaches a caller with remotes.v1 whose call has a nonce, and no other.',
  }),
  ...at(wire, 'Results', {
    'CALL-21': 'A result that does not fit its schema or is nested too deep fails: invalid-result.',
  }),
];

const schemas = [
  ...at(wire, 'Arguments', {
    'SCHEMA-01':
      'Arguments that do not fit are refused, invalid-arguments names the path; nothing is forwarded.',
    K150: 'Nothing is coerced, defaulted or dropped: what is forwarded is what was sent.',
  }),
  ...at(wire, 'Parameters', {
    'SCHEMA-02': 'parameters must describe an object, else invalid-schema.',
    K056: 'Empty, null or absent parameters become an object schema without properties in a run.',
  }),
  ...at(wire, 'Dialects', {
    'SCHEMA-03': 'The mandatory tests of draft 7 and 2020-12 pass, but for those listed with reasons.',
    'SCHEMA-04': 'On tame schemas the interpreter agrees with two other validators.',
    K146: 'Unknown keywords are ignored.',
    K147: 'Any $schema connects; an unknown one means 2020-12.',
    K152: 'format is a hint and never an error.',
  }),
  ...at(wire, 'Bounds of a schema', {
    'SCHEMA-05': 'A schema above 64 KiB or 64 levels is refused.',
    'SCHEMA-06': 'Hostile schemas and arguments are decided in under 200 ms.',
    'SCHEMA-07': 'Own properties alone count: names of the prototype are neither present nor allowed.',
    K143: 'A $ref that leaves the schema is refused and nothing is fetched or read.',
    K148: 'Schemas with the same $id never meet, and reconnecting does not grow memory.',
    K149: 'Recursive schemas work; a $ref that leads only to itself is refused.',
  }),
  ...at(wire, 'Patterns', {
    'SCHEMA-08': 'A pattern that cannot run in linear time is accepted, not enforced and named.',
    K144: 'A hostile pattern delays nobody; an invalid one is refused at connect.',
  }),
];

const http = [
  ...at(wire, 'HTTP answers to an upgrade', {
    'HTTP-01': 'An unknown path is 404, a request that is no WebSocket upgrade 426 or 400.',
    K007: 'Aborted and wrong upgrades leave no handle open.',
  }),
  ...at(wire, 'POST /v1/auth/token', {
    'HTTP-02': 'A username and password get a token that logs in.',
    'HTTP-03': 'Wrong credentials are 401, a wrong body 400, too many failures 429.',
  }),
  ...at(wire, 'GET /healthz and GET /readyz', {
    'HTTP-04': 'healthz is 200 while the process lives; readyz is 200 while new sessions are accepted.',
  }),
  ...at(wire, 'Shutdown', {
    'SHUTDOWN-01': 'At shutdown new upgrades get 503 and pending calls fail: shutting-down.',
    K026: 'On SIGTERM sessions are closed with 1001, peers that do not close are cut off, and the process ends with 0.',
  }),
];

const runs = [
  ...at(wire, 'send-agent-prompt', {
    'RUN-01': 'A prompt is answered at once with a runId; an unknown agent gets agent-not-found; 7 is "7".',
    'RUN-02': 'options.tools replaces the toolset and remotes are then not in play.',
    'RUN-03': 'options.maxSteps lowers the step limit, and a run above it ends as step-limit.',
    'RUN-04': 'More runs of a user than allowed get rate-limited.',
  }),
  ...at(wire, 'Life of a run', {
    'RUN-05': 'Run events reach every session of the user, numbered from 0, run-finished last and once.',
    'RUN-06': 'Remotes are resolved once, at the start; one that disconnects gives error tool results.',
    'RUN-07': 'A failed tool call is an error tool result and never ends the run.',
    'RUN-08':
      "A run is cancelled a while after its user's last session has left, unless the user comes back.",
    K071: 'A call of an unknown tool is an error tool result that lists the tools there are.',
    K074: 'What the model is told is always text: JSON for values.',
    K078: 'A model that repeats the same calls is told so, then stopped; a step limit stops any other.',
    'RUN-13': 'run-finished tells how a run ended, by status and code, and what it used.',
    'RUN-14': 'Tokens and tool calls of a run are limited; at the limit every call is still answered.',
    'RUN-15': 'The time of a run is limited; at its end model request and calls are ended.',
  }),
  ...at(wire, 'run-get', {
    'RUN-18': 'run-get replays the events of a run to a session that comes late, from a bounded buffer.',
  }),
  ...at(server, 'Conversations', {
    'RUN-16': 'A conversation continues earlier runs of the same user, bounded and expiring.',
  }),
  ...at(server, 'Context', {
    'RUN-17':
      'Context reaches the model as data that is not to be trusted, options.system after the instructions.',
  }),
  ...at(server, 'Agents', {
    'RUN-19':
      'What a provider cannot take of the tools is among the warnings of the run; more than it takes are listed.',
    'RUN-21':
      'Every exported list of tools keeps the rules of its provider; a projected schema takes what the hub takes.',
    K051: 'A name that a provider refuses is mapped reversibly; a legal one stays exactly.',
    K052: 'Long names that differ at their end stay apart, the same after a restart.',
    K057: 'A union at the top of the parameters moves into the description, and nothing else changes.',
    K059: 'An exported tool never claims to be strict; optional properties stay optional.',
    K062: 'Blank arguments are no arguments.',
    K064: 'Arguments that are no JSON give an error result, and what goes back to the provider is JSON.',
    K065: 'A call whose arguments were cut off is never made.',
    K067: 'Every call of a step has exactly one result before the next request, in the order of the calls.',
    K068: 'For Anthropic the results of one step begin one user message, failed ones marked.',
    K069: 'Calls are told apart by id and index, and without either.',
    K072: 'Calls are made whatever the reason to finish is.',
    K077: 'Reasoning is no text, and goes back to the provider it came from alone.',
    K079: 'Passing refusals of a provider are tried again, boundedly and as told; no tool runs twice for it.',
  }),
  ...at(wire, 'Tools of a run', {
    'RUN-12': 'A function is called at most maxCalls times in one run.',
    K054: 'Native tools win, then the first remote; every hidden function gets one warning.',
    K061: 'A remote that is not connected is skipped with one warning and the run proceeds.',
    K081: 'Duplicate entries of remotes collapse; malformed ones are skipped with one warning each.',
  }),
  ...at(wire, 'remote-lint', {
    'RUN-20': 'remote-lint tells, per provider, what becomes of each function of a remote, and why.',
  }),
  ...at(wire, 'run-cancel', {
    'RUN-09': 'run-cancel ends a run as cancelled; an unknown or ended one gets run-not-found.',
  }),
  ...at(wire, 'agent-list', { 'RUN-10': 'agent-list shows the configured agents with their native tools.' }),
  ...at(server, 'Agents', {
    'RUN-11': 'The offline model chooses tools by the words of the instruction and says what it is.',
  }),
];

/** What every client keeps, judged by `remotes-hub conformance --client`. */
const clients = [
  ...at(wire, 'Ways in', {
    'CLIENT-01':
      'A client logs in with the token it was given, at the upgrade or by its first message, never in the address.',
  }),
  ...at(wire, 'remote-connect', {
    'CLIENT-02': 'A client connects its remotes with function specs that fit the specification.',
  }),
  ...at(wire, 'Error codes', {
    'CLIENT-03': 'Credentials that were refused are not sent again.',
  }),
  ...at(wire, 'Attempts', {
    'CLIENT-04': 'After rate-limited it does not try sooner than retryAfterMs says.',
  }),
  ...at(wire, 'Envelope', {
    'CLIENT-05': 'Every frame is one message of the specification, without fields of its own.',
  }),
  ...at(wire, 'Nonce', {
    'CLIENT-06': 'Every request has a nonce: a string of at most 256 bytes, none used twice.',
  }),
  ...at(wire, 'Envelope', {
    'CLIENT-07': 'Actions and fields that it does not know are ignored.',
  }),
  ...at(wire, 'Replies', {
    'CLIENT-08': 'Replies that nobody waits for, or that come twice, are ignored.',
  }),
  ...at(wire, 'Writing a client', {
    'CLIENT-09': 'Frames that it cannot understand do it no harm and run nothing.',
  }),
  ...at(wire, 'Heartbeat', {
    'CLIENT-10': 'Pings are answered, also while calls run.',
  }),
  ...at(wire, 'remote-call-result', {
    'CLIENT-11': 'Every call is answered once, with its request id exactly.',
  }),
  ...at(wire, 'Names', {
    'CLIENT-12': 'A remote whose name holds # is not mixed up with another.',
  }),
  ...at(wire, 'Results', {
    'CLIENT-13': 'Any JSON value is a result, the falsy ones too.',
  }),
  ...at(wire, 'Frames', {
    'CLIENT-14': 'Texts of any script arrive and leave unchanged.',
  }),
  ...at(wire, 'remote-call-result', {
    'CLIENT-15': 'A function that fails is answered with an error: a text, without a stack.',
  }),
  ...at(wire, 'remote-call, forwarded', {
    'CLIENT-16': 'A function that it does not serve is answered with an error.',
    'CLIENT-17': 'A call that is delivered twice runs once and is answered once.',
    'CLIENT-18': 'Calls run side by side: a slow one holds up no other.',
  }),
  ...at(wire, 'remote-call-cancel, forwarded', {
    'CLIENT-19': 'A cancelled call is stopped, and others go on.',
  }),
  ...at(wire, 'remote-call-progress', {
    'CLIENT-20': 'Progress has the request id, comes in order and never after the answer.',
  }),
  ...at(wire, 'remote-call', {
    'CLIENT-21': 'A function may call through the hub; replies are matched by nonce, in any order.',
  }),
  ...at(wire, 'Replies', {
    'CLIENT-22': 'A call of its own that fails fails, with the text of the error.',
  }),
  ...at(wire, 'Frames', {
    'CLIENT-23': 'Frames of more than 1 MiB are read and sent.',
  }),
  ...at(wire, 'How a call ends', {
    'CLIENT-24': 'A result too long for a frame is answered with an error.',
  }),
  ...at(wire, 'Close codes', {
    'CLIENT-25': 'A client does not come back after 4409.',
    'CLIENT-26': 'A client answers a close with 1001; when it comes back it serves its remotes again.',
  }),
  ...at(wire, 'Writing a client', {
    'CLIENT-27': 'A client does not storm a hub that sends it away.',
  }),
  ...at(wire, 'session-closing', {
    'CLIENT-28': 'After session-closing it does not come back sooner than that says.',
  }),
  ...at(wire, 'Resuming', {
    'CLIENT-29': 'Calls of a connection that was lost are not answered on another, unless it resumed them.',
  }),
];

const observability = [
  ...at(server, 'Metrics', {
    'OBS-01': 'Sessions, remotes, calls by outcome, durations, traffic, logins, runs and steps are counted.',
    'OBS-02': 'Metrics are shown only where configured, behind their token, and name nobody.',
  }),
  ...at(server, 'Logs', {
    'OBS-03': 'No line at any level holds a token, a password, an instance id, arguments or results.',
    'OBS-04': 'Calls have a line each at the level debug alone; lines name session, user and request.',
  }),
  ...at(wire, 'Traces', {
    'OBS-05': 'The trace context of a call reaches a serving session with remotes.v1, and no other.',
    'OBS-06': 'A malformed trace context counts as none and is never an error.',
  }),
  ...at(server, 'Traces', {
    'OBS-07': "One trace leads from a model's step over the hub's call to the handler of a session.",
    'OBS-08': 'Spans of calls tell remote, function, code and executed, and nothing that was sent.',
  }),
  ...at(client, 'Traces', {
    'OBS-09': "A handler's context has the trace context of its call, and a call takes one.",
    'OBS-10': 'Traced handlers run inside a span of the trace, and calls made there belong to it.',
  }),
];

const programs = [
  ...at(wire, 'Conformance', {
    'CONFORM-01': 'The kit judges a hub; this hub passes, and a hub that breaks one rule fails that rule.',
    'CONFORM-02':
      'The kit judges a client; the SDK passes, and a client that breaks one rule fails that rule.',
    'CONFORM-03': 'A client in another language, written from the specification alone, passes and works.',
  }),
  ...at('README.md', 'Remotes Hub', {
    'DOC-01': 'Every command and example of the READMEs was run by a test.',
    'DOC-02': 'The demo shows what it says and ends with 0.',
  }),
  ...at(server, 'As a library', {
    'LIB-01': 'A hub listens by itself, or is attached to an HTTP server whose other paths it leaves alone.',
    'LIB-02': "The host program's own authenticate function decides who logs in.",
    'LIB-03': 'The host program serves remotes in-process and calls remotes of its users.',
    'LIB-04': 'Closing twice is harmless and leaves nothing open.',
  }),
  ...at(server, 'Configuration', {
    'CONFIG-01': 'A wrong configuration is refused with the path and the accepted values.',
    'CONFIG-02': 'Secrets may be env: and file: references, and a secret under 32 bytes is refused.',
    'CONFIG-03': 'The JSON Schema of the file and the reference in the README come from the schema.',
  }),
  ...at(server, 'Command line', {
    'CLI-01': 'start logs one line with msg listening and the url; port 0 picks a free one.',
    'CLI-02': 'Without a configuration start binds to 127.0.0.1 and prints a token for dev on stderr.',
    'CLI-03': 'On another host start refuses to run without configured authentication.',
    'CLI-04': 'serve serves the exported functions of a module; list and call reach them.',
    'CLI-05': 'prompt streams a run.',
    'CLI-06': 'token makes a token that logs in; user add stores a password hash that does.',
    'CLI-07': 'Exit codes are 0 done, 1 the call failed, 2 usage, 3 cannot connect or log in.',
    'CLI-08': '--json writes for machines on stdout; everything else goes to stderr.',
    'CLI-10': 'lint prints what becomes of each function, and ends with 1 when one is refused.',
    'CLI-13': 'conformance reports rule by rule, for people or as JSON, and ends with 1 when one fails.',
    'CLI-09': 'prompt hands on a conversation and a context.',
  }),
  ...at(client, 'Options', {
    'SDK-01':
      'connect logs in with a token or a username and password, and rejects with the code when refused.',
    K160: 'The client behaves alike on the library and on a standard socket: codes, reasons, ends.',
    K162: 'connect rejects with code and reason when the hub closes first, is silent, or refuses.',
    'SDK-02': 'on delivers events; close ends the session and every promise that waits.',
  }),
  ...at(client, 'In a browser', {
    K154: 'The client works in a page with a strict policy and makes no code from text.',
    K161: 'A bundle for browsers holds no Node module and uses the socket of the page.',
  }),
  ...at(client, 'Serving functions', {
    'SDK-03': 'serve takes plain JSON Schema or a Standard Schema, and list shows what was served.',
    'SDK-04': 'A handler gets signal, requestId, timeoutMs and progress; the signal fires on cancellation.',
    K040: 'Values that JSON cannot hold give a clear error or their documented form.',
    K041: 'Whatever a handler throws becomes a non-empty error text without stack or path.',
  }),
  ...at(client, 'Calling functions', {
    'SDK-05':
      'A failed call rejects with code, executed and retryable; a lost connection is connection-lost.',
    'SDK-09': 'lint tells how the functions of a remote reach models.',
    'SDK-18': 'A failed call tells the id that the hub gave it.',
    'SDK-06': 'Sizes are checked before sending.',
  }),
  ...at(client, 'Reconnecting', {
    'SDK-10':
      'A lost connection is opened anew, with full jitter and a cap; what is served is served again, calls wait.',
    'SDK-11':
      'A client takes over from its own ghost, also after a reload; a name taken by another is told as an event.',
    'SDK-12': 'A connection that died without a word is found by a ping.',
    'SDK-17': 'With resumeMs an answer is given over a lost connection, once; another hub never gets it.',
    'SDK-15':
      'On a bad network every call ends, none runs twice for one call, and every remote is served again.',
    K155: 'Clients of a hub that restarts come back spread over time, and a refused login is not repeated.',
    K156: 'Connect, close and connect in one go leave one session.',
    K157: 'A page with slow timers stays connected.',
  }),
  ...at(client, 'Types', {
    'SDK-20': 'defineFunctions and remote type the calls of a remote, from its definitions or an interface.',
  }),
  ...at(client, 'Serving functions', {
    'SDK-21':
      'maxConcurrent limits the calls of a function that run at once; the others wait, and leave when cancelled.',
  }),
  ...at(server, 'remotes-hub types', {
    'CLI-11': 'types prints a connected remote as a TypeScript interface, always a valid module.',
    'CLI-12': 'The printed types take every value that the schemas take.',
  }),
  ...at(client, 'Options', {
    'SDK-13': 'A token function is asked at every connect and before the token expires.',
  }),
  ...at(client, 'In a browser', {
    'SDK-14': 'The client works in a page, a worker and a service worker.',
    'SDK-16': 'The client is small, and a page that does not use it has none of it.',
  }),
  ...at(client, 'React', {
    'REACT-01': 'Under StrictMode one session is opened and a remote is connected once.',
    'REACT-02': 'A call runs the handler and the schema of the last render, and nothing is served anew.',
    'REACT-03': 'Another spec serves the remote anew, and a call in flight finishes.',
    'REACT-04': 'Unmounting disconnects the remote and aborts what runs; mounting serves again.',
    'REACT-05': 'A component takes over the name of the one it replaces.',
    'REACT-06': 'A remote that cannot be served says why.',
    'REACT-07': 'Unmounting the provider closes its session, and leaves a given one open.',
    'REACT-08': 'Another token opens another session; a refused login is told by state and error.',
    'REACT-09': 'useRemotes follows what is connected.',
    'REACT-10': 'useCall shows the last call and cancels the one before.',
    'REACT-11': 'Unmounting cancels the pending call.',
    'REACT-12': 'useRun streams text and events to the result.',
    'REACT-13': 'Rendering on a server connects nowhere.',
    'REACT-14': 'A hook without a provider says so.',
    'REACT-15': 'After a lost connection remotes are served and read again.',
    'REACT-16': 'A remote disconnected by others, or whose name was taken meanwhile, is told as failed.',
  }),
  ...at(client, 'Tools of the page (WebMCP)', {
    'WEBMCP-01': 'Tools become functions with description, schema and verb.',
    'WEBMCP-02': "A tool's result follows the documented rule, and a tool that fails fails the call.",
    'WEBMCP-03':
      'Tools that come and go are followed, calls in flight finish, the same spec stays connected.',
    'WEBMCP-04': "Cancelling aborts the tool's signal.",
    'WEBMCP-05': 'A tool with an unusable schema is reported and left out.',
    'WEBMCP-06': 'A filter says which tools are served.',
    'WEBMCP-07': "Stopping and the session's end end it; a taken name is reported.",
    'WEBMCP-08': 'Without a model context, serving asks for one.',
    'WEBMCP-09': "Older text forms are understood, and the page's own tool comes before a frame's.",
    'WEBMCP-10': 'The own registry keeps to what browsers do.',
    'WEBMCP-11': "Tools of the browser's context and of the own registry are called from elsewhere.",
    'WEBMCP-12': 'Both follow changes while a call is in flight, until stopped.',
    'WEBMCP-13': "In a browser, cancelling a call aborts the tool's signal.",
    'WEBMCP-14': 'Tools changed while the connection is lost are served when it is back.',
  }),
  ...at(client, 'Prompting an agent', {
    'SDK-07': 'A prompt is an iterable of typed events with a result and a way to cancel it.',
    'SDK-08': 'A run is joined late without gaps or doubles.',
  }),
];

const nodes = [
  ...at(server, 'Several nodes', {
    'CLUSTER-01':
      "A user's names are unique, listed, bounded and free again among all nodes, in their order.",
    'CLUSTER-02':
      'A later session of an instance takes the place of the earlier one on any node, and its names.',
    'CLUSTER-03':
      'The names of a node that died or left are told, and free, and it never comes back as itself.',
    'CLUSTER-04': 'Events reach all sessions of their user on all nodes, once, in order, and nobody else.',
    'CLUSTER-05': 'Whatever happens to Redis or the way there, nodes say so, and recover without a restart.',
    'CLUSTER-06':
      'Messages between nodes arrive whole, once, in order, within bounds; what cannot be read is dropped.',
    'CLUSTER-07': 'One node alone and a node on Redis behave alike, and leave nothing when they end.',
    'CLUSTER-08':
      'Calls wait for their instance and are answered by it from whichever node it comes back on.',
    'CLUSTER-09':
      'Runs are followed, cancelled and served with remotes from any node, as long as theirs lives.',
    'CLUSTER-10': 'Nodes of different versions understand each other: what was once written stays so.',
    'CLUSTER-11': 'A Redis Cluster does what one Redis does, also after a master was restarted.',
    'CLUSTER-12': 'A call over two nodes is counted, logged and traced once, by the node of its caller.',
    'CLUSTER-13': 'A call to a remote of another node is checked, bounded, cancelled and ended as on one.',
    K099: 'Events between nodes work from the first second on, while users come and go.',
    K100: 'Calls between nodes work again in both directions soon after Redis is back.',
    K101: 'Without Redis calls within a node go on, all else fails fast, and memory stays bounded.',
    K103: 'A node that was cut off beyond its lease takes nothing back from others.',
    K107: 'Scripts that Redis has forgotten are loaded again, and nobody notices.',
    K108: 'A primary that became a replica is left for the new one.',
    K110: 'No two pairs of user and remote share a key or a channel, whatever their names are.',
    K111: 'A name that two nodes are asked for at once goes to exactly one.',
  }),
];

/** Every behaviour that this repository promises, each proved by a test that cites its id. */
export const behaviours: readonly Behaviour[] = [
  ...messages,
  ...authentication,
  ...sessions,
  ...remotes,
  ...calls,
  ...schemas,
  ...http,
  ...runs,
  ...clients,
  ...observability,
  ...programs,
  ...nodes,
];
