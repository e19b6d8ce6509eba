import type { RunEvent, RunFinishReason } from '@remotes-hub/protocol';
import { humanText, type Output } from './output.js';

/** Shows a run to people: its text on standard output as it comes, what it does on standard error. */
export class RunPrinter {
  #text = '';

  constructor(private readonly output: Output) {}

  /** Shows one event. */
  print(event: RunEvent): void {
    switch (event.action) {
      case 'run-started':
        for (const warning of event.body.warnings) this.output.note(`warning: ${warning}`);
        return;
      case 'run-text':
        this.#write(event.body.text);
        return;
      case 'run-tool-call':
        this.#endLine();
        this.output.note(`calls ${event.body.name} ${JSON.stringify(event.body.args)}`);
        return;
      case 'run-tool-result':
        this.output.note(
          `${event.body.name}${event.body.isError ? ' failed' : ''}: ${humanText(event.body.content)}`,
        );
        return;
      case 'run-finished':
        if (this.#text === '') this.#write(event.body.output);
        this.#endLine();
        this.#tellCut(event.body.finishReason);
    }
  }

  #tellCut(reason: RunFinishReason | undefined): void {
    if (reason === 'length') this.output.note('the answer stops at the token limit of the model');
    if (reason === 'content-filter') this.output.note('the answer was stopped by a filter of the provider');
  }

  #write(text: string): void {
    this.#text += text;
    this.output.text(text);
  }

  #endLine(): void {
    if (this.#text !== '' && !this.#text.endsWith('\n')) this.#write('\n');
  }
}
