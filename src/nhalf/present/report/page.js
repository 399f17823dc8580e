// SPDX-License-Identifier: Apache-2.0
"use strict";
(() => {
  const root = document.documentElement;
  const themes = JSON.parse(document.getElementById("themes").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  // A file opened from disk may have no storage: the choice then lasts as long as the page.
  const stored = () => {
    try { return localStorage.getItem("nhalf-theme"); } catch { return null; }
  };
  const store = (name) => {
    try { localStorage.setItem("nhalf-theme", name); } catch { /* see above */ }
  };
  const theme = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  if (stored()) root.dataset.theme = stored();

  const FACET_GAP = 32, FACET_AXIS = 90, FACET_SLACK = 12, TWO_COLUMNS = 700, LEGEND_ENTRY = 235;

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
      copy.spec.width = Math.max(140, Math.floor(room / columns));
    } else if (width < 560) {
      copy.height = Math.min(copy.height || 300, 300);
    }
    return copy;
  }

  function config(width) {
    const chosen = structuredClone(themes[theme()]);
    chosen.legend.columns = Math.max(1, Math.floor(width / LEGEND_ENTRY));
    return chosen;
  }

  function specOf(name) {
    return JSON.parse(document.querySelector(`script[data-spec="${name}"]`).textContent);
  }

  const plots = [...document.querySelectorAll("figure[data-panel]")].map((figure) => ({
    plot: figure.querySelector(".plot"),
    spec: specOf(figure.dataset.panel),
    view: null,
  }));

  async function draw(entry) {
    const width = Math.floor(entry.plot.clientWidth);
    if (width < 50) return;
    entry.width = width;
    if (entry.view) entry.view.finalize();
    const options = {
      mode: "vega-lite", renderer: "svg", config: config(width), tooltip: { theme: theme() },
      actions: { export: true, source: false, compiled: false, editor: false },
      downloadFileName: `nhalf-${entry.plot.parentElement.dataset.panel}`,
    };
    const spec = fitted(entry.spec, width);
    try {
      entry.view = await vegaEmbed(entry.plot, spec, options);
      // The room that axis labels take is known only now: draw again with exactly what is left.
      const excess = entry.plot.querySelector("svg.marks").getBoundingClientRect().width - width;
      if (spec.facet && (excess > 0 || excess < -FACET_SLACK)) {
        spec.spec.width -= Math.ceil(excess / spec.columns);
        entry.view.finalize();
        entry.view = await vegaEmbed(entry.plot, spec, options);
      }
    } catch (error) {
      entry.plot.textContent = `This chart could not be drawn: ${error.message}`;
      entry.plot.classList.add("broken");
      console.error(error);
    }
  }

  async function drawAll() {
    for (const entry of plots) {
      await draw(entry);
      await recall(entry);
    }
    root.dataset.drawn = theme();
  }

  // What is picked in one chart is picked in all that have it, and stays in the address.
  const picked = new Map(new URLSearchParams(location.search.slice(1)));
  function choices(spec) {
    return (spec.params || []).filter((each) => each.bind?.options);
  }
  async function recall(entry) {
    if (!entry.view) return;
    for (const choice of choices(entry.spec)) {
      entry.view.view.addSignalListener(choice.name, (name, value) => pick(name, value));
      const wanted = picked.get(choice.name);
      if (wanted && choice.bind.options.includes(wanted)) {
        await entry.view.view.signal(choice.name, wanted).runAsync();
      }
    }
  }
  function pick(name, value) {
    if (picked.get(name) === String(value)) return;
    picked.set(name, String(value));
    try {
      history.replaceState(null, "", `?${new URLSearchParams([...picked])}${location.hash}`);
    } catch { /* some browsers keep the address of a file as it is */ }
    for (const entry of plots) {
      for (const choice of choices(entry.spec)) {
        if (choice.name !== name || !choice.bind.options.includes(value) || !entry.view) continue;
        if (entry.view.view.signal(name) !== value) entry.view.view.signal(name, value).runAsync();
      }
    }
  }

  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    store(root.dataset.theme);
    drawAll();
  });
  dark.addEventListener("change", () => { if (!root.dataset.theme) drawAll(); });

  let pending = 0;
  window.addEventListener("resize", () => {
    clearTimeout(pending);
    pending = setTimeout(() => {
      for (const entry of plots) if (entry.plot.clientWidth !== entry.width) draw(entry);
    }, 150);
  });

  const anchors = [...document.querySelectorAll(".bar nav a")];
  const links = new Map(anchors.map((link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.classList.remove("here");
      links.get(entry.target.id)?.classList.add("here");
    }
  }, { rootMargin: "-30% 0px -65% 0px" });
  for (const id of links.keys()) {
    const section = document.getElementById(id);
    if (section) watch.observe(section);
  }

  drawAll();
})();
