// One selector for all charts, and the few that a chart has for itself; the address keeps both.

const picked = new Map(new URLSearchParams(location.search));

function keep(name, value) {
  if (value) picked.set(name, value); else picked.delete(name);
  const query = picked.size ? `?${new URLSearchParams([...picked])}` : location.pathname;
  try {
    history.replaceState(null, "", query + location.hash);
  } catch { /* some browsers keep the address of a file as it is */ }
}

// The parameter that all charts share has an input above them, and none in the chart.
const SHARED = "shown";

function choicesOf(spec) {
  return (spec.params || []).filter((each) => each.bind?.options);
}

// A chart as the reader wants it: one pattern, one library, other axes.
function chosen(entry) {
  const spec = structuredClone(entry.spec);
  for (const choice of choicesOf(spec)) {
    const wanted = picked.get(choice.name === SHARED ? SHARED : `${entry.name}.${choice.name}`);
    if (choice.bind.options.includes(wanted)) choice.value = wanted;
    if (choice.name === SHARED) delete choice.bind;
  }
  if (picked.get("library")) keepOnly(spec, picked.get("library"));
  if (picked.get("axes")) rescale(spec, picked.get("axes"));
  return spec;
}

function keepOnly(spec, library) {
  if (!dataOf(spec).some((row) => row.series === library)) return;
  changeData(spec, (rows) => rows.filter((row) => (row.series ?? library) === library));
}

// Round numbers of one scale are crowded on the other: Vega chooses those of the new one.
function rescale(spec, kind) {
  const from = kind === "linear" ? ["log", "symlog"] : [undefined, "linear"];
  const values = new Set(["bytes", ...(spec.usermeta?.log || [])]);
  walk(spec, (part) => {
    const scale = part.scale;
    if (!part.field || !scale || scale.domain || part.type !== "quantitative") return;
    if (!from.includes(scale.type) || (kind !== "linear" && !values.has(part.field))) return;
    if (kind === "linear") part.scale = { type: "linear", zero: true };
    else part.scale = { type: "log", nice: false };
    if (part.axis?.values) delete part.axis.values;
  });
}

// What is picked inside of a chart stays in the address, too.
function remember(entry) {
  for (const choice of choicesOf(entry.spec)) {
    if (choice.name === SHARED) continue;
    entry.view.view.addSignalListener(choice.name, (name, value) => {
      keep(`${entry.name}.${name}`, String(value));
    });
  }
}

for (const input of document.querySelectorAll("#choices select")) {
  const wanted = picked.get(input.name);
  if ([...input.options].some((option) => option.value === wanted)) input.value = wanted;
  input.addEventListener("change", () => {
    keep(input.name, input.selectedOptions[0].defaultSelected ? "" : input.value);
    drawAll(plots.filter((entry) => concerns(entry, input)));
  });
}

function concerns(entry, input) {
  entry.spec ||= specOf(entry.name);
  if (input.name !== SHARED) return true;
  return choicesOf(entry.spec).some((choice) => choice.name === SHARED);
}

const panel = document.getElementById("choices");
if (panel) panel.hidden = false;
