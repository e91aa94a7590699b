// Makes the sounds of one place (.sc-pair) one player with a switch, and shows in pictures where a sound is.
// Sounds of a page on a disk may be played but not read, so nothing is mixed here: all run together, all but one silent,
// and the silent ones keep up by their speed. Without this script each sound has a player of its own.
document.addEventListener("DOMContentLoaded", () => {
  const APART = 0.01, FAR = 0.25; // s: from which a sound catches up, from which it jumps
  // Volume of what is not heard, -100 dB: 16 bit have nothing below. At 0, or muted, Chromium gives a sound another
  // clock, which takes a while: a switch would have a gap, and the two would be apart.
  const SILENT = 1e-5;
  const SHORTEST = 0.05; // s of a part that is repeated
  const KEYS = "Space: switch at the same position. P: play or pause. [ and ]: the part that is repeated begins or ends "
    + "here; so does dragging over a picture. Escape: no part. 1 to 9: hear the first to the ninth sound. Levels are not touched.";
  const { make, on } = window.soundcheck, button = window.soundcheck.button.bind(window.soundcheck);
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const players = []; // of which one plays at a time
  const slider = (label, max, step) => make("input", [], { type: "range", "aria-label": label, min: 0, max, step, value: 0 });
  const within = (number, low, high) => Math.min(high, Math.max(low, number));

  // A line over the picture of a sound, and the part of it that is repeated.
  const view = (figure) => {
    const length = Number(figure.dataset.seconds), picture = figure.querySelector("img");
    const line = make("span", [], { class: "sc-cursor" }), part = make("span", [], { class: "sc-part-heard" });
    const frame = make("span", [], { class: "sc-view" });
    picture.replaceWith(frame);
    picture.draggable = false;
    frame.append(picture, part, line);
    const across = (time) => `${100 * within(time / length, 0, 1)}%`;
    return {
      length, frame, audio: figure.querySelector("audio"),
      time(event) {
        const { left, width } = frame.getBoundingClientRect();
        return length * within((event.clientX - left) / width, 0, 1);
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
    on(audio, { play: follow, timeupdate: follow, seeked: follow });
    on(frame, { click: (event) => draw(audio.currentTime = time(event)) });
    players.push({ has: (other) => other === audio, pause: () => audio.pause() });
  };

  const together = (box, figures) => {
    const steps = box.classList.contains("sc-sweep"), title = box.previousElementSibling;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", title?.matches(".sc-players-title") ? title.textContent : "Sounds to compare");
    const sides = figures.map((figure) => {
      const head = figure.querySelector("strong"), name = head.textContent;
      const side = { name, figure, ...view(figure), choose: button(name, { class: "sc-name" }, () => choose(side)) };
      head.replaceChildren(side.choose);
      side.audio.controls = false;
      return side;
    });
    const longest = Math.max(...sides.map((side) => side.length));
    const play = button("", { class: "sc-play" }, () => { toggle(); play.focus({ preventScroll: true }); });
    const turn = button("", { class: "sc-switch" }, () => choose(other));
    const loop = button("↻ Loop", { title: "Repeat; drag over a picture to repeat a part" },
      () => (part ? repeat(null) : repeat(0, longest)));
    const place = on(slider("Position", longest, 0.01), { input: () => go(Number(place.value)) });
    const severity = on(slider("Severity", sides.length - 1, 1), { input: () => choose(sides[Number(severity.value)]) });
    const clock = make("span", [], { class: "sc-clock", "aria-hidden": "true" }); // the slider says the same
    const news = make("span", [], { class: "sc-news", "aria-live": "polite" });
    const keys = make("details", [make("summary", "Keys"), make("span", KEYS)]);
    const levels = steps ? [make("label", ["Severity", severity])] : [];
    box.prepend(make("div", [play, turn, ...levels, loop, place, clock, news, keys], { class: "sc-hear" }));

    let heard = sides[0], other = sides[1], playing = false, position = 0, part = null;
    const begin = () => (part ? part[0] : 0);
    const say = (text) => { news.textContent = text; };
    const show = () => {
      play.textContent = playing ? "❚❚ Pause" : "▶ Play";
      turn.textContent = `⇄ ${other.name}`;
      turn.setAttribute("aria-label", `Switch to ${other.name}`);
      loop.setAttribute("aria-pressed", String(part !== null));
      const marked = part && (part[0] > 0 || part[1] < longest) ? part : [0, 0];
      sides.forEach((side) => {
        side.choose.setAttribute("aria-pressed", String(side === heard));
        side.figure.classList.toggle("sc-audible", side === heard);
        side.mark(...marked);
        side.audio.volume = side === heard ? 1 : SILENT;
        side.audio.muted = side !== heard && side.audio.volume === 1; // where a page has no say in the volume
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
    const start = (side) => {
      if (position >= side.length) return;
      Object.assign(side.audio, { playbackRate: 1, currentTime: position });
      side.audio.play().catch((problem) => {
        if (problem.name !== "AbortError" && side === heard) { pause(); say(`${side.name} cannot be played.`); }
      });
    };
    const pause = () => {
      if (playing) position = heard.audio.currentTime;
      playing = false;
      sides.forEach((side) => side.audio.pause());
      show();
      draw();
    };
    const toggle = () => {
      if (playing) return pause();
      if (position >= heard.length - APART) position = begin();
      playing = true;
      show();
      sides.forEach(start);
      requestAnimationFrame(frame);
    };
    const go = (time) => {
      position = Math.min(time, longest);
      if (playing && position >= heard.length) position = begin();
      if (playing) sides.forEach((side) => (side.audio.paused ? start(side) : (side.audio.currentTime = position)));
      draw();
    };
    const choose = (side) => {
      if (side === heard) return;
      other = steps && side !== sides[0] ? sides[0] : heard;
      heard = side;
      heard.audio.playbackRate = 1;
      show();
      say(`Heard: ${heard.name}`);
      if (!playing) return;
      if (position >= side.length - 2 * APART) go(begin()); // it is over here, and begins again
      else if (side.audio.paused) start(side);
    };
    const keepUp = ({ audio, length }) => {
      const apart = position - audio.currentTime;
      if (audio.paused || audio.seeking || position >= length) return;
      if (Math.abs(apart) > FAR) audio.currentTime = position;
      else audio.playbackRate = Math.abs(apart) > APART ? 1 + within(4 * apart, -0.25, 0.25) : 1;
    };
    const tick = () => {
      if (!playing) return;
      position = heard.audio.currentTime;
      if (part && position >= part[1]) return go(part[0]);
      sides.filter((side) => side !== heard).forEach(keepUp);
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
      const span = part && (from > 0 || to < longest) ? ` from ${from.toFixed(2)} to ${Math.min(to, longest).toFixed(2)} s` : "";
      say(part ? `Repeated${span}` : "Not repeated");
    };

    sides.forEach((side) => {
      let from = null, moved = false;
      const ends = (event) => [from.time, side.time(event)].sort((a, b) => a - b);
      on(side.audio, {
        timeupdate: tick, // in a window that is not seen, where frames rest
        ended() {
          if (!playing || side !== heard) return;
          if (part) return void go(begin());
          pause();
          go(0);
        },
      });
      on(side.frame, {
        pointerdown(event) {
          if (event.button) return;
          [from, moved] = [{ time: side.time(event), x: event.clientX }, false];
          side.frame.setPointerCapture(event.pointerId);
        },
        pointermove(event) {
          moved = moved || (from !== null && Math.abs(event.clientX - from.x) > 4);
          if (from && moved) sides.forEach((one) => one.mark(...ends(event)));
        },
        pointerup(event) {
          if (!from) return;
          if (moved) repeat(...ends(event));
          else { choose(side); go(side.time(event)); }
          from = null;
          play.focus({ preventScroll: true });
        },
        pointercancel() { from = null; show(); },
      });
    });
    const pressed = {
      p: toggle,
      "[": () => repeat(position, part && part[1] > position ? part[1] : longest),
      "]": () => repeat(part && part[0] < position ? part[0] : 0, position),
      Escape: () => repeat(null),
      " ": () => choose(other),
    };
    // While a sound plays the space bar switches, and so it does on sliders, which it means nothing to.
    const switches = (target) => [place, severity, turn].includes(target) || (target === play && playing);
    const ours = (event) => event.key !== " " || switches(event.target);
    on(box, {
      keydown(event) {
        const side = sides[Number(event.key) - 1];
        const action = side ? () => choose(side) : pressed[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!action || !ours(event) || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        if (!event.repeat) action();
      },
      keyup(event) { if (event.key === " " && ours(event)) event.preventDefault(); }, // else it presses the button, too
    });
    players.push({ has: (audio) => sides.some((side) => side.audio === audio), pause: () => playing && pause() });
    show();
    draw();
    say(`Heard: ${heard.name}`);
  };

  const sounds = (place) => Array.from(place.querySelectorAll("figure.sc-player")).filter((figure) =>
    figure.dataset.seconds > 0 && figure.querySelector("audio") && figure.querySelector("img"));
  document.querySelectorAll(".sc-pair").forEach((box) => sounds(box).length > 1 && together(box, sounds(box)));
  sounds(document).filter((figure) => !figure.closest(".sc-pair[role]")).forEach(alone);
  document.addEventListener("play", (event) => {
    players.filter((player) => !player.has(event.target)).forEach((player) => player.pause());
  }, true);
});
