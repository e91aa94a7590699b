// Makes the sounds of one place (.sc-pair) one player with a switch, and shows in pictures where a sound is.
// Sounds of a page on a disk may be played but not read, so nothing is mixed here: two sounds run together, one
// of them silent, and the silent one keeps up by its speed. Without this script each sound has a player of its own.
document.addEventListener("DOMContentLoaded", () => {
  const APART = 0.02, TOGETHER = 0.005, FAR = 0.25; // s: from which a sound is moved, until which, from which it jumps
  // Volume of what is not heard, -100 dB: 16 bit have nothing below. At 0, or muted, Chromium gives a sound another
  // clock, which takes a while: a switch would have a gap, and the two would be apart.
  const SILENT = 1e-5;
  const PATIENCE = 600; // ms to wait for a sound that is switched to
  const SHORTEST = 0.05; // s of a part that is repeated
  const KEYS = "Space: switch at the same position. P: play or pause. [ and ]: the part that is repeated begins or ends "
    + "here; so does dragging over a picture. Escape: no part. 1 to 9: hear the first to the ninth sound. Levels are not touched.";
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const players = []; // of which one plays at a time

  const make = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
  };
  const button = (text, attributes) => make("button", text, { type: "button", ...attributes });
  const slider = (label, max, step) =>
    Object.assign(make("input", "", { type: "range", "aria-label": label, min: 0, max, step }), { value: 0 });

  // A line over the picture of a sound, and the part of it that is repeated.
  const view = (figure) => {
    const length = Number(figure.dataset.seconds), picture = figure.querySelector("img");
    const frame = make("span", "", { class: "sc-view" });
    const line = make("span", "", { class: "sc-cursor" }), part = make("span", "", { class: "sc-part-heard" });
    picture.replaceWith(frame);
    picture.draggable = false;
    frame.append(picture, part, line);
    const inside = (share) => Math.min(1, Math.max(0, share));
    const across = (time) => `${100 * inside(time / length)}%`;
    return {
      length, frame, audio: figure.querySelector("audio"),
      time(event) {
        const { left, width } = frame.getBoundingClientRect();
        return length * inside((event.clientX - left) / width);
      },
      draw(time) { line.style.left = across(calm.matches ? Math.floor(4 * time) / 4 : time); },
      mark(from, to) { Object.assign(part.style, { left: across(from), width: `calc(${across(to)} - ${across(from)})` }); },
    };
  };

  const alone = (figure) => {
    const { audio, frame, draw, time } = view(figure);
    const follow = () => {
      draw(audio.currentTime);
      if (!audio.paused) requestAnimationFrame(follow);
    };
    ["play", "timeupdate", "seeked"].forEach((name) => audio.addEventListener(name, follow));
    frame.addEventListener("click", (event) => draw(audio.currentTime = time(event)));
    players.push({ has: (other) => other === audio, pause: () => audio.pause() });
  };

  const together = (box, figures) => {
    const steps = box.classList.contains("sc-sweep"), title = box.previousElementSibling;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", title?.matches(".sc-players-title") ? title.textContent : "Sounds to compare");
    const sides = figures.map((figure) => {
      const head = figure.querySelector("strong"), name = head.textContent, choose = button(name, { class: "sc-name" });
      head.replaceChildren(choose);
      figure.querySelector("audio").controls = false;
      return { name, choose, figure, ...view(figure) };
    });
    const longest = Math.max(...sides.map((side) => side.length));
    const play = button("", { class: "sc-play" }), turn = button("", { class: "sc-switch" });
    const loop = button("↻ Loop", { title: "Repeat; drag over a picture to repeat a part" });
    const place = slider("Position", longest, 0.01), severity = slider("Severity", sides.length - 1, 1);
    const clock = make("span", "", { class: "sc-clock", "aria-hidden": "true" }); // the slider says the same
    const news = make("span", "", { class: "sc-news", "aria-live": "polite" });
    const keys = make("details"), tools = make("div", "", { class: "sc-hear" }), label = make("label", "Severity");
    keys.append(make("summary", "Keys"), make("span", KEYS));
    label.append(severity);
    tools.append(play, turn, ...(steps ? [label] : []), loop, place, clock, news, keys);
    box.prepend(tools);

    let heard = sides[0], other = sides[1], wanted = heard, playing = false;
    let position = 0, part = null, deadline = 0;
    const begin = () => (part ? part[0] : 0);
    const running = () => new Set([heard, other, wanted]);
    const say = (text) => { news.textContent = text; };

    const show = () => {
      play.textContent = playing ? "❚❚ Pause" : "▶ Play";
      turn.textContent = `⇄ ${other.name}`;
      turn.setAttribute("aria-label", `Switch to ${other.name}`);
      loop.setAttribute("aria-pressed", String(part !== null));
      sides.forEach((side) => {
        side.choose.setAttribute("aria-pressed", String(side === heard));
        side.figure.classList.toggle("sc-audible", side === heard);
        const whole = !part || (part[0] === 0 && part[1] >= longest);
        side.mark(whole ? 0 : part[0], whole ? 0 : Math.min(part[1], longest));
      });
      severity.value = sides.indexOf(heard);
      severity.setAttribute("aria-valuetext", heard.name);
    };
    const draw = () => {
      sides.forEach((side) => side.draw(position));
      place.value = position;
      place.setAttribute("aria-valuetext", `${position.toFixed(2)} of ${longest.toFixed(2)} s`);
      clock.textContent = `${position.toFixed(1)} / ${longest.toFixed(1)} s`;
    };
    const hush = ({ audio }, quiet) => {
      audio.volume = quiet ? SILENT : 1;
      audio.muted = quiet && audio.volume === 1; // where a page has no say in the volume
    };
    const start = (side) => {
      if (position >= side.length) return;
      hush(side, side !== heard);
      Object.assign(side.audio, { playbackRate: 1, currentTime: position });
      side.audio.play().catch((problem) => {
        if (problem.name !== "AbortError" && running().has(side)) { pause(); say(`${side.name} cannot be played.`); }
      });
    };
    const pause = () => {
      if (playing) position = heard.audio.currentTime;
      playing = false;
      sides.forEach((side) => side.audio.pause());
      if (wanted !== heard) change();
      show();
      draw();
    };
    const resume = () => {
      if (position >= heard.length - 0.01) position = begin();
      playing = true;
      running().forEach(start);
      show();
      requestAnimationFrame(frame);
    };
    const toggle = () => (playing ? pause() : resume());
    const go = (time) => {
      position = Math.min(time, longest);
      if (playing && position >= heard.length) position = begin();
      if (playing) running().forEach((side) => (side.audio.paused ? start(side) : (side.audio.currentTime = position)));
      draw();
    };
    const change = () => {
      const before = heard;
      heard = wanted;
      other = steps && heard !== sides[0] ? sides[0] : before;
      heard.audio.playbackRate = 1;
      sides.forEach((side) => {
        hush(side, side !== heard);
        if (side !== heard && side !== other) side.audio.pause();
      });
      if (playing && other.audio.paused) start(other);
      show();
      say(`Heard: ${heard.name}`);
    };
    const choose = (side) => {
      wanted = side;
      if (side === heard) return;
      if (!playing) return change();
      if (position >= side.length - APART) { // it is over here, and begins again
        change();
        return go(begin());
      }
      deadline = performance.now() + PATIENCE;
      if (side.audio.paused) start(side);
    };
    const keepUp = ({ audio, length }) => {
      const apart = position - audio.currentTime;
      if (audio.paused || audio.seeking || position >= length) return Infinity;
      if (Math.abs(apart) > FAR) audio.currentTime = position;
      else if (Math.abs(apart) > APART) audio.playbackRate = 1 + Math.max(-0.25, Math.min(0.25, 4 * apart));
      else if (Math.abs(apart) < TOGETHER || (apart > 0) !== (audio.playbackRate > 1)) audio.playbackRate = 1;
      return Math.abs(apart);
    };
    const tick = () => {
      if (!playing) return;
      position = heard.audio.currentTime;
      if (part && position >= part[1]) return go(part[0]);
      running().forEach((side) => {
        const near = side !== heard && keepUp(side) <= APART;
        if (side === wanted && side !== heard && (near || performance.now() > deadline)) change();
      });
      draw();
    };
    const frame = () => {
      tick();
      if (playing) requestAnimationFrame(frame);
    };
    const repeat = (from, to) => {
      part = from === null || to - from < SHORTEST ? null : [from, to];
      if (part && (position < from || position > to)) go(from);
      show();
      const whole = part && from === 0 && to >= longest;
      say(!part ? "Not repeated" : whole ? "Repeated" : `Repeated from ${from.toFixed(2)} to ${Math.min(to, longest).toFixed(2)} s`);
    };

    sides.forEach((side) => {
      let from = null, moved = false;
      side.audio.addEventListener("timeupdate", tick); // in a window that is not seen, where frames rest
      side.audio.addEventListener("ended", () => {
        if (!playing || side !== heard) return;
        if (part) return go(begin());
        pause();
        position = 0;
        draw();
      });
      side.choose.addEventListener("click", () => choose(side));
      side.frame.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        from = { time: side.time(event), x: event.clientX };
        moved = false;
        side.frame.setPointerCapture(event.pointerId);
      });
      const ends = (event) => [from.time, side.time(event)].sort((a, b) => a - b);
      side.frame.addEventListener("pointermove", (event) => {
        moved = moved || (from !== null && Math.abs(event.clientX - from.x) > 4);
        if (from && moved) sides.forEach((one) => one.mark(...ends(event)));
      });
      side.frame.addEventListener("pointerup", (event) => {
        if (!from) return;
        if (moved) repeat(...ends(event));
        else { choose(side); go(side.time(event)); }
        from = null;
        play.focus({ preventScroll: true });
      });
      side.frame.addEventListener("pointercancel", () => { from = null; show(); });
    });
    play.addEventListener("click", () => { toggle(); play.focus({ preventScroll: true }); });
    turn.addEventListener("click", () => choose(other));
    loop.addEventListener("click", () => (part ? repeat(null) : repeat(0, longest)));
    place.addEventListener("input", () => go(Number(place.value)));
    severity.addEventListener("input", () => choose(sides[Number(severity.value)]));
    const pressed = {
      p: toggle,
      "[": () => repeat(position, part && part[1] > position ? part[1] : longest),
      "]": () => repeat(part && part[0] < position ? part[0] : 0, position),
      Escape: () => repeat(null),
      " ": () => choose(other),
    };
    // While a sound plays the space bar switches, and so it does on sliders, which it means nothing to.
    const switches = (target) => [place, severity, turn].includes(target) || (target === play && playing);
    box.addEventListener("keydown", (event) => {
      const side = sides[Number(event.key) - 1];
      const action = side ? () => choose(side) : pressed[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      const ours = event.key !== " " || switches(event.target);
      if (!action || !ours || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      if (!event.repeat) action();
    });
    box.addEventListener("keyup", (event) => {
      if (event.key === " " && switches(event.target)) event.preventDefault(); // else it presses the button, too
    });
    players.push({ has: (audio) => sides.some((side) => side.audio === audio), pause: () => playing && pause() });
    show();
    draw();
    say(`Heard: ${heard.name}`);
  };

  const sounds = (place) => Array.from(place.querySelectorAll("figure.sc-player")).filter((figure) =>
    figure.dataset.seconds > 0 && figure.querySelector("audio") && figure.querySelector("img"));
  document.querySelectorAll(".sc-pair").forEach((box) => {
    const figures = sounds(box);
    if (figures.length > 1) together(box, figures);
  });
  sounds(document).filter((figure) => !figure.closest(".sc-pair[role]")).forEach(alone);
  document.addEventListener("play", (event) => {
    players.filter((player) => !player.has(event.target)).forEach((player) => player.pause());
  }, true);
});
