/** Names of variables whose values nobody may read in a chat. */
const secretName = /token|secret|password|passwd|credential|key|auth/i;
/** Shorter values are found in ordinary text. */
const leastLength = 8;

/** Hides what is surely secret in a text that people will read: secret variables' values, and keys in URLs. */
export function createRedaction(variables: Readonly<Record<string, string>>): (text: string) => string {
  const values = Object.entries(variables)
    .filter(([name]) => secretName.test(name))
    // Shells drop line ends from the end of what they are told.
    .map(([, value]) => value.trim())
    .filter((value) => value.length >= leastLength)
    // The longest first: one may be part of another.
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const hidden = values.reduce((rest, value) => rest.replaceAll(value, "***"), text);
    return hidden.replace(/(\bhttps?:\/\/)[^\s/@]+@/g, "$1***@");
  };
}
