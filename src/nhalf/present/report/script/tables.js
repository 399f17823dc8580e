// A click on a column's title sorts the table by it, another one the other way round.

const SCALES = {
  ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824,
  "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12,
};

// Numbers go by their value and unit, everything else by its letters.
function sortKey(text) {
  const found = text.trim().replace("−", "-").match(/^([-+±]?[0-9.]+)\s*(\S*)/);
  return found ? Number(found[1].replace("±", "")) * (SCALES[found[2]] || 1) : NaN;
}

function compareCells(a, b) {
  const [x, y] = [sortKey(a), sortKey(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return a.localeCompare(b);
  return x - y;
}

function sortTable(table, place, head) {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((a, b) => compareCells(
    a.cells[place].textContent, b.cells[place].textContent));
  body.append(...(down ? rows.reverse() : rows));
}

for (const table of document.querySelectorAll("table")) {
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    if (!head.textContent) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortTable(table, place, head));
  });
}
