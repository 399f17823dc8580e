// Light or dark: as the reader's system has it, or as the button says.

const root = document.documentElement;
const themes = JSON.parse(document.getElementById("themes").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");

// A file opened from disk may have no storage: the choice then lasts as long as the page.
function storedTheme() {
  try { return localStorage.getItem("nhalf-theme"); } catch { return null; }
}

function storeTheme(name) {
  try { localStorage.setItem("nhalf-theme", name); } catch { /* see above */ }
}

function theme() {
  return root.dataset.theme || (dark.matches ? "dark" : "light");
}

if (storedTheme()) root.dataset.theme = storedTheme();

document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = theme() === "dark" ? "light" : "dark";
  storeTheme(root.dataset.theme);
  drawAll();
});
dark.addEventListener("change", () => { if (!root.dataset.theme) drawAll(); });
