// Makes the sounds of one place (.sc-pair) one player with a switch, and shows in pictures where a sound is.
// Sounds of a page on a disk may be played but not read, so nothing is mixed here: all run together, all but one silent,
// and the silent ones keep up by their speed. Without this script each sound has a player of its own.
document.addEventListener("DOMContentLoaded", () => {
  const APART = 0.01, FAR = 0.25; // s: from which a sound catches up, from which it jumps
  // Volume of what is not heard: 16 bit have nothing below. At 0 Chromium gives a sound another clock: a switch has a gap.
  const SILENT = 1e-5;
  const SHORTEST = 0.05, DRAGGED = 0.015; // s of a part that is repeated; share of a picture that is no click
  const EVERY = 20; // ms between two looks at where the sounds are
  const KEYS = "Space: switch at the same position. P: play or pause. 1 to 9: hear that sound. [ and ], or dragging over "
    + "a picture: where the part begins and ends that is repeated. Escape: no part. Levels are not touched.";
  const { make, on, button } = window.soundcheck;
  const slider = (label, max, step, input) =>
    make("input", [], { type: "range", "aria-label": label, max, step, value: 0 }, { input });
  const within = (number, low, high) => Math.min(high, Math.max(low, number));

  // A picture with a line at the position, and the part that is repeated, both drawn by the style sheet.
  const view = (figure) => {
    const length = Number(figure.dataset.seconds), picture = figure.querySelector(".sc-view");
    const place = (name, time) => picture.style.setProperty(name, within(time / length, 0, 1));
    return {
      figure, length, picture, audio: figure.querySelector("audio"),
      time: ({ clientX }) => length * within((clientX - picture.getBoundingClientRect().x) / picture.clientWidth, 0, 1),
      draw(time) { place("--at", time); },
      mark(from, to) { place("--from", from); place("--to", to); },
    };
  };

  const alone = (figure) => {
    const { audio, picture, draw, time } = view(figure);
    const follow = () => {
      draw(audio.currentTime);
      if (!audio.paused) requestAnimationFrame(follow);
    };
    on(audio, { play: follow, seeked: follow });
    on(picture, { click: (event) => draw(audio.currentTime = time(event)) });
  };

  const together = (box) => {
    const sides = sounds(box).map((figure) => {
      const head = figure.querySelector("strong"), name = head.textContent;
      const side = { name, ...view(figure), button: button(name, { class: "sc-name" }, () => choose(side)) };
      head.replaceChildren(side.button);
      side.audio.controls = false;
      return side;
    });
    const steps = box.matches(".sc-sweep"), longest = Math.max(...sides.map((side) => side.length));
    const whole = [0, Infinity]; // played once
    let heard = sides[0], other = sides[1], timer = null, position = 0, part = whole;

    const play = button("", { class: "sc-play" }, () => { toggle(); play.focus({ preventScroll: true }); });
    const turn = button("", { class: "sc-switch" }, () => choose(other));
    const loop = button("↻ Loop", { title: "Repeat; drag over a picture to repeat a part" },
      () => (part === whole ? repeat(0, longest) : repeat(...whole)));
    const place = slider("Position", longest, 0.01, () => go(Number(place.value)));
    const severity = slider("Severity", sides.length - 1, 1, () => choose(sides[Number(severity.value)]));
    const clock = make("span", [], { class: "sc-clock", "aria-hidden": "true" }); // the slider says the same
    const news = make("span", [], { class: "sc-news", "aria-live": "polite" });
    const keys = make("details", [make("summary", "Keys"), make("span", KEYS)]);
    const levels = steps ? [make("label", ["Severity", severity])] : [];
    box.prepend(make("div", [play, turn, ...levels, loop, place, clock, news, keys], { class: "sc-hear" }));

    const show = (said = `Heard: ${heard.name}`) => {
      news.textContent = said;
      play.textContent = timer ? "❚❚ Pause" : "▶ Play";
      turn.textContent = `⇄ ${other.name}`;
      turn.setAttribute("aria-label", `Switch to ${other.name}`);
      loop.setAttribute("aria-pressed", part !== whole);
      sides.forEach((side) => {
        side.button.setAttribute("aria-pressed", side === heard);
        side.figure.classList.toggle("sc-audible", side === heard);
        side.mark(...(part[1] - part[0] < longest ? part : [0, 0]));
        side.audio.volume = side === heard ? 1 : SILENT;
        side.audio.muted = side !== heard && side.audio.volume === 1; // where a page has no say in the volume
      });
      severity.value = sides.indexOf(heard);
      severity.setAttribute("aria-valuetext", heard.name);
      draw();
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
      side.audio.play().catch(({ name }) => {
        if (name !== "AbortError" && side === heard) stop(`${side.name} cannot be played.`);
      });
    };
    const stop = (said) => {
      timer = clearInterval(timer);
      sides.forEach((side) => side.audio.pause());
      show(said);
    };
    const toggle = () => {
      if (timer) return stop();
      timer = setInterval(tick, EVERY);
      go(position);
      show();
    };
    const go = (time) => {
      position = timer && time >= heard.length - APART ? part[0] : time; // what is over begins again
      if (timer) sides.forEach((side) => (side.audio.paused ? start(side) : (side.audio.currentTime = position)));
      draw();
    };
    const choose = (side) => {
      if (side === heard) return;
      other = steps && side !== sides[0] ? sides[0] : heard;
      heard = side;
      heard.audio.playbackRate = 1;
      if (timer && (side.audio.paused || position >= side.length - APART)) go(position);
      show();
    };
    const keepUp = ({ audio, length }) => {
      const apart = position - audio.currentTime;
      if (audio.paused || audio.seeking || position >= length) return;
      if (Math.abs(apart) > FAR) audio.currentTime = position;
      else audio.playbackRate = Math.abs(apart) > APART ? 1 + within(4 * apart, -0.25, 0.25) : 1;
    };
    const tick = () => {
      position = heard.audio.currentTime;
      if (position >= part[1]) return go(part[0]);
      sides.filter((side) => side !== heard).forEach(keepUp);
      draw();
    };
    const repeat = (from, to) => {
      part = to - from >= SHORTEST && to < Infinity ? [from, to] : whole;
      if (position < part[0] || position > part[1]) go(part[0]);
      show(part === whole ? "Not repeated" : `Repeated from ${from.toFixed(2)} to ${to.toFixed(2)} s`);
    };

    sides.forEach((side) => {
      let from = null;
      const ends = (event) => [from, side.time(event)].sort((a, b) => a - b);
      on(side.audio, {
        pause() { if (timer && side === heard && !side.audio.ended) stop(); }, // another player has begun
        ended() {
          if (!timer || side !== heard) return;
          if (part === whole) stop();
          go(part[0]);
        },
      });
      on(side.picture, {
        pointerdown(event) {
          if (event.button) return;
          from = side.time(event);
          side.picture.setPointerCapture(event.pointerId);
        },
        pointermove(event) { if (from !== null) sides.forEach((one) => one.mark(...ends(event))); },
        pointerup(event) {
          if (from === null) return;
          const [first, last] = ends(event);
          from = null;
          if (last - first > DRAGGED * side.length) repeat(first, last);
          else { choose(side); go(first); show(); }
          play.focus({ preventScroll: true });
        },
        pointercancel() { from = null; show(); },
      });
    });
    const pressed = {
      p: toggle,
      "[": () => repeat(position, part[1] > position ? Math.min(part[1], longest) : longest),
      "]": () => repeat(part[0] < position ? part[0] : 0, position),
      escape: () => repeat(...whole),
      " ": () => choose(other),
    };
    // While a sound plays the space bar switches, and so it does on sliders, which it means nothing to.
    const ours = ({ key, target }) => key !== " " || target.type === "range" || [turn, timer && play].includes(target);
    on(box, {
      keydown(event) {
        const side = sides[Number(event.key) - 1];
        const action = side ? () => choose(side) : pressed[event.key.toLowerCase()];
        if (!action || !ours(event) || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        if (!event.repeat) action();
      },
      keyup(event) { if (event.key === " " && ours(event)) event.preventDefault(); }, // else it presses the button, too
    });
    show();
  };

  const sounds = (place) => Array.from(place.querySelectorAll("figure.sc-player[data-seconds]"));
  document.querySelectorAll(".sc-pair").forEach((box) => sounds(box).length > 1 && together(box));
  sounds(document).filter((figure) => figure.querySelector("audio").controls).forEach(alone);
  document.addEventListener("play", ({ target }) => { // one player at a time
    const place = target.controls ? target : target.closest(".sc-pair");
    document.querySelectorAll("audio").forEach((audio) => place.contains(audio) || audio.pause());
  }, true);
});
