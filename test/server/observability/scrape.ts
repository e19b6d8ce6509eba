import type { Hub } from '@remotes-hub/server';

/** The samples of a scrape by name and labels, as they are written: `remotes_hub_calls_total{outcome="result"}`. */
export async function scrape(hub: Pick<Hub, 'metrics'>): Promise<Record<string, number>> {
  return readSamples(await hub.metrics());
}

/** The samples of a text in the format of Prometheus. @throws {Error} when a line is none */
export function readSamples(text: string): Record<string, number> {
  const samples: Record<string, number> = {};
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# ')) continue;
    const [, name = '', value = ''] = /^([a-z_\d]+(?:\{[a-z]+="[^"]*"\})?) (\S+)$/u.exec(line) ?? [];
    if (name === '' || !Number.isFinite(Number(value)) || name in samples)
      throw new Error(`no sample: ${line}`);
    samples[name] = Number(value);
  }
  return samples;
}
