/** What a program of the benchmark is asked, by name. A value, or a promise of it, goes back to who asked. */
export type Answers = Readonly<Record<string, (input: never) => unknown>>;

interface Question {
  readonly id: number;
  readonly what: string;
  readonly input: unknown;
}

/**
 * Tells the process that started this one that it is ready, and answers its questions from then on (the other end
 * is `child-program.ts`). Ends with the process that started it.
 */
export function answering(started: object, answers: Answers): void {
  process.on('message', (question) => void answer(question as Question, answers));
  process.on('disconnect', () => process.exit(0));
  process.send?.({ id: 0, value: started });
}

async function answer({ id, what, input }: Question, answers: Answers): Promise<void> {
  try {
    const known = answers[what];
    if (known === undefined) throw new Error(`no answer to "${what}" here`);
    process.send?.({ id, value: await known(input as never) });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}
