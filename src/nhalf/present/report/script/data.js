// What stands in the page as columns becomes rows again (page.py), when it is first needed.

function rowsOf(columns) {
  const rows = [];
  for (const [name, column] of Object.entries(columns)) {
    const values = Array.isArray(column) ? column : column.at.map((place) => column.words[place]);
    values.forEach((value, place) => {
      rows[place] ||= {};
      if (value !== null && value !== undefined) rows[place][name] = value;
    });
  }
  return rows;
}

// Calls `visit` with every object of a specification but its data, the outermost first.
function walk(part, visit) {
  if (!part || typeof part !== "object") return;
  if (!Array.isArray(part)) visit(part);
  for (const [name, inner] of Object.entries(part)) {
    if (name !== "datasets" && name !== "values") walk(inner, visit);
  }
}

function specOf(name) {
  const place = document.querySelector(`script[data-spec="${CSS.escape(name)}"]`);
  const spec = JSON.parse(place.textContent);
  for (const set of Object.keys(spec.datasets || {})) {
    spec.datasets[set] = rowsOf(spec.datasets[set].columns);
  }
  walk(spec, (part) => {
    if (!part.columns || typeof part.columns !== "object") return;
    part.values = rowsOf(part.columns);
    delete part.columns;
  });
  return spec;
}

// Replaces every set of rows in a specification by what `change` makes of it.
function changeData(spec, change) {
  for (const set of Object.keys(spec.datasets || {})) {
    spec.datasets[set] = change(spec.datasets[set]);
  }
  walk(spec, (part) => {
    const rows = part.values;
    if (Array.isArray(rows) && rows[0] && typeof rows[0] === "object") part.values = change(rows);
  });
}

// Every row of data in a specification.
function dataOf(spec) {
  const found = [];
  changeData(spec, (rows) => { found.push(...rows); return rows; });
  return found;
}
