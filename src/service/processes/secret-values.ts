/** Names of variables with secret values. */
const secretName = /token|secret|password|passwd|credential|key|auth/i;
/** Shorter values occur in ordinary text. */
const leastLength = 8;

/** Returns a function that hides the values of secret variables and the credentials in URLs. */
export function createRedaction(variables: Readonly<Record<string, string>>): (text: string) => string {
  const values = Object.entries(variables)
    .filter(([name]) => secretName.test(name))
    // Shells drop line ends at the end of values.
    .map(([, value]) => value.trim())
    .filter((value) => value.length >= leastLength)
    // The longest first, because one may be part of another.
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const hidden = values.reduce((rest, value) => rest.replaceAll(value, "***"), text);
    return hidden.replace(/(\bhttps?:\/\/)[^\s/@]+@/g, "$1***@");
  };
}
