/** One line of points over named places, in a plot of its own. */
export interface Panel {
  readonly title: string;
  readonly points: readonly { readonly label: string; readonly value: number }[];
}

const PANEL_WIDTH = 210;
const PLOT_HEIGHT = 150;
const TOP = 62;
const LEFT = 44;
const BOTTOM = 44;

/** Readable on a light and on a dark page: ink follows what the reader prefers, the ground is the page's. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 14px; font-weight: 600; }
  .faint { fill: #6e7781; }
  .grid { stroke: #8c959f; stroke-opacity: 0.35; }
  .line { stroke: #0969da; stroke-width: 2; fill: none; }
  .point { fill: #0969da; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .faint { fill: #9198a1; }
    .line { stroke: #4493f8; }
    .point { fill: #4493f8; }
  }`;

/** Panels beside each other, with one scale from zero for all, as an SVG document. */
export function drawPanels(title: string, unit: string, panels: readonly Panel[]): string {
  const highest = Math.max(0, ...panels.flatMap(({ points }) => points.map(({ value }) => value)));
  const top = niceCeiling(highest * 1.15);
  const y = (value: number): number => TOP + PLOT_HEIGHT * (1 - value / top);
  const width = LEFT + panels.length * PANEL_WIDTH + 8;
  const height = TOP + PLOT_HEIGHT + BOTTOM;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => share * top);
  const content = [
    text(8, 20, title, 'title'),
    text(8, 38, unit, 'faint'),
    ...ticks.flatMap((tick) => [
      `<line class="grid" x1="${LEFT}" x2="${width - 8}" y1="${round(y(tick))}" y2="${round(y(tick))}"/>`,
      text(LEFT - 6, y(tick) + 4, String(Number(tick.toPrecision(3))), 'faint', 'end'),
    ]),
    ...panels.flatMap((panel, index) => drawPanel(panel, LEFT + index * PANEL_WIDTH, y)),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escape(title)}</title>
<style>${STYLE}
</style>
${content.join('\n')}
</svg>
`;
}

function drawPanel({ title, points }: Panel, left: number, y: (value: number) => number): string[] {
  const step = PANEL_WIDTH / points.length;
  const placed = points.map((point, index) => ({
    ...point,
    x: left + step * (index + 0.5),
    y: y(point.value),
  }));
  const path = placed.map((point) => `${round(point.x)},${round(point.y)}`).join(' ');
  return [
    text(left + PANEL_WIDTH / 2, TOP + PLOT_HEIGHT + 36, title, 'faint', 'middle'),
    `<polyline class="line" points="${path}"/>`,
    ...placed.flatMap((point) => [
      `<circle class="point" cx="${round(point.x)}" cy="${round(point.y)}" r="4"/>`,
      text(point.x, point.y - 10, point.value.toPrecision(3), '', 'middle'),
      text(point.x, TOP + PLOT_HEIGHT + 18, point.label, '', 'middle'),
    ]),
  ];
}

function text(x: number, y: number, content: string, style: string, anchor = 'start'): string {
  return `<text class="${style}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escape(content)}</text>`;
}

/** The next of 1, 2, 4 or 8 times a power of ten. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return ([1, 2, 4, 8].find((factor) => factor * power >= value) ?? 10) * power;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
