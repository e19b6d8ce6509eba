/** Where text goes: a stream of this process, or a test's. */
export interface TextSink {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** What a command says: results on standard output, everything else on standard error. */
export class Output {
  constructor(
    private readonly results: TextSink,
    private readonly notes: TextSink,
  ) {}

  /** A result for people: text of its own line. */
  line(text: string): void {
    this.text(`${text}\n`);
  }

  /** A piece of a result, as it comes. What others wrote cannot steer a terminal. */
  text(text: string): void {
    this.results.write(this.results.isTTY === true ? printable(text) : text);
  }

  /** A result for machines: JSON in one line. */
  json(value: unknown): void {
    this.results.write(`${JSON.stringify(value) ?? 'null'}\n`);
  }

  /** Anything that is no result. */
  note(text: string): void {
    this.notes.write(`${printable(text)}\n`);
  }
}

/** Text without control characters other than newline and tab, which are shown as `\x1b`. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

/** A value as people read it: a string as it is, anything else as indented JSON. */
export function humanText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'null');
}
