// SPDX-License-Identifier: Apache-2.0
"use strict";
(() => {
  const SCALES = {
    ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824,
    "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12,
  };

  // Numbers go by their value and unit, everything else by its letters.
  function key(text) {
    const found = text.trim().match(/^([-+±]?[0-9.]+)\s*(\S*)/);
    return found ? Number(found[1].replace("±", "")) * (SCALES[found[2]] || 1) : NaN;
  }

  function compare(a, b) {
    const [x, y] = [key(a), key(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return a.localeCompare(b);
    return x - y;
  }

  function sort(table, place, head) {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => compare(
      a.cells[place].textContent, b.cells[place].textContent));
    body.append(...(down ? rows.reverse() : rows));
  }

  function csv(rows) {
    const cell = (value) => {
      const text = value === null || value === undefined ? "" : String(value).trim();
      return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
  }

  function offer(place, name, rows) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "csv";
    button.textContent = "Save as CSV";
    button.setAttribute("aria-label", `Save ${name} as CSV`);
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([csv(rows())], { type: "text/csv" }));
      link.download = `nhalf-${name}.csv`;
      link.click();
      URL.revokeObjectURL(link.href);
    });
    place.after(button);
  }

  for (const table of document.querySelectorAll("table")) {
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      if (!head.textContent) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, place, head));
    });
    const name = table.closest("section").id;
    offer(table.parentElement, name, () => [...table.rows].map(
      (row) => [...row.cells].map((cell) => cell.textContent)));
  }

  for (const figure of document.querySelectorAll("figure[data-panel]")) {
    const name = figure.dataset.panel;
    const text = document.querySelector(`script[data-spec="${name}"]`).textContent;
    const values = (spec) => [
      ...Object.values(spec.datasets || {}).flat(), ...(spec.data?.values || []),
    ];
    const rows = values(JSON.parse(text));
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    if (rows.length) {
      offer(figure, name, () => [columns, ...rows.map((row) => columns.map((c) => row[c]))]);
    }
  }
})();
