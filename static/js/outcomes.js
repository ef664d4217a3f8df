/** What comes of a request or a stream, said in the reader's words. */

export function startOutcomes({ region, say, words }) {
  const reload = { label: words.reload, act: () => location.reload() };

  return {
    /** Shows the list that an answer brings, and what it says. */
    async answered({ html, version, said }, offered) {
      await region.answer(html, version);
      for (const { text, tone } of said) say(text, { tone, offered });
    },
    /** An answer that brings no list; `retry` sends the same again. */
    fail({ meaning, redirect }, retry) {
      if (meaning === "sign-in") return location.assign(redirect);
      const offered = meaning === "failed" ? [{ label: words.retry, act: retry }] : [reload];
      const text = { outdated: words.outdated, gone: words.gone, refused: words.refused }[meaning];
      say(text ?? words.failed, { tone: "error", offered, stays: true });
    },
    /** A stream that is over for good. */
    ended(reason) {
      const signIn = { label: words.signIn, href: location.href };
      const guilds = { label: words.yourGuilds, href: "/guilds/" };
      const isOut = reason === "signed-out";
      const text = isOut ? words.signedOut : reason === "gone" || reason === "absent" ? words.absent : words.notYours;
      say(text, { tone: "error", offered: [isOut ? signIn : guilds], stays: true });
    },
  };
}
