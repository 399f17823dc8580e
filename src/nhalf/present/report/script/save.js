// Every table, and the data of every chart, can be saved as CSV.

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
  button.setAttribute("aria-label", `Save as CSV: ${name}`);
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
  offer(table.parentElement, table.closest("section").id, () => [...table.rows].map(
    (row) => [...row.cells].map((cell) => cell.textContent)));
}

for (const entry of plots) {
  offer(entry.plot.parentElement, entry.name, () => {
    const rows = dataOf(specOf(entry.name));
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    return [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  });
}
