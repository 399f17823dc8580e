// Charts are drawn one after the other, what the reader looks at first; a page prints them all.

const FACET_GAP = 32, FACET_AXIS = 90, FACET_SLACK = 12, FACET_LEAST = 140, TWO_COLUMNS = 700;
const NARROW = 560, LEGEND_SYMBOL = 44, LETTER = 6.4;

const plots = [...document.querySelectorAll("figure[data-panel]")].map((figure) => ({
  name: figure.dataset.panel,
  plot: figure.querySelector(".plot"),
  spec: null,
  view: null,
  width: 0,
}));

// Vega-Lite cannot fit facets to their container, so their width is computed here.
function columnsOf(spec, width) {
  return width >= TWO_COLUMNS && (spec.facet?.sort || []).length > 1 ? 2 : 1;
}

function fitted(spec, width) {
  const copy = structuredClone(spec);
  if (copy.title) copy.title.limit = width - 24;
  if (copy.facet) {
    const columns = columnsOf(spec, width);
    copy.columns = columns;
    const room = width - FACET_AXIS - FACET_GAP * (columns - 1);
    copy.spec.width = Math.max(FACET_LEAST, Math.floor(room / columns));
  } else if (width < NARROW) {
    copy.height = Math.min(copy.height || 300, 300);
  }
  return copy;
}

// As many columns of the legend as its longest entry leaves room for.
function legendColumns(spec, width) {
  let longest = 12;
  walk(spec, (part) => {
    for (const entry of part.color?.scale?.domain || []) {
      longest = Math.max(longest, String(entry).length);
    }
  });
  return Math.max(1, Math.floor((width - FACET_AXIS) / (LEGEND_SYMBOL + LETTER * longest)));
}

function config(spec, width) {
  const wanted = structuredClone(themes[theme()]);
  wanted.legend.columns = legendColumns(spec, width);
  return wanted;
}

async function draw(entry) {
  const width = Math.floor(entry.plot.clientWidth);
  if (width < 50) return;
  entry.width = width;
  entry.spec ||= specOf(entry.name);
  if (entry.view) entry.view.finalize();
  const options = {
    mode: "vega-lite", renderer: "svg", config: config(entry.spec, width),
    tooltip: { theme: theme() },
    actions: { export: true, source: false, compiled: false, editor: false },
    downloadFileName: `nhalf-${entry.name}`,
  };
  try {
    const spec = fitted(chosen(entry), width);
    entry.view = await vegaEmbed(entry.plot, spec, options);
    if (spec.facet) await refit(entry, spec, width);
    entry.plot.classList.remove("broken");
    remember(entry);
  } catch (error) {
    entry.plot.textContent = `This chart could not be drawn: ${error.message}`;
    entry.plot.classList.add("broken");
    console.error(error);
  }
}

// The room that axis labels take is known only now: facets take exactly what is left.
async function refit(entry, spec, width) {
  const view = entry.view.view;
  for (let tries = 0; tries < 3; tries += 1) {
    const excess = Number(entry.plot.querySelector("svg.marks").getAttribute("width")) - width;
    if (excess <= 0 && excess >= -FACET_SLACK) return;
    const before = view.signal("child_width");
    // A legend may be wider than that: no facet gets out of its way.
    const inner = Math.max(FACET_LEAST, before - Math.ceil((excess + 2) / spec.columns));
    if (inner === before) return;
    await view.resize().signal("child_width", inner).runAsync();
  }
}

const waiting = new Set();
let working = false;

function distance(entry) {
  const box = entry.plot.getBoundingClientRect();
  return Math.max(box.top - window.innerHeight, -box.bottom, 0);
}

async function drawWaiting() {
  if (working) return;
  working = true;
  while (waiting.size) {
    const next = [...waiting].sort((a, b) => distance(a) - distance(b))[0];
    waiting.delete(next);
    await draw(next);
    await new Promise((resolve) => { setTimeout(resolve); });
  }
  working = false;
  root.dataset.drawn = theme();
}

function drawAll(entries = plots) {
  delete root.dataset.drawn;
  for (const entry of entries) waiting.add(entry);
  drawWaiting();
}

let pending = 0;
window.addEventListener("resize", () => {
  clearTimeout(pending);
  pending = setTimeout(() => {
    drawAll(plots.filter((entry) => entry.plot.clientWidth !== entry.width));
  }, 150);
});
