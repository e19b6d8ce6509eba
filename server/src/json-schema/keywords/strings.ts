import { counted, quoted } from '../messages.js';
import type { SchemaNode } from '../node.js';
import type { Site } from '../site.js';
import type { StepCounter } from '../step-counter.js';

/** `minLength`, `maxLength` (both in code points) and `pattern`. `format` is a hint and never checked. */
export function compileStringKeywords(site: Site, node: SchemaNode): void {
  compileLengths(site, node);
  const pattern = site.string('pattern');
  if (pattern === undefined) return;
  const compiled = site.compilation.compilePattern(pattern, site.path('pattern'));
  if (compiled === undefined) {
    node.addForStrings((_value, run) => {
      run.unsure = true;
      return true;
    });
    return;
  }
  const describe = (): string => `expected a string that matches ${quoted(pattern)}`;
  node.addForStrings((value, run) => compiled.test(value, run) || run.fail('pattern', describe, value));
}

function compileLengths(site: Site, node: SchemaNode): void {
  const least = site.count('minLength');
  if (least !== undefined) {
    const describe = (): string => `expected at least ${counted(least, 'character')}`;
    node.addForStrings(
      (value, run) => hasAtLeast(value, least, run) || run.fail('minLength', describe, value),
    );
  }
  const most = site.count('maxLength');
  if (most !== undefined) {
    const describe = (): string => `expected at most ${counted(most, 'character')}`;
    node.addForStrings(
      (value, run) => !hasAtLeast(value, most + 1, run) || run.fail('maxLength', describe, value),
    );
  }
}

// A character takes one or two units, so that most lengths are decided without counting.
function hasAtLeast(text: string, count: number, counter: StepCounter): boolean {
  if (text.length < count) return false;
  if (text.length >= count * 2) return true;
  counter.spend(text.length / 4);
  let length = text.length;
  for (let index = 1; index < text.length; index += 1) {
    if (isLow(text.charCodeAt(index)) && isHigh(text.charCodeAt(index - 1))) length -= 1;
  }
  return length >= count;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
