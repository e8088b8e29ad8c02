/** The emoji that the bot uses, and a few that people like; the others stay names. */
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

/** Without the colons; undefined: none that is known here. */
export const emojiOf = (name: string): string | undefined => known[name];
