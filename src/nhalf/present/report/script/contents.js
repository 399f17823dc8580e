// The list of sections follows the reader.

const anchors = [...document.querySelectorAll(".bar nav a")];
const links = new Map(anchors.map((link) => [link.hash.slice(1), link]));
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    for (const link of links.values()) link.removeAttribute("aria-current");
    links.get(entry.target.id)?.setAttribute("aria-current", "true");
  }
}, { rootMargin: "-30% 0px -65% 0px" });
for (const id of links.keys()) {
  const section = document.getElementById(id);
  if (section) watch.observe(section);
}

drawAll();
