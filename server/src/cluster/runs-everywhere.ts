import * as z from 'zod';
import type { RunReplay } from '../agents/run-history.js';
import type { Runs } from '../agents/runs.js';
import { JsonText } from '../json/json-text.js';
import { RemoteError } from '../remotes/remote-error.js';
import type { Backplane } from './backplane.js';
import type { NodeAnswer, Questions } from './questions.js';
import { whenThere, type Soon } from '../soon.js';

/** Time for the node of a run to answer, in milliseconds. */
const TIMEOUT_MS = 5_000;

const runFields = z.tuple([z.string(), z.string()]).rest(z.unknown());
const replaySchema = z.object({ firstSeq: z.number(), isFinished: z.boolean() });

/** The runs of all nodes: a session can follow and cancel its user's runs wherever they are. */
export class RunsEverywhere {
  constructor(
    private readonly runs: Pick<Runs, 'cancel' | 'replay'>,
    private readonly backplane: Pick<Backplane, 'findRun'>,
    private readonly questions: Questions,
  ) {
    questions.answerAbout('run-cancel', (fields) => this.#answerCancel(fields));
    questions.answerAbout('run-get', (fields) => this.#answerReplay(fields));
  }

  /** @throws {RemoteError} `run-not-found`, `backplane-unavailable` */
  cancel(userId: string, runId: string): Soon<void> {
    return this.#hereOrElsewhere(
      userId,
      runId,
      () => this.runs.cancel(userId, runId),
      async (nodeId) => {
        await this.questions.ask(nodeId, 'run-cancel', [userId, runId], TIMEOUT_MS);
      },
    );
  }

  /** @throws {RemoteError} `run-not-found`, `backplane-unavailable` */
  replay(userId: string, runId: string): Soon<RunReplay> {
    return this.#hereOrElsewhere(
      userId,
      runId,
      () => this.runs.replay(userId, runId),
      async (nodeId) => {
        const { value, body } = await this.questions.ask(nodeId, 'run-get', [userId, runId], TIMEOUT_MS);
        return { runId, ...replaySchema.parse(value), events: body ?? new JsonText('[]') };
      },
    );
  }

  #hereOrElsewhere<T>(
    userId: string,
    runId: string,
    here: () => T,
    elsewhere: (nodeId: string) => Promise<T>,
  ): Soon<T> {
    try {
      return here();
    } catch (error) {
      if (!(error instanceof RemoteError) || error.code !== 'run-not-found') throw error;
      return whenThere<string | undefined, T>(this.backplane.findRun(userId, runId), (nodeId) => {
        if (nodeId === undefined) throw error;
        return elsewhere(nodeId);
      });
    }
  }

  #answerCancel(fields: readonly unknown[]): NodeAnswer {
    const [userId, runId] = runFields.parse(fields);
    this.runs.cancel(userId, runId);
    return { value: true };
  }

  #answerReplay(fields: readonly unknown[]): NodeAnswer {
    const [userId, runId] = runFields.parse(fields);
    const { firstSeq, isFinished, events } = this.runs.replay(userId, runId);
    return { value: { firstSeq, isFinished }, body: events };
  }
}
