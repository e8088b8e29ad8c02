/** The emoji that the bot uses, and a few others; the rest are shown by name. */
const known: Readonly<Record<string, string>> = {
  hourglass_flowing_sand: "⏳",
  gear: "⚙️",
  raised_hand: "✋",
  white_check_mark: "✅",
  x: "❌",
  eyes: "👀",
  "+1": "👍",
  thumbsup: "👍",
  "-1": "👎",
  heart: "❤️",
  hooray: "🎉",
  tada: "🎉",
  rocket: "🚀",
  laugh: "😄",
  smile: "😄",
  confused: "😕",
  robot_face: "🤖",
  warning: "⚠️",
  no_entry_sign: "🚫",
};

/** Returns the emoji of a name without colons; undefined: it is unknown. */
export const emojiOf = (name: string): string | undefined => known[name];
