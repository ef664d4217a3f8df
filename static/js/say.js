/** One status line outside everything that is redrawn, with what can be done about it. */

const STAYS_MS = 10_000;

/** `say(text, {tone, offers, stays})`; an offer is `{label, act}` or `{label, href}`. */
export function startSaying({ dismiss }) {
  const toast = document.getElementById("toast");
  const status = document.getElementById("status");
  const offers = document.getElementById("offers");
  let timer;

  function clear() {
    clearTimeout(timer);
    // What a menu covers has not been read.
    if (document.querySelector("main .menu[open]") || toast.matches(":hover") || toast.contains(document.activeElement)) {
      timer = setTimeout(clear, STAYS_MS / 4);
      return;
    }
    status.replaceChildren();
    offers.replaceChildren();
  }

  function button({ label, act, href }) {
    const made = document.createElement(href ? "a" : "button");
    made.textContent = label;
    if (href) made.href = href;
    else made.type = "button";
    made.addEventListener("click", () => {
      made.blur();
      clearTimeout(timer);
      status.replaceChildren();
      offers.replaceChildren();
      act?.();
    });
    return made;
  }

  if (status.childElementCount) timer = setTimeout(clear, STAYS_MS);
  return function say(text, { tone = "success", offered = [], stays = false } = {}) {
    clearTimeout(timer);
    const line = document.createElement("p");
    line.textContent = text;
    line.dataset.tone = tone;
    status.replaceChildren(line);
    const all = stays ? [...offered, { label: dismiss }] : offered;
    offers.replaceChildren(...all.map(button));
    if (!stays) timer = setTimeout(clear, STAYS_MS);
  };
}
