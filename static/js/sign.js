/** The sign that says whether the page is live, and the button that pauses it. */

/** What the sign says in a state. */
export function signText(dataset, state, time) {
  return (dataset[state] ?? "").replace("{time}", time);
}

/** Shows the sign; `asOf()` is when the list was last known to be current, `clock` words it. */
export function startSign({ region, clock, asOf }) {
  const sign = document.getElementById("live");
  const text = document.getElementById("live-text");
  const pause = document.getElementById("pause");
  let stream = "connecting";
  let pausedAt = null;

  function draw() {
    const state = stream === "ended" || pausedAt === null ? stream : "paused";
    const said = signText(sign.dataset, state, clock(new Date(pausedAt ?? asOf())));
    sign.dataset.state = state;
    if (text.textContent !== said) text.textContent = said;
    pause.firstElementChild.textContent = pausedAt === null ? sign.dataset.pause : sign.dataset.resume;
    pause.hidden = stream === "ended";
  }

  pause.addEventListener("click", () => {
    pausedAt = pausedAt === null ? Date.now() : null;
    draw();
    if (pausedAt === null) region.unblock("pause");
    else region.block("pause");
  });
  sign.hidden = false;
  draw();
  return {
    set(state) {
      stream = state;
      draw();
    },
  };
}
