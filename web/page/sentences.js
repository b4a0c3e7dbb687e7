// Numbers in plain words.

const SPACE = "\u00a0"; // between a number and its unit

export function share(p) {
  const percent = 100 * p;
  if (percent === 0) return `0${SPACE}%`;
  if (percent >= 99.95) return `nearly 100${SPACE}%`;
  if (percent >= 9.95) return `${Math.round(percent)}${SPACE}%`;
  if (percent >= 0.095) return `${Number(percent.toPrecision(2))}${SPACE}%`;
  if (percent >= 0.001) return `${Number(percent.toPrecision(1))}${SPACE}%`;
  return `under 0.001${SPACE}%`;
}

export const count = (n) => Math.round(n).toLocaleString("en");
export const amount = (x) => x.toLocaleString("en", { maximumFractionDigits: 2 });
export const quoted = (word) => `“${word}”`;
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${Math.round(n) === 1 ? one : many}`;

export function ordinal(n) {
  const teen = n % 100 >= 11 && n % 100 <= 13;
  const ending = teen ? "th" : { 1: "st", 2: "nd", 3: "rd" }[n % 10] || "th";
  return `${count(n)}${ending}`;
}
