// Shows above the pages that hold the words what they name: families, tests, models, corpora, groups, segments.
document.addEventListener("DOMContentLoaded", () => {
  const MOST = 12, PLACES = 6; // names that are shown, and places of a name before the others are folded
  const { make } = window.soundcheck, below = document.getElementById("search-results");
  const query = (new URLSearchParams(location.search).get("q") || "").trim().toLowerCase(), words = query.split(/\s+/);
  if (!below || !query) return;
  const rank = ([name]) => [query === name.toLowerCase(), name.toLowerCase().startsWith(words[0]), true].indexOf(true);
  const fits = ([name, kind]) => words.some((word) => name.toLowerCase().includes(word))
    && words.every((word) => `${kind}: ${name.toLowerCase()}`.includes(word));

  const show = ([name, kind, places], pages) => {
    const links = places.map(([page, anchor, said]) => {
      const text = kind === "segment" ? `:~:text=${encodeURIComponent(name).replace(/-/g, "%2D")}` : "";
      const href = [`${pages[page][0]}.html`, ...[anchor || text].filter(Boolean)].join("#");
      return make("li", [make("a", pages[page][1], { href }), said ? `: ${said}` : ""]);
    });
    const more = [make("summary", `${links.length - PLACES} more pages`), make("ul", links.slice(PLACES))];
    const folded = links.length > PLACES ? [make("details", more)] : [];
    return make("li", [`${kind} `, make("strong", name), make("ul", links.slice(0, PLACES)), ...folded]);
  };

  window.soundcheck.load("search_entries.js", "search", ({ entries, left, pages }) => {
    const names = entries.filter(fits).sort((a, b) => rank(a) - rank(b)), more = names.length - MOST;
    if (!names.length) return;
    const notes = [more > 0 && `${more} more names hold these words; add a word to find fewer.`,
      left && `${left} more segments stand on pages and are not named here.`];
    const list = make("ul", names.slice(0, MOST).map((entry) => show(entry, pages)));
    const found = [list, ...notes.filter(Boolean).map((note) => make("p", note))];
    below.before(make("section", found, { class: "sc-found", "aria-label": "Named by the search" }));
  });
});
