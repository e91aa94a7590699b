// Shows above the pages that hold the words what they name: families, tests, models, corpora, groups, segments.
document.addEventListener("DOMContentLoaded", () => {
  const MOST = 12, PLACES = 6; // names that are shown, and places of a name before the others are folded
  const { make } = window.soundcheck;
  const below = document.getElementById("search-results");
  const query = (new URLSearchParams(location.search).get("q") || "").trim().toLowerCase(), words = query.split(/\s+/);
  if (!below || !query) return;
  const rank = (text) => (text === query ? 0 : text.startsWith(words[0]) ? 1 : 2);
  const fits = (text, kind) =>
    words.every((word) => `${kind}: ${text}`.includes(word)) && words.some((word) => text.includes(word));

  const show = ([name, kind, places], pages) => {
    const links = places.map(([page, anchor, said]) => {
      const text = kind === "segment" ? `:~:text=${encodeURIComponent(name).replace(/-/g, "%2D")}` : "";
      const href = [`${pages[page][0]}.html`, ...[anchor || text].filter(Boolean)].join("#");
      return make("li", [make("a", pages[page][1], { href }), said ? `: ${said}` : ""]);
    });
    const rest = links.splice(PLACES);
    const more = [make("summary", `${rest.length} more pages`), make("ul", rest)];
    const folded = rest.length ? [make("details", more)] : [];
    return make("li", [make("span", [`${kind} `, make("strong", name)]), make("ul", links), ...folded]);
  };

  window.soundcheck.load("search_entries.js", "search", (data) => {
    const names = (data?.entries ?? []).filter(([name, kind]) => fits(name.toLowerCase(), kind));
    if (!names.length) return;
    names.sort(([a], [b]) => rank(a.toLowerCase()) - rank(b.toLowerCase()));
    const list = make("ul", names.slice(0, MOST).map((entry) => show(entry, data.pages)));
    const place = make("section", list, { class: "sc-found", "aria-label": "Named by the search" });
    const left = names.length - MOST;
    if (left > 0) place.append(make("p", `${left} more names hold these words; add a word to find fewer.`));
    if (data.left) place.append(make("p", `${data.left} more segments stand on pages and are not named here.`));
    below.before(place);
  });
});
