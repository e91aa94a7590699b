// Shows above the pages that hold the words what they name: families, tests, models, corpora, groups, segments.
document.addEventListener("DOMContentLoaded", () => {
  const MOST = 12, PLACES = 6; // names that are shown, and places of a name before the others are folded
  const below = document.getElementById("search-results");
  const asked = (new URLSearchParams(location.search).get("q") || "").trim().toLowerCase();
  if (!below || !asked) return;
  const make = (tag, ...children) => {
    const made = document.createElement(tag);
    made.append(...children);
    return made;
  };
  const words = asked.split(/\s+/);
  const rank = (text) => (text === asked ? 0 : text.startsWith(words[0]) ? 1 : 2);
  const found = (entries) => entries
    .map(([name, kind, places]) => ({ name, kind, places, text: name.toLowerCase() }))
    .filter(({ text, kind }) => words.every((word) => `${kind}: ${text}`.includes(word)) &&
      words.some((word) => text.includes(word)))
    .sort((a, b) => rank(a.text) - rank(b.text));

  const show = ({ name, kind, places }, pages) => {
    const links = places.map(([page, anchor, told]) => {
      const link = make("a", pages[page][1]);
      const text = `:~:text=${encodeURIComponent(name).replace(/-/g, "%2D")}`;
      link.href = `${pages[page][0]}.html${anchor ? `#${anchor}` : kind === "segment" ? `#${text}` : ""}`;
      return make("li", link, told ? `: ${told}` : "");
    });
    const made = make("li", make("span", `${kind} `, make("strong", name)), make("ul", ...links.slice(0, PLACES)));
    const rest = links.slice(PLACES);
    if (rest.length) made.append(make("details", make("summary", `${rest.length} more pages`), make("ul", ...rest)));
    return made;
  };

  window.soundcheck.load("search_entries.js", "search", (data) => {
    const names = data ? found(data.entries) : [];
    if (!names.length) return;
    const place = make("section", make("ul", ...names.slice(0, MOST).map((entry) => show(entry, data.pages))));
    place.className = "sc-found";
    place.setAttribute("aria-label", "Named by the search");
    const left = names.length - MOST;
    if (left > 0) place.append(make("p", `${left} more names hold these words; add a word to find fewer.`));
    if (data.left) place.append(make("p", `${data.left} more segments stand on pages and are not named here.`));
    below.before(place);
  });
});
