import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { basename, dirname } from 'node:path';
import * as z from 'zod';

const answerSchema = z.object({ id: z.int(), value: z.unknown().optional(), error: z.string().optional() });

/** How a program is started. */
export interface Launch {
  /** Where it is kept, when it is. */
  readonly core?: number | undefined;
  /** Where it leaves its CPU profile, when it leaves one. */
  readonly profileFolder?: string | undefined;
}

/** Longest that an answer may take: opening 10,000 sessions is the longest work that is asked for. */
const ANSWER_TIMEOUT_MS = 120_000;

/** Time to end, before a program is killed. */
const END_TIMEOUT_MS = 5_000;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** A program of the benchmark as a process of its own, which answers questions (`answering.ts` is its other end). */
export class ChildProgram implements AsyncDisposable {
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;

  private constructor(
    private readonly child: ChildProcess,
    file: string,
  ) {
    child.on('message', (message) => this.#receive(message));
    child.once('exit', (code, signal) => {
      const reason = new Error(`${file} ended: ${signal ?? code}`);
      for (const id of this.#waiting.keys()) this.#take(id)?.reject(reason);
    });
  }

  /**
   * Starts a built program and waits until it is ready.
   * @returns the program, and what it said when it was ready
   */
  static async start(
    file: string,
    launch: Launch,
    args: readonly string[] = [],
  ): Promise<{ program: ChildProgram; started: unknown }> {
    const { core, profileFolder } = launch;
    const command = [process.execPath, '--expose-gc', file, ...args];
    if (profileFolder !== undefined)
      command.splice(1, 0, '--cpu-prof', `--cpu-prof-dir=${profileFolder}`, profileName(file));
    if (core !== undefined) command.unshift('taskset', '--cpu-list', String(core));
    const [executable = '', ...rest] = command;
    const child = spawn(executable, rest, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const program = new ChildProgram(child, file);
    try {
      return { program, started: await program.#answer(0) };
    } catch (error) {
      await program[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** @throws what the program says was wrong, or that it ended or did not answer in time */
  async ask<T>(what: string, input: unknown, schema: z.ZodType<T>): Promise<T> {
    const id = this.#nextId++;
    const answer = this.#answer(id);
    this.child.send({ id, what, input });
    return schema.parse(await answer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), END_TIMEOUT_MS);
    if (this.child.connected) this.child.disconnect(); // it exits then, with what it has started itself
    await exited;
    clearTimeout(timer);
  }

  async #answer(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#take(id)?.reject(new Error(`no answer within ${ANSWER_TIMEOUT_MS} ms`));
      }, ANSWER_TIMEOUT_MS);
      this.#waiting.set(id, { resolve, reject, timer });
    });
  }

  #receive(message: unknown): void {
    const { id, value, error } = answerSchema.parse(message);
    const waiting = this.#take(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(error));
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}

/** Told apart by program and time: one run measures many. */
function profileName(file: string): string {
  return `--cpu-prof-name=${basename(file, '.mjs')}-${basename(dirname(file))}-${Date.now()}.cpuprofile`;
}
