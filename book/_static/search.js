// Shows above the pages that hold the words what they name: families, models, corpora, groups, segments.
{
  const MOST = 12; // names that are shown
  const PLACES = 6; // of a name, before the others are folded

  const found = (entries, asked) => {
    const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
    const rank = (text) => text === asked.toLowerCase() ? 0 : text.startsWith(words[0]) ? 1 : 2;
    if (!words.length) return [];
    return entries
      .map(([name, kind, places]) => ({ name, kind, places, text: name.toLowerCase() }))
      .filter(({ text, kind }) => words.every((word) => `${kind}: ${text}`.includes(word)) &&
        words.some((word) => text.includes(word)))
      .sort((a, b) => rank(a.text) - rank(b.text));
  };

  const list = (entry, pages) => {
    const made = document.createElement("ul");
    entry.places.forEach(([page, anchor, told]) => {
      const [address, title] = pages[page];
      const link = document.createElement("a");
      const item = document.createElement("li");
      link.textContent = title;
      link.href = `${address}.html`;
      if (anchor) link.href += `#${anchor}`;
      else if (entry.kind === "segment") link.href += `#:~:text=${encodeURIComponent(entry.name).replace(/-/g, "%2D")}`;
      item.append(link, told ? `: ${told}` : "");
      made.append(item);
    });
    return made;
  };

  const show = (entry, pages) => {
    const made = document.createElement("li");
    const head = document.createElement("span");
    const name = document.createElement("strong");
    name.textContent = entry.name;
    head.append(`${entry.kind} `, name);
    const all = list(entry, pages);
    made.append(head, all);
    if (entry.places.length > PLACES) {
      const rest = document.createElement("details");
      const summary = document.createElement("summary");
      const more = document.createElement("ul");
      summary.textContent = `${entry.places.length - PLACES} more pages`;
      more.append(...Array.from(all.children).slice(PLACES));
      rest.append(summary, more);
      made.append(rest);
    }
    return made;
  };

  document.addEventListener("DOMContentLoaded", () => {
    const below = document.getElementById("search-results");
    const asked = new URLSearchParams(location.search).get("q") || "";
    if (!below || !asked.trim()) return;
    window.soundcheck.load("search_entries.js", "search", (data) => {
      if (!data) return;
      const names = found(data.entries, asked.trim());
      if (!names.length) return;
      const place = document.createElement("section");
      place.className = "sc-found";
      place.setAttribute("aria-label", "Named by the search");
      const shown = document.createElement("ul");
      shown.append(...names.slice(0, MOST).map((entry) => show(entry, data.pages)));
      place.append(shown);
      const tell = (text) => place.appendChild(document.createElement("p")).append(text);
      if (names.length > MOST) tell(`${names.length - MOST} more names hold these words; add a word to find fewer.`);
      if (data.left) tell(`${data.left} more segments stand on pages and are not named here.`);
      below.before(place);
    });
  });
}
