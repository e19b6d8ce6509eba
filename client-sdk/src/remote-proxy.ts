import type { JsonObject, JsonValue } from '@remotes-hub/protocol';
import { checkName } from './checks.js';
import { parseCallOptions, type CallOptions } from './options.js';
import type { StandardSchema } from './standard-schema.js';

/**
 * Names that a {@link RemoteProxy} has no function for: JavaScript itself asks for them, when a value is awaited,
 * written as JSON or made a text. `hub.call` reaches functions of these names.
 */
const leftOut = ['then', 'toJSON', 'toString', 'valueOf'] as const;
type LeftOut = (typeof leftOut)[number];

/** An object type that `{}` fits, or a parameter that may be absent: the arguments may be left out. */
type MayBeAbsent<Args> = object extends Args ? true : undefined extends Args ? true : false;

/** A function of a remote: as `hub.call`, with its arguments and its result typed. */
export type RemoteFunction<Args, Result> =
  MayBeAbsent<Args> extends true
    ? (args?: Args, options?: CallOptions) => Promise<Result>
    : (args: Args, options?: CallOptions) => Promise<Result>;

/** What a handler returns, as its caller gets it: `undefined` is `null`. */
type ResultOf<Returned> = Absent<Awaited<Returned>>;
type Absent<Value> = Value extends undefined | void ? null : Value;

/** What a caller gives a definition: the input of its Standard Schema, else what its handler says it takes. */
type InputOf<Definition> = Definition extends { readonly parameters?: infer Schema }
  ? NonNullable<Schema> extends StandardSchema<infer Input, infer _>
    ? Input
    : TakenBy<Definition>
  : TakenBy<Definition>;

type TakenBy<Definition> = Definition extends { handler(args: infer Args, ...rest: never): unknown }
  ? JsonObject extends Args
    ? object
    : Args
  : object;

type FirstOf<Parameters> = Parameters extends readonly []
  ? Record<string, never> | undefined
  : Parameters extends readonly [(infer Args)?, ...unknown[]]
    ? Args
    : object;

/** A function definition, or a method of an interface, as its caller sees it. */
type RemoteFunctionOf<Member> = Member extends { handler(...args: never): infer Returned }
  ? RemoteFunction<InputOf<Member>, ResultOf<Returned>>
  : Member extends (...args: infer Parameters) => infer Returned
    ? RemoteFunction<FirstOf<Parameters>, ResultOf<Returned>>
    : never;

/** A remote of which nothing is known: functions of any name, with any arguments. */
export type UntypedRemote = { readonly [Name in LeftOut]?: undefined } & {
  readonly [name: string]: RemoteFunction<object, JsonValue>;
};

/**
 * The functions of a remote as methods. `Service` is `typeof` the definitions that it serves, or an interface of
 * methods `name(args): Result`; without it every name is a function.
 */
export type RemoteProxy<Service = unknown> = unknown extends Service
  ? UntypedRemote
  : {
      readonly [Name in keyof Service as Name extends LeftOut | symbol ? never : Name]-?: RemoteFunctionOf<
        Service[Name]
      >;
    };

/** What makes the calls. */
interface Caller {
  call(remotename: string, functionName: string, args?: object, options?: CallOptions): Promise<JsonValue>;
}

/**
 * Makes the proxy of a remote, which need not be connected. It is the same function whenever the same name is asked
 * for. What `Service` says is believed, not checked.
 * @param options of every call; those of a call itself win
 * @throws {TypeError | RangeError} naming the field
 */
export function remoteProxy<Service>(
  hub: Caller,
  remotename: string,
  options: CallOptions,
): RemoteProxy<Service>;
export function remoteProxy(hub: Caller, remotename: string, options: CallOptions): unknown {
  checkName(remotename, 'remotename');
  parseCallOptions(options);
  const functions = new Map<PropertyKey, unknown>(leftOut.map((name) => [name, undefined]));
  return new Proxy(Object.freeze({ __proto__: null }), {
    get(_target, name) {
      if (typeof name === 'string' && !functions.has(name)) {
        functions.set(name, (args?: object, callOptions?: CallOptions) =>
          hub.call(remotename, name, args, { ...options, ...callOptions }),
        );
      }
      return functions.get(name);
    },
  });
}
