/** Moments in the reader's own zone and language. */

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

/**
 * Words for moments, in a language and a zone (default: the reader's own), in the form that the
 * server gives them: `minutes` and `hours` are its own, with `{n}` for the figure.
 */
export function timeWords({ language, justNow, minutes, hours, timeZone }) {
  const form = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const clock = new Intl.DateTimeFormat(language, { ...form, timeZone });
  const day = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", timeZone });
  const year = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", year: "numeric", timeZone });
  const whole = new Intl.DateTimeFormat(language, {
    ...form, year: "numeric", month: "short", day: "numeric", timeZone, timeZoneName: "short",
  });
  const dated = new Intl.DateTimeFormat("en-CA", { dateStyle: "short", timeZone });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const counted = new Intl.RelativeTimeFormat(language, { numeric: "always" });

  const daysBetween = (at, now) => Math.round((Date.parse(dated.format(now)) - Date.parse(dated.format(at))) / (DAY_S * 1000));

  return {
    clock: (at) => clock.format(at),
    whole: (at) => whole.format(at),
    /** `18:00`, `yesterday, 18:00`, `3 Nov, 18:00`. */
    moment(at, now) {
      const days = daysBetween(at, now);
      if (days === 0) return clock.format(at);
      if (Math.abs(days) === 1) return `${relative.format(-days, "day")}, ${clock.format(at)}`;
      const date = dated.format(at).slice(0, 4) === dated.format(now).slice(0, 4) ? day : year;
      return `${date.format(at)}, ${clock.format(at)}`;
    },
    /** `just now`, `2 min ago`, `3 days ago`. */
    ago(at, now) {
      const seconds = (now - at) / 1000;
      if (seconds < MINUTE_S) return justNow;
      if (seconds < HOUR_S) return minutes.replace("{n}", Math.floor(seconds / MINUTE_S));
      if (seconds < DAY_S) return hours.replace("{n}", Math.floor(seconds / HOUR_S));
      return counted.format(-Math.floor(seconds / DAY_S), "day");
    },
  };
}

/** The kind of the page's language that the page is written in, so that script and server agree. */
export function localeOf(language) {
  return language === "en" ? "en-GB" : language;
}

/** Puts every `<time>` in `root` in the reader's words; `now` is the database's. */
export function localise(root, words, now) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const text = "ago" in element.dataset ? words.ago(at, now) : words.moment(at, now);
    if (element.textContent !== text) element.textContent = text;
    const title = words.whole(at);
    if (element.title !== title) element.title = title;
  }
}
