import { Counter, Gauge, type Registry } from 'prom-client';
import type { CountsByName } from './metrics.js';

/** Adds a number that goes up and down, read at each scrape. */
export function addGauge(registry: Registry, name: string, help: string, read: () => number): void {
  const metric = new Gauge({
    name,
    help,
    registers: [],
    collect() {
      this.set(read());
    },
  });
  registry.registerMetric(metric);
}

/** Adds a number that only grows, read at each scrape. */
export function addCounter(registry: Registry, name: string, help: string, read: () => number): void {
  const metric = new Counter({
    name,
    help,
    registers: [],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
  registry.registerMetric(metric);
}

/** Adds counts with one label, read at each scrape; every value of the label is there from the start. */
export function addCounters<Name extends string>(
  registry: Registry,
  { name, help, label }: { readonly name: string; readonly help: string; readonly label: string },
  counts: CountsByName<Name>,
): void {
  const metric = new Counter({
    name,
    help,
    labelNames: [label],
    registers: [],
    collect() {
      this.reset();
      for (const [value, count] of counts.entries()) this.inc({ [label]: value }, count);
    },
  });
  registry.registerMetric(metric);
}
